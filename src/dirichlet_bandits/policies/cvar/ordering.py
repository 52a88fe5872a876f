"""An arm's rewards, ordered as far as draws of its index require, and these draws.

The index is the mean of the n + 1 smallest values with random weights, where n is binomial (``rule.py``). So an arm's
rewards lie in three parts:

* the low rewards, which nearly every draw includes, in any order;
* those among which the n + 1 smallest nearly always end, in ascending order;
* the rest, in any order.

A new reward takes a few moves. The low rewards enter a draw together: their reweighted mean and their weight are drawn
from their distributions (``numerics/resampling.py``). For the others, a draw first finds the total weight. The index
then lies between its values with each of them replaced by the smallest, and by the largest. Only if these two bounds do
not determine which arm has the largest index does each value get its own weight: given the total, the shares are those
of as many exponentials.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics.arrays import mean_of, partition, sort
from dirichlet_bandits.numerics.draws import binomial, binomial_from, log_chance, next_peak
from dirichlet_bandits.numerics.resampling import Groups, forget_group, is_due, make_groups, weighted_sum
from dirichlet_bandits.policies.cvar.rule import BCVTSParams, mean_excess
from dirichlet_bandits.types import Floats

DEVIATIONS = 3.5  # of n above its mean that the ordered part covers,
_DEVIATIONS_BELOW = 3.0  # and below
_FEW = 8  # values that get their weights at once
_LOW_LEAST = 20  # low rewards: with fewer, bounds for the index are too wide
_NARROW = 64.0  # largest variance of n with which it is drawn from the mode outward
_GROWTH = 1.3  # the parts are cut again when the number of rewards has grown by this factor

PARTS = np.dtype(
    [
        ("low", np.int64),  # so many rewards are low
        ("end", np.int64),  # the ordered part ends before this place
        ("placed", np.int64),  # so many rewards have their place
        ("renewal", np.int64),  # the parts are cut again at this number of rewards
        ("mode", np.int64),  # the likeliest n,
        ("peak", np.float64),  # and its probability; 0 if n is not drawn from there
    ]
)
DRAFT = np.dtype(
    [
        ("lower", np.float64),  # the index is at least this
        ("upper", np.float64),  # and at most this; both are equal if it is known
        ("n", np.int64),
        ("low", np.int64),  # so many values were drawn together,
        ("weights", np.float64),  # with this weight
        ("excess", np.float64),  # and this weighted sum of their excesses over the arm's smallest reward
        ("others", np.float64),  # the weight of the other values
    ]
)


class IndexDrafts(NamedTuple):
    """For each arm: the distribution of its low rewards, the parts of its rewards, and its partly drawn index."""

    groups: Groups
    parts: Any
    drafts: Any


@jit
def new_samples(n_arms: int) -> IndexDrafts:
    """Return samples without rewards."""
    return IndexDrafts(make_groups(n_arms, np.empty(0)), np.zeros(n_arms, PARTS), np.zeros(n_arms, DRAFT))


@jit
def cuts(level: float, size: int) -> tuple[int, int]:
    """Return how many of the rewards should be low, and where the ordered part should end."""
    center, deviation = level * size, math.sqrt(level * (1.0 - level) * size)
    low = min(int(center - _DEVIATIONS_BELOW * deviation), size - 1)
    return low if low >= _LOW_LEAST else 0, min(int(center + DEVIATIONS * deviation) + 2, size)


@jit
def set_parts(part: Any, low: int, end: int, size: int, level: float) -> None:
    """Store where the parts lie, and the likeliest n."""
    part.low, part.end, part.placed, part.renewal = low, end, size, int(_GROWTH * size) + 8
    part.mode, narrow = min(int(level * (size + 1)), size), 0.0 < level * (1.0 - level) * size < _NARROW
    part.peak = math.exp(log_chance(size, level, part.mode)) if narrow else 0.0


@shared
def cut(policy: BCVTSParams, x: Floats, samples: IndexDrafts, arm: int) -> None:
    """Split all rewards of the arm into parts."""
    low, end = cuts(policy.level, x.size)
    partition(x, end)
    partition(x[:end], low)
    sort(x[low:end])
    set_parts(samples.parts[arm], low, end, x.size, policy.level)
    forget_group(samples.groups, arm)


@jit
def place_reward(x: Floats, part: Any, i: int) -> None:
    """Move the i-th reward to its part; all rewards before it are in their places."""
    value, low, end = x[i], part.low, part.end
    if end < i and value > x[end - 1]:
        return
    x[i] = x[end]  # the first of the rest makes room
    stop = low
    if low == 0 or value >= x[low]:
        stop = end
        while stop > low and x[stop - 1] > value:
            stop -= 1
    else:
        part.low += 1
    for j in range(end, stop, -1):
        x[j] = x[j - 1]
    x[stop] = value
    part.end += 1


@jit
def place_rewards(policy: BCVTSParams, state: History, samples: IndexDrafts, arm: int) -> None:
    """Move new rewards of the arm to their parts."""
    x, part = rewards(state, arm), samples.parts[arm]
    for i in range(part.placed if part.end > 0 else x.size, x.size):
        place_reward(x, part, i)
        part.mode, part.peak = next_peak(part.mode, part.peak, i + 1, policy.level)
    part.placed = x.size
    if x.size >= part.renewal:
        low, end = cuts(policy.level, x.size)
        if part.low <= low and end <= part.end:  # usually, as all parts have grown in proportion
            set_parts(part, low, end, x.size, policy.level)
        else:
            cut(policy, x, samples, arm)


@jit
def gathered(x: Floats, part: Any, n: int) -> Floats:
    """Return rewards of which the n smallest come first; a copy if n is below the low ones, which keep their places."""
    if n < part.low:
        x = x[: part.low].copy()
        partition(x, n)
    elif n > part.end:
        partition(x[part.end :], n - part.end)
    return x


@jit_inline
def draft_index(policy: BCVTSParams, state: History, samples: IndexDrafts, arm: int, rng: np.random.Generator) -> None:
    """Draw bounds for the arm's index."""
    part, draft, groups = samples.parts[arm], samples.drafts[arm], samples.groups
    x, least = rewards(state, arm), state.lows[arm]
    if part.placed != x.size:
        place_rewards(policy, state, samples, arm)
    if part.peak > 0.0:
        n = binomial_from(part.mode, part.peak, x.size, policy.level, rng)
    else:
        n = binomial(x.size, policy.level, rng)
    draft.n, draft.low, draft.weights, draft.excess = n, 0, 0.0, 0.0
    known = part.low <= n < part.end  # then x[n] is the largest value that counts
    if known and x[n] == least:
        draft.lower = draft.upper = least
        return
    x, low = gathered(x, part, n + 1), part.low
    if 0 < low <= n + 1:
        mean = mean_of(x[:low]) if is_due(groups, arm, low) else 0.0
        draft.low = low
        draft.excess, draft.weights = weighted_sum(groups, arm, x[:low], mean, least, rng)
        if known and n - low > _FEW:
            draft.others = rng.standard_gamma(n + 1.0 - low)
            weights = draft.weights + draft.others
            draft.lower = least + (draft.excess + draft.others * (x[low] - least)) / weights
            draft.upper = least + (draft.excess + draft.others * (x[n] - least)) / weights
            return
    draft.lower = draft.upper = least + mean_excess(
        x, draft.low, n, policy.upper, least, draft.weights, draft.excess, rng
    )


@jit
def finish_index(
    policy: BCVTSParams, state: History, samples: IndexDrafts, arm: int, rng: np.random.Generator
) -> float:
    """Return the arm's index, completing its draw if necessary."""
    draft, least = samples.drafts[arm], state.lows[arm]
    if draft.lower < draft.upper:
        mean = mean_excess(rewards(state, arm), draft.low, draft.n, policy.upper, least, 0.0, 0.0, rng)
        excess = draft.excess + draft.others * mean
        draft.lower = draft.upper = least + excess / (draft.weights + draft.others)
    return draft.lower
