"""Crossing probabilities inside a simulation, and draws on the condition that a crossing happens."""

import math

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies.tally import Floats

_FEW = 12  # with fewer values a contour of their own is not worth keeping


@jit
def log_crossing_anew(contours: Contours, arm: int, values: Floats, weights: Floats, b: float, m: float) -> float:
    """log P(reweighted mean of the values and b reaches m); the arm's contour is built for it, if that works."""
    if values.size >= _FEW:
        contour.build(contours, arm, values, weights, b, m)
        log_p, error = contour.evaluate(contours, arm, m, b)
        if error <= CLOCK_ERROR:
            return log_p
    offsets = np.append(values, b) - m
    return log_crossing(offsets, np.append(weights, 1.0) if weights.size > 0 else weights)


@jit
def try_above(x: Floats, b: float, q: float, lam: float, rng: np.random.Generator) -> float:
    """One attempt at a draw of the index on the condition that it reaches q; NaN if it fails.

    Tilted rejection: weights G_i ~ Exp(rate 1 - lam a_i), a_i = x_i - q, and if S = sum a_i G_i >= 0 a coin of
    probability exp(-lam S). The attempt succeeds with probability P(index >= q) prod_i (1 - lam a_i), exactly.
    A negative ``lam`` with q reached from above draws on the condition that the index stays below q.
    """
    side = 1.0 if lam > 0.0 else -1.0
    weight = rng.standard_exponential() / (1.0 - lam * (b - q))
    weights, total = weight, weight * (b - q)
    for value in x:
        weight = rng.standard_exponential() / (1.0 - lam * (value - q))
        weights += weight
        total += weight * (value - q)
    if side * total < 0.0 or rng.random() >= math.exp(-lam * total):
        return math.nan
    return q + total / weights
