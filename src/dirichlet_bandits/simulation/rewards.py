"""Rewards for one replication: each arm's own stream, drawn a block at a time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.arms.bandit import Bandit, RewardLaw
from dirichlet_bandits.arms.sampler import FOREIGN, ArmTable, Floats, Ints, fill
from dirichlet_bandits.errors import RewardError
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.seeding import Words, generator, seat

_BLOCK = 256  # rewards drawn at most in one go for one arm
_FIRST_BLOCK = 8
_FIRST_FOREIGN = 1024


class Stock(NamedTuple):
    """Rewards of foreign laws, drawn in advance by Python: those of arm k lie in ``values[first[k] : last[k]]``."""

    values: Floats
    first: Ints
    last: Ints


class Source(NamedTuple):
    """Draws the j-th reward of each arm, the same whichever policy asks and whenever it does."""

    table: ArmTable
    stock: Stock
    rng: np.random.Generator
    words: Words
    streams: Words
    buffer: Floats
    head: Ints
    filled: Ints
    drawn: Ints


@jit
def open_source(table: ArmTable, stock: Stock, rng: np.random.Generator, words: Words, seeds: Words) -> Source:
    """Every arm at the head of its stream."""
    n_arms = table.kinds.size
    streams = np.empty((n_arms, 4), np.uint64)
    for arm in range(n_arms):
        seat(rng, words, seeds[arm])
        streams[arm] = words
    zeros = np.zeros(n_arms, np.int64)
    buffer = np.empty((n_arms, _BLOCK))
    return Source(table, stock, rng, words, streams, buffer, zeros, zeros.copy(), zeros.copy())


@jit
def next_reward(source: Source, arm: int) -> float:
    """The arm's next reward; NaN when the stock of a foreign law is exhausted."""
    if source.head[arm] == source.filled[arm]:
        _refill(source, arm)
    i = source.head[arm]
    source.head[arm] = i + 1
    return source.buffer[arm, i]


@jit
def _refill(source: Source, arm: int) -> None:
    done = source.drawn[arm]
    n = min(max(done, _FIRST_BLOCK), _BLOCK)
    block = source.buffer[arm, :n]
    table, stock = source.table, source.stock
    if table.kinds[arm] == FOREIGN:
        left = stock.values[stock.first[arm] + done : stock.last[arm]]
        n = min(n, left.size)
        block[:n] = left[:n]
        if n == 0:
            block[0] = np.nan
            n = 1
    else:
        source.words[:] = source.streams[arm]
        fill(
            table.kinds[arm],
            table.rows[arm],
            table.data[table.first[arm] : table.last[arm]],
            source.rng,
            block,
        )
        source.streams[arm] = source.words
    source.head[arm] = 0
    source.filled[arm] = n
    source.drawn[arm] = done + n


EMPTY_STOCK = Stock(np.empty(0), np.zeros(0, np.int64), np.zeros(0, np.int64))


class ForeignRewards:
    """Rewards of one replication from laws that only Python can draw.

    Block sizes depend on nothing but the block's number, so the j-th reward is the same for every policy even
    where a law's vectorised sampler mixes the order of its random numbers.
    """

    def __init__(self, bandit: Bandit, seeds: Words) -> None:
        self.names = bandit.names
        self.arms: list[tuple[RewardLaw, np.random.Generator] | None] = [
            (law, generator(seed)) if kind == FOREIGN else None
            for law, kind, seed in zip(bandit.arms, bandit.table().kinds, seeds, strict=False)
        ]
        self.blocks: list[list[Floats]] = [[] for _ in bandit.arms]

    def more(self) -> Stock:
        """Twice as many rewards of each foreign law as before."""
        size = _FIRST_FOREIGN * (1 if not any(self.blocks) else 2 ** (len(max(self.blocks, key=len)) - 1))
        for name, arm, blocks in zip(self.names, self.arms, self.blocks, strict=True):
            if arm is not None:
                blocks.append(_checked(name, arm[0].rvs(size=size, random_state=arm[1]), size))
        lengths: Sequence[int] = [sum(block.size for block in blocks) for blocks in self.blocks]
        last = np.cumsum(lengths).astype(np.int64)
        values = np.concatenate([block for blocks in self.blocks for block in blocks])
        return Stock(values, last - np.asarray(lengths, np.int64), last)


def _checked(name: str, drawn: Any, size: int) -> Floats:
    values = np.ascontiguousarray(drawn, dtype=np.float64)
    if values.shape != (size,):
        raise RewardError(f"arm {name!r}: rvs(size={size}) must give {size} numbers (got shape {values.shape})")
    if not np.isfinite(values).all():
        raise RewardError(f"arm {name!r}: rvs must give finite numbers (got {values[~np.isfinite(values)][0]})")
    return values
