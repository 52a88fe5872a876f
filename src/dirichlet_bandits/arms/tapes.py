"""The rewards of each arm in the order of its pulls, drawn in advance; and what identifies a distribution."""

import hashlib
from typing import Any

import numpy as np

from dirichlet_bandits.arms.bandit import Bandit, RewardLaw
from dirichlet_bandits.arms.laws import Law
from dirichlet_bandits.arms.sampler import ArmTable, Kind
from dirichlet_bandits.errors import RewardError
from dirichlet_bandits.seeding import generator
from dirichlet_bandits.types import Floats, Words

_FIRST_BLOCK = 1024
_PROBES = 16  # rewards that distinguish one foreign distribution from another


class ForeignRewards:
    """Rewards of one replication from foreign distributions.

    Block sizes depend only on the number of the block, so the j-th reward is the same for every policy, even
    where a vectorized sampler mixes the order of its random numbers.
    """

    def __init__(self, bandit: Bandit, seeds: Words) -> None:
        self.names = bandit.names
        self.table = bandit.table
        self.laws: dict[int, tuple[RewardLaw, np.random.Generator]] = {
            arm: (law, generator(seeds[arm]))
            for arm, (law, kind) in enumerate(zip(bandit.arms, self.table.kinds, strict=True))
            if kind == Kind.FOREIGN
        }
        self.drawn: dict[int, Floats] = {arm: np.empty(0) for arm in self.laws}

    def more(self) -> ArmTable:
        """Return the table of arms with twice as many rewards of each foreign distribution as before."""
        for arm, (law, rng) in self.laws.items():
            size = max(self.drawn[arm].size, _FIRST_BLOCK)
            block = _checked(self.names[arm], law.rvs(size=size, random_state=rng), size)
            self.drawn[arm] = np.concatenate([self.drawn[arm], block])
        table = self.table
        data = [self.drawn.get(arm, table.data[table.first[arm] : table.last[arm]]) for arm in range(len(self.names))]
        sizes = np.array([values.size for values in data], dtype=np.int64)
        last = np.cumsum(sizes)
        return table._replace(first=last - sizes, last=last, data=np.concatenate(data))


def _checked(name: str, drawn: Any, size: int) -> Floats:
    """Return what a user's distribution has drawn as an array; raise unless it is ``size`` finite numbers."""
    values = np.ascontiguousarray(drawn, dtype=np.float64)
    if values.shape != (size,):
        raise RewardError(f"arm {name!r}: rvs(size={size}) must give {size} numbers (got shape {values.shape})")
    if not np.isfinite(values).all():
        raise RewardError(f"arm {name!r}: rvs must give finite numbers (got {values[~np.isfinite(values)][0]})")
    return values


def draw_tape(bandit: Bandit, seeds: Words, length: int) -> Floats:
    """Return this many rewards of each arm, one row per arm: exactly those that a plain simulation would use."""
    tape = np.empty((len(bandit), length))
    foreign = ForeignRewards(bandit, seeds)
    for arm, law in enumerate(bandit.arms):
        if isinstance(law, Law):
            tape[arm] = law.rvs(length, generator(seeds[arm]))
    while foreign.laws and min(drawn.size for drawn in foreign.drawn.values()) < length:
        foreign.more()
    for arm, drawn in foreign.drawn.items():
        tape[arm] = drawn[:length]
    return tape


def law_identity(law: RewardLaw) -> list[str]:
    """Return a distribution as text and a digest of its numbers; draws from a fixed seed identify a foreign one."""
    if isinstance(law, Law):
        return [repr(law), digest(law.row.tobytes(), law.data.tobytes())]
    rewards = np.asarray(law.rvs(size=_PROBES, random_state=np.random.default_rng(0)), np.float64)
    return [type(law).__qualname__, digest(np.float64(law.mean()).tobytes(), rewards.tobytes())]


def digest(*parts: bytes) -> str:
    """Return a short hash."""
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()
