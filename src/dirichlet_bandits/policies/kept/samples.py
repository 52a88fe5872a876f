"""Condensed samples that follow the rewards, for NPTS: a few weighted points an arm in place of all its rewards.

A condensed sample has the first moments of what it stands for, so two of them side by side may be condensed again, and
the moments are still those of all their rewards. Blocks of rewards are joined in pairs, pairs of pairs and so on, like
the digits of a binary counter. Thus a sample depends on the rewards alone, not on when somebody looked at it.
"""

from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.numerics.checks import Floats
from dirichlet_bandits.numerics.tolerances import CONDENSED_NODES
from dirichlet_bandits.policies.base import Policy
from dirichlet_bandits.policies.history import History
from dirichlet_bandits.policies.random_index import condensed, moved_rewards, resampled_index, shares

_BLOCK: Final = 2 * CONDENSED_NODES  # as many rewards are their own sample


class Block(NamedTuple):
    """Points and weights that stand for so many rewards in a row."""

    size: int
    points: Floats
    weights: Floats


class KeptSamples:
    """Propensities of NPTS."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        (self._upper,) = policy.params
        self._blocks: list[list[Block]] = [[] for _ in range(n_arms)]

    def propensities(self, state: History) -> Floats:
        """As the plain ones, from the samples."""
        every, upper = moved_rewards(state, self._upper)
        samples = [follow(blocks, x) for blocks, x in zip(self._blocks, every, strict=True)]
        return shares([resampled_index(points, weights, upper) for _, points, weights in samples])


def follow(blocks: list[Block], x: Floats) -> Block:
    """Bring an arm's blocks, large ones first, up to its rewards x; all of them as one.

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
    """One sample for the rewards of several blocks."""
    points = np.concatenate([block.points for block in blocks])
    weights = np.concatenate([block.weights for block in blocks])
    return Block(sum(block.size for block in blocks), *condensed(points, weights))
