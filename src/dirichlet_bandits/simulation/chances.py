"""Crossing probabilities inside a simulation."""

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
