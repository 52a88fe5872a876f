"""B-CVTS without the draws that cannot matter.

At every step, the plain loop draws an index for every arm, from about level times as many exponentials as the arm has
rewards. The shortcut saves most of these draws in two ways:

* the index of an arm is drawn only as far as the comparison requires, mostly from a few variables (``ordering.py``);
* at most steps, an arm far below the best one is not drawn at all.

For example, if an arm's index reaches a threshold below the best arm with probability at most 0.01, the arm is examined
once in a hundred steps on average. Why the second has the distribution of the plain loop:

1. Let q be a threshold of the arm. At every step, a coin shows heads with probability U, a ceiling of P(index >= q). If
   it does, a draw from the tilted distribution is kept with probability P(index >= q)/U, and then has the distribution
   of the index given that it reaches q (``challenger.py``). So the index reaches q with its own probability, and if it
   does, it is known.
2. If it does not reach q and another index is at least q, the arm is not pulled. Otherwise, the arm's index is drawn
   repeatedly until it is below q.
3. Until the arm is pulled, U stays the same, and the coins are independent of each other and of everything else. So
   drawing the number of the first head tosses these coins in advance.
4. A threshold is set and dropped based on the rewards so far, and never on the coins ahead. If it is dropped, these are
   tossed again, which has the same distribution because nothing has depended on them.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, jit_inline, shared
from dirichlet_bandits.engine.clocks import geometric
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.repeated_pulls import pull_into_place, with_places
from dirichlet_bandits.engine.run import Run, ended
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.arrays import argmax_of, mean_of, sum_of
from dirichlet_bandits.numerics.resampling import squares_about
from dirichlet_bandits.policies.cvar.challenger import CHALLENGER, index_above, set_clock
from dirichlet_bandits.policies.cvar.ordering import IndexDrafts, draft_index, finish_index, new_samples, place_rewards
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.policies.index import larger

_BELOW = 1.5  # a threshold is so many standard deviations below the best arm,
_ABOVE = 0.7  # so many above the arm itself, and is given up when the best arm has come so near to it
_PAUSE, _SHARE = 24, 64  # steps between two surveys: so many, or this share of all pulls


@jit
def estimate(policy: BCVTSParams, state: History, samples: IndexDrafts, arm: int) -> tuple[float, float]:
    """Return the CVaR of the arm's rewards, and the approximate variance of the index."""
    place_rewards(policy, state, samples, arm)
    x, part, level = rewards(state, arm), samples.parts[arm], policy.level
    rank = min(max(int(level * x.size), part.low), part.end - 1)
    share = level * x.size
    mean = rank * (x[rank] - mean_of(x[:rank])) / share if rank > 0 else 0.0
    spread = squares_about(x[:rank], x[rank]) / (level * share)
    least = (policy.upper - state.lows[arm]) / x.size  # the index of equal rewards varies too, with the bound's weight
    return x[rank] - mean, max(spread - mean * mean, least * least) / x.size


@shared
def survey(
    policy: BCVTSParams, state: History, samples: IndexDrafts, challengers: Any, rng: np.random.Generator
) -> None:
    """Set thresholds for arms far below the best one, and drop those that the best arm has come near."""
    state, samples, challengers, rng = borrowed(state), borrowed(samples), borrowed(challengers), borrowed(rng)
    values, variances = np.empty(challengers.size), np.empty(challengers.size)
    for arm in range(challengers.size):
        values[arm], variances[arm] = estimate(policy, state, samples, arm)
    best = argmax_of(values)
    deviation = math.sqrt(variances[best])
    for arm in range(challengers.size):
        challenger = challengers[arm]
        if arm == best or challenger.threshold > values[best] - _ABOVE * deviation:  # step 4
            challenger.steps = -1
        threshold = values[best] - _BELOW * deviation
        if challenger.steps < 0 and arm != best and threshold - values[arm] > _ABOVE * math.sqrt(variances[arm]):
            set_clock(policy, state, samples, challengers, arm, threshold, rng)


@jit_inline
def tick(
    policy: BCVTSParams, state: History, samples: IndexDrafts, challengers: Any, arm: int, rng: np.random.Generator
) -> None:
    """Advance the arm's clock by one step; if it rings, draw the index given that it reaches the threshold."""
    challenger, draft = challengers[arm], samples.drafts[arm]
    if challenger.pulls != state.pulls[arm]:
        set_clock(policy, state, samples, challengers, arm, challenger.threshold, rng)
    elif challenger.steps == 0:
        challenger.steps = geometric(challenger.ceiling, rng)  # step 3
    if challenger.steps < 0:
        return
    challenger.steps -= 1
    draft.lower = draft.upper = -math.inf  # below the threshold
    if challenger.steps == 0:
        v = index_above(policy, state, samples, challengers, arm, rng)  # step 1
        if not math.isnan(v):
            draft.lower = draft.upper = v


@shared
def draft_below(
    policy: BCVTSParams, state: History, samples: IndexDrafts, arm: int, limit: float, rng: np.random.Generator
) -> None:
    """Draw bounds for the arm's index given that it is below the limit."""
    draft = samples.drafts[arm]
    while True:
        draft_index(policy, state, samples, arm, rng)
        if draft.lower < limit <= draft.upper:
            finish_index(policy, state, samples, arm, rng)
        if draft.upper < limit:
            return


@jit_inline
def contest(
    policy: BCVTSParams, state: History, samples: IndexDrafts, challengers: Any, rng: np.random.Generator
) -> int:
    """Return the arm with the largest index, with ties at random."""
    drafts, floor = samples.drafts, -math.inf  # the largest index is at least the floor
    for arm in range(challengers.size):
        if challengers[arm].steps >= 0:
            tick(policy, state, samples, challengers, arm, rng)
        if challengers[arm].steps < 0:
            draft_index(policy, state, samples, arm, rng)
        floor = max(floor, drafts[arm].lower)
    for arm in range(challengers.size):
        if drafts[arm].upper == -math.inf and challengers[arm].threshold > floor:  # step 2
            draft_below(policy, state, samples, arm, challengers[arm].threshold, rng)
            floor = max(floor, drafts[arm].lower)
    contenders = 0
    for arm in range(challengers.size):
        contenders += drafts[arm].upper >= floor
    best, largest, ties = 0, -math.inf, 0
    for arm in range(challengers.size):
        if drafts[arm].upper >= floor:
            contenders -= 1
            v = drafts[arm].lower
            if contenders > 0 or v <= largest:  # else it is the largest, whatever the rest of its draw
                v = finish_index(policy, state, samples, arm, rng)
            floor = max(floor, v)
            best, largest, ties = larger(best, largest, ties, arm, v, rng)
    return best


@shared
def contests(
    policy: BCVTSParams,
    state: History,
    run: Run,
    samples: IndexDrafts,
    challengers: Any,
    limit: int,
    rng: np.random.Generator,
) -> None:
    """Play up to ``limit`` steps, while the horizon is not reached and there is room for rewards."""
    state, run, samples, rng = borrowed(state), borrowed(run), borrowed(samples), borrowed(rng)
    challengers = borrowed(challengers)
    for _ in range(limit):
        if not pull_into_place(state, run, contest(policy, state, samples, challengers, rng)):
            break


@shortcut(BCVTSParams)
def play_bcvts(policy: BCVTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play until the run is over."""
    n_arms = state.pulls.size
    samples, challengers = new_samples(n_arms), np.zeros(n_arms, CHALLENGER)
    for arm in range(n_arms):
        challengers[arm].steps = -1
    while not ended(run.progress):
        state = with_places(state, -1)
        survey(policy, state, samples, challengers, rng)
        limit = max(_PAUSE, int(sum_of(state.pulls)) // _SHARE)
        contests(policy, state, run, samples, challengers, limit, rng)
