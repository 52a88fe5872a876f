"""When rewards become known: at once, late, or at the end of a batch."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from dirichlet_bandits.arms.bandit import RewardLaw
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import Phrase, finite_number, whole_number
from dirichlet_bandits.worlds.delays import Delay, checked_delays, delay_identity, draw_delays, is_number

Batch = int | Literal["geometric", "minimax"] | Sequence[int]

AT_ONCE: Final[Mapping[str, Any]] = {"delay": 0, "window": None, "late": "abandon", "batch": 1}
"""The arguments of a plain simulation."""

_BATCHES = 10  # of the geometric and minimax grids, unless there are fewer pulls


@dataclass(frozen=True)
class Feedback:
    """When the rewards of a simulation become known to the policy.

    ``delays`` has one delay for all arms, or one per arm. A reward that takes more than ``window`` pulls counts as
    ``late`` when the window ends; NaN means that it never counts. ``batches`` are the first pulls of all batches,
    counted from 0; every decision of a batch uses what was known before it.
    """

    delays: tuple[Delay, ...]
    window: int | None
    late: float
    batches: tuple[int, ...] | None

    @property
    def immediate(self) -> bool:
        """Whether each reward is known before the next decision, as in a plain simulation."""
        return self.batches is None and all(is_number(delay) and delay == 0 for delay in self.delays)

    @property
    def depends_on_rewards(self) -> bool:
        """Whether a delay is a function of the reward."""
        return any(not is_number(delay) and not isinstance(delay, RewardLaw) for delay in self.delays)

    def delays_of(self, rewards: Floats, rng: np.random.Generator) -> Ints:
        """Draw the delays of all rewards of a replication."""
        return draw_delays(self.delays, rewards, rng)

    def identity(self) -> Any:
        """Return plain data for a store to compare."""
        late = None if math.isnan(self.late) else self.late
        return [[delay_identity(delay) for delay in self.delays], self.window, late, self.batches]


def make_feedback(
    *,
    delay: Delay | Sequence[Delay],
    window: int | None,
    late: float | Literal["abandon"],
    batch: Batch,
    horizon: int,
    n_arms: int,
) -> Feedback:
    """Check the arguments of :func:`dirichlet_bandits.simulate` that determine when rewards become known."""
    delays = checked_delays(delay)
    if len(delays) not in (1, n_arms):
        raise ArgumentError(
            "delay", f"one delay, or one for each of the {n_arms} arms", Phrase(f"{len(delays)} delays")
        )
    if window is not None:
        window = whole_number("window", window, at_least=1)
    counted = math.nan if isinstance(late, str) and late == "abandon" else _late(late)
    if late != "abandon" and window is None:
        raise ArgumentError("window", "a number of pulls, because 'late' is given", window)
    return Feedback(delays, window, counted, _batches(batch, horizon))


def _late(late: object) -> float:
    """Return the reward that takes the place of a late one."""
    try:
        return finite_number("late", late)
    except ArgumentError:
        raise ArgumentError("late", "'abandon', or a number that counts as the reward", late) from None


def _batches(batch: Batch, horizon: int) -> tuple[int, ...] | None:
    """Return the first pulls of all batches, counted from 0; None if each pull is a batch."""
    if isinstance(batch, str):
        if batch not in ("geometric", "minimax"):
            raise ArgumentError("batch", "a size, a list of sizes, 'geometric' or 'minimax'", batch)
        ends = batch_grid(batch, horizon)
    elif isinstance(batch, list | tuple | np.ndarray):
        sizes = [whole_number(f"batch[{k}]", size, at_least=1) for k, size in enumerate(batch)]
        if sum(sizes) != horizon:
            expected = f"sizes that add up to the horizon {horizon}"
            raise ArgumentError("batch", expected, Phrase(f"a sum of {sum(sizes)}"))
        ends = np.cumsum(sizes).tolist()
    else:
        try:
            size = whole_number("batch", batch, at_least=1, at_most=horizon)
        except ArgumentError:
            expected = f"a size from 1 to the horizon {horizon}, a list of sizes, 'geometric' or 'minimax'"
            raise ArgumentError("batch", expected, batch) from None
        if size == 1:
            return None
        ends = list(range(size, horizon, size))
    return (0, *(end for end in ends if end < horizon))


def batch_grid(kind: Literal["geometric", "minimax"], horizon: int, batches: int = _BATCHES) -> list[int]:
    """Return the ends of M batches of T pulls, by the grids of the literature.

    Geometric: u_m = T^(m/M). Minimax: u_1 = a, u_m = a sqrt(u_(m-1)) with a = T^(1/(2 - 2^(1-M))).

    >>> batch_grid("geometric", 10_000, 4), batch_grid("minimax", 10_000, 3)
    ([10, 100, 1000, 10000], [194, 2683, 10000])

    References: Perchet et al., Batched bandit problems (2016); Gao et al., Batched multi-armed bandits problem (2019).
    """
    if kind == "geometric":
        ends = [horizon ** (m / batches) for m in range(1, batches + 1)]
    else:
        a = horizon ** (1.0 / (2.0 - 2.0 ** (1 - batches)))
        ends = [a]
        for _ in range(batches - 1):
            ends.append(a * math.sqrt(ends[-1]))
    return sorted({min(max(1, math.ceil(end - 1e-9)), horizon) for end in ends} | {horizon})
