"""Propensities of NPTS: a reweighted mean has a crossing probability, and an integral gives the largest index.

Large samples are compressed to a few weighted points. In a growing study, the points are updated with the rewards: a
compressed sample has the first moments of the rewards that it replaces, so two compressed samples may be joined and
compressed again, and the moments are still those of all their rewards. Blocks of rewards are joined in pairs, pairs of
pairs and so on, like the digits of a binary counter. Therefore, a sample depends only on the rewards, not on when it
was used.

If every reward is the bound or one other value, such as 1 and 0, there is a shorter way: the weight of the bound is a
Beta variable, and the arm with the largest one is pulled.
"""

from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import Direct, entry_point
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.numerics.log_concave import LOGIT_BETA, log_concave_argmax
from dirichlet_bandits.numerics.tolerances import COMPRESSED_NODES
from dirichlet_bandits.policies.index import normalised, random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.npts.rule import NPTS
from dirichlet_bandits.policies.resampled_index import resampled_index
from dirichlet_bandits.types import Floats, Ints

_BLOCK: Final = 2 * COMPRESSED_NODES  # as many rewards are their own sample


def resampling_propensities(policy: NPTS, state: History) -> Floats:
    """Return the propensities: an index exceeds v with the crossing probability of the rewards and the bound at v."""
    chances = np.empty(state.pulls.size)
    if of_two_values(state, policy.upper, new_counts(state.pulls.size), chances):
        return normalised(chances)
    every, upper = moved_rewards(state, policy.upper)
    return random_index_propensities([resampled_index(*compress(x, np.empty(0)), upper) for x in every])


class Counts(NamedTuple):
    """How many rewards of each arm were counted, how many of them are the bound, and the other value; NaN: none yet."""

    counted: Ints
    at_bound: Floats
    other: Floats


def new_counts(n_arms: int) -> Counts:
    """Return counts of no rewards."""
    return Counts(np.zeros(n_arms, np.int64), np.zeros(n_arms), np.full(1, np.nan))


@entry_point
def of_two_values(state: History, upper: float, counts: Counts, chances: Floats) -> bool:
    """Write the propensities if all rewards are the bound or one other value, and return whether they are.

    Rewards since the last call are counted. With s rewards at the bound and f others, the bound has the weight
    Beta(s + 1, f); without others, the index is the bound itself.
    """
    n = state.pulls.size
    for arm in range(n):
        x = rewards(state, arm)
        for i in range(counts.counted[arm], x.size):
            if x[i] == upper:
                counts.at_bound[arm] += 1.0
            elif np.isnan(counts.other[0]):
                counts.other[0] = x[i]
            elif x[i] != counts.other[0]:
                return False  # and again at every later call, because it is not counted
            counts.counted[arm] = i + 1
    others = state.pulls - counts.at_bound
    perfect = others == 0.0
    if perfect.any():
        chances[:] = perfect / perfect.sum()
    else:
        chances[:] = log_concave_argmax(LOGIT_BETA, counts.at_bound + 1.0, others)
    return True


def moved_rewards(state: History, upper: float) -> tuple[list[Floats], float]:
    """Return the rewards of all arms and the bound, minus the very first reward, to keep digits far from 0."""
    every = [rewards.py_func(state, arm) for arm in range(state.pulls.size)]  # type: ignore[attr-defined]
    origin = every[0][0]
    return [x - origin for x in every], float(upper - origin)


class Block(NamedTuple):
    """Points and weights that replace a number of consecutive rewards."""

    size: int
    points: Floats
    weights: Floats


class IncrementalSamples:
    """Propensities in a growing study, from samples that are updated with the rewards."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        (self._upper,) = policy.params
        self._counts = new_counts(n_arms)
        self._chances = np.empty(n_arms)
        self._of_two_values = Direct(lambda: of_two_values)
        self._blocks: list[list[Block]] = [[] for _ in range(n_arms)]

    def propensities(self, state: History) -> Floats:
        """Return the propensities from the samples, or from counts while there are two values."""
        if self._of_two_values(state, self._upper, self._counts, self._chances):
            return normalised(self._chances)
        every, upper = moved_rewards(state, self._upper)
        samples = [follow(blocks, x) for blocks, x in zip(self._blocks, every, strict=True)]
        return random_index_propensities([resampled_index(points, weights, upper) for _, points, weights in samples])

    def without_compiling(self, state: History) -> Floats | None:
        """Return the propensities while there are two values, or None if this would compile something."""
        if not self._of_two_values.is_compiled:
            return None
        known = self._of_two_values(state, self._upper, self._counts, self._chances)
        return normalised(self._chances) if known else None


def follow(blocks: list[Block], x: Floats) -> Block:
    """Update an arm's blocks, large ones first, with its rewards x; return all blocks as one.

    >>> blocks, x = [], np.arange(200.0)
    >>> sample = follow(blocks, x)
    >>> [block.size for block in blocks], round(float(sample.weights @ sample.points) / 200, 9)
    ([128, 64], 99.5)

    Reference: the head of this file.
    """
    held = sum(block.size for block in blocks)
    while x.size - held >= _BLOCK:
        block = Block(_BLOCK, x[held : held + _BLOCK].copy(), np.ones(_BLOCK))
        held += _BLOCK
        while blocks and blocks[-1].size == block.size:
            block = joined([blocks.pop(), block])
        blocks.append(block)
    rest = Block(x.size - held, x[held:], np.ones(x.size - held))
    return joined([*blocks, rest])


def joined(blocks: list[Block]) -> Block:
    """Return one sample for the rewards of several blocks."""
    points = np.concatenate([block.points for block in blocks])
    weights = np.concatenate([block.weights for block in blocks])
    return Block(sum(block.size for block in blocks), *compress(points, weights))
