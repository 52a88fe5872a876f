"""Thompson Sampling with cheap posterior draws: the same law from one normal and one exponential variable an arm.

The variables are drawn by the block. Where :mod:`~dirichlet_bandits.numerics.draws` refuses them, the policy's own
index, which is a posterior draw too, takes their place.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.numerics.divergences import BERNOULLI, EXPONENTIAL, GAUSSIAN
from dirichlet_bandits.numerics.draws import beta_or_nan, gamma_or_nan
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.tally import Floats, Tally
from dirichlet_bandits.policies.thompson import BinarizedTSParams, ThompsonParams, coin_posterior, posterior
from dirichlet_bandits.policies.verbs import implements, play, verb
from dirichlet_bandits.simulation.run import Run, drained, draw, ended, record, refill

_BLOCK = 64  # rounds for which normal and exponential variables are drawn in one go


@verb
def posterior_or_nan(policy: Any, n: int, mean: float, total: float, x: float, e: float) -> Any:
    """A posterior draw after n rewards of this mean and total, from a normal x and an exponential e, or NaN."""


@implements(posterior_or_nan, ThompsonParams)
def family_posterior(policy: ThompsonParams, n: int, mean: float, total: float, x: float, e: float) -> float:
    """Beta, normal, inverse gamma or gamma."""
    first, second = posterior(policy, n, mean)
    if policy.family == GAUSSIAN:
        return first + second * x
    if policy.family == BERNOULLI:
        return beta_or_nan(first, second, x, e)
    if policy.family == EXPONENTIAL:
        return first / gamma_or_nan(second, x, e)
    return gamma_or_nan(first, x, e) / second


@implements(posterior_or_nan, BinarizedTSParams)
def coins_posterior(policy: BinarizedTSParams, n: int, mean: float, total: float, x: float, e: float) -> float:
    """Beta."""
    heads, tails = coin_posterior(n, total)
    return beta_or_nan(heads, tails, x, e)


@jit
def fill_noise(normal: Floats, exponential: Floats, rng: np.random.Generator) -> None:
    """Fresh variables for a block of rounds."""
    for i in range(normal.size):
        normal[i] = rng.standard_normal()
    for i in range(exponential.size):
        exponential[i] = rng.standard_exponential()


@implements(play, ThompsonParams, BinarizedTSParams)
def play_thompson(policy: Any, state: Tally, run: Run, rng: np.random.Generator) -> None:
    """Pull the arm with the largest posterior draw until the run is over."""
    buffer, stock, times, marks, sums, counts = run.buffer, run.stock, run.times, run.marks, run.sums, run.pulls
    pulls, means, totals = state.pulls, state.means, state.sums
    n_arms = pulls.size
    normal, exponential = np.empty(_BLOCK * n_arms), np.empty(_BLOCK * n_arms)
    used = normal.size
    while not ended(marks):
        if used == normal.size:
            fill_noise(normal, exponential, rng)
            used = 0
        best, largest, ties = 0, -math.inf, 0
        for arm in range(n_arms):
            value = posterior_or_nan(
                policy, pulls[arm], means[arm], totals[arm], normal[used + arm], exponential[used + arm]
            )
            if math.isnan(value):
                value = verbs.index(policy, state, arm, 0, 0.0, rng)
            if value > largest:
                best, largest, ties = arm, value, 1
            elif value == largest:
                ties += 1
                if rng.random() * ties < 1.0:  # each of the tied arms ends up chosen equally often
                    best = arm
        used += n_arms
        if drained(stock, best):
            refill(run, best)
        reward, due = draw(buffer, stock, times, marks, sums, counts, best)
        if due:
            record(run)
        verbs.update(policy, state, best, reward, rng)
