"""Thompson Sampling with cheap posterior draws: the same law from one normal and one exponential variable an arm.

The variables are drawn by the block. Where :mod:`~dirichlet_bandits.numerics.draws` refuses them twice, the policy's
own index, which is a posterior draw too, takes their place.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.arms.assumptions import Assumption
from dirichlet_bandits.compilation import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.run import Run, drained, draw, ended, record, refill
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, shortcut, verb
from dirichlet_bandits.numerics.costs import ROUNDS_AT_ONCE
from dirichlet_bandits.numerics.divergences import Family
from dirichlet_bandits.numerics.draws import beta_frame, beta_or_nan, gamma_frame, gamma_or_nan
from dirichlet_bandits.policies.index import larger
from dirichlet_bandits.policies.thompson.rule import BinarizedTSParams, ThompsonParams, coin_posterior, posterior
from dirichlet_bandits.types import Floats


@verb
def frame(policy: Any, state: Tally, arm: int) -> Any:
    """What the arm's posterior draws have in common: two numbers of its law, and a unit."""


@verb
def posterior_or_nan(policy: Any, first: float, second: float, unit: float, x: float, e: float) -> Any:
    """A posterior draw in this frame from a normal x and an exponential e, or NaN."""


@implements(frame, ThompsonParams)
def family_frame(policy: ThompsonParams, state: Tally, arm: int) -> tuple[float, float, float]:
    """Of the beta, normal or gamma law; the unit is the exponential family's S, the Poisson family's 1/n."""
    first, second = posterior(policy, state.pulls[arm], state.means[arm])
    if policy.family == Family.GAUSSIAN:
        return first, second, 1.0
    if policy.family == Family.BERNOULLI:
        m, s = beta_frame(first, second)
        return m, s, 1.0
    d, c = gamma_frame(second if policy.family == Family.EXPONENTIAL else first)
    return d, c, first if policy.family == Family.EXPONENTIAL else 1.0 / second


@implements(posterior_or_nan, ThompsonParams)
def family_posterior(policy: ThompsonParams, first: float, second: float, unit: float, x: float, e: float) -> float:
    """Beta, normal, inverse gamma or gamma."""
    if policy.family == Family.GAUSSIAN:
        return first + second * x
    if policy.family == Family.BERNOULLI:
        return beta_or_nan(first, second, x, e)
    if policy.family == Family.EXPONENTIAL:
        return unit / gamma_or_nan(first, second, x, e)
    return unit * gamma_or_nan(first, second, x, e)


@implements(frame, BinarizedTSParams)
def coins_frame(policy: BinarizedTSParams, state: Tally, arm: int) -> tuple[float, float, float]:
    """Of the beta law."""
    heads, tails = coin_posterior(state.pulls[arm], state.sums[arm])
    m, s = beta_frame(heads, tails)
    return m, s, 1.0


@implements(posterior_or_nan, BinarizedTSParams)
def coins_posterior(policy: BinarizedTSParams, first: float, second: float, unit: float, x: float, e: float) -> float:
    """Beta."""
    return beta_or_nan(first, second, x, e)


@jit
def fill_noise(normal: Floats, exponential: Floats, rng: np.random.Generator) -> None:
    """Fresh variables for a block of rounds."""
    for i in range(normal.size):
        normal[i] = rng.standard_normal()
    for i in range(exponential.size):
        exponential[i] = rng.standard_exponential()


@shortcut(ThompsonParams, BinarizedTSParams, assumes=Assumption.REWARDS)
def play_thompson(policy: Any, state: Tally, run: Run, rng: np.random.Generator) -> None:
    """Pull the arm with the largest posterior draw until the run is over."""
    buffer, stock, times, marks, sums, counts = run.buffer, run.stock, run.times, run.marks, run.sums, run.pulls
    n_arms = counts.size
    first, second, unit, values = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    for arm in range(n_arms):
        first[arm], second[arm], unit[arm] = frame(policy, state, arm)
    normal, exponential = np.empty(ROUNDS_AT_ONCE * n_arms), np.empty(ROUNDS_AT_ONCE * n_arms)
    used = normal.size
    while not ended(marks):
        if used + 2 * n_arms > normal.size:
            fill_noise(normal, exponential, rng)
            used = 0
        for arm in range(n_arms):
            x, e = normal[used + arm], exponential[used + arm]
            values[arm] = posterior_or_nan(policy, first[arm], second[arm], unit[arm], x, e)
        used += n_arms
        best, largest, ties = 0, -math.inf, 0
        for arm in range(n_arms):
            value = values[arm]
            if math.isnan(value):
                value = posterior_or_nan(policy, first[arm], second[arm], unit[arm], normal[used], exponential[used])
                used += 1
                if math.isnan(value):
                    value = verbs.index(policy, state, arm, 0, 0.0, rng)
            best, largest, ties = larger(best, largest, ties, arm, value, rng)
        if drained(stock, best):
            refill(run, best)
        reward, due = draw(buffer, stock, times, marks, sums, counts, best)
        if due:
            record(run)
        verbs.update(policy, state, best, reward, rng)
        first[best], second[best], unit[best] = frame(policy, state, best)
