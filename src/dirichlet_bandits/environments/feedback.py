"""When rewards become known: at once, late, or at the end of a batch."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from dirichlet_bandits.environments.environment import RewardLaw, digest, law_identity
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import Phrase, finite_number, number_within, positive_number, whole_number

Delay = float | RewardLaw | Callable[[Floats], Any]

_EXPECTED = "a number of pulls, a distribution, or a function of an array of rewards"
_PROBES = np.linspace(-1.0, 2.0, 31)  # rewards that distinguish one function of rewards from another
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


class Geometric:
    """A geometric delay: P(D = n) = p (1 - p)^(n - 1) for n = 1, 2, ..., with mean 1/p.

    >>> Geometric(0.1).mean()
    10.0
    """

    def __init__(self, p: float) -> None:
        self.p = positive_number("p", number_within("p", p, 0.0, 1.0))

    def rvs(self, size: int, random_state: Any = None) -> Floats:
        """Draw a sample."""
        rng = np.random.default_rng(random_state)
        if self.p < 1.0 / 3.0:  # NumPy's own inversion, with one logarithm for all draws
            return np.ceil(rng.standard_exponential(size) / -math.log1p(-self.p))
        return rng.geometric(self.p, size).astype(np.float64)

    def mean(self) -> float:
        """Return the expectation."""
        return 1.0 / self.p

    def support(self) -> tuple[float, float]:
        """Return the smallest interval that contains all values."""
        return 1.0, math.inf

    def __repr__(self) -> str:
        return f"Geometric(p={self.p:g})"


class Pareto:
    """A delay with a heavy tail: P(D > x) = x^-alpha for x >= 1, with infinite mean if alpha <= 1.

    >>> Pareto(3.0).mean()
    1.5

    Reference: Manegueu et al., Stochastic bandits with arm-dependent delays (ICML 2020).
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = positive_number("alpha", alpha)

    def rvs(self, size: int, random_state: Any = None) -> Floats:
        """Draw a sample."""
        return np.random.default_rng(random_state).pareto(self.alpha, size) + 1.0

    def mean(self) -> float:
        """Return the expectation."""
        return self.alpha / (self.alpha - 1.0) if self.alpha > 1.0 else math.inf

    def support(self) -> tuple[float, float]:
        """Return the smallest interval that contains all values."""
        return 1.0, math.inf

    def __repr__(self) -> str:
        return f"Pareto(alpha={self.alpha:g})"


def is_number(delay: object) -> bool:
    """Whether a delay is a constant number."""
    return isinstance(delay, int | float | np.integer | np.floating) and not isinstance(delay, bool)


def checked_delays(delay: Delay | Sequence[Delay]) -> tuple[Delay, ...]:
    """Return the delays as a tuple, one for all arms or one per arm; raise if one of them is invalid."""
    several = tuple(delay) if isinstance(delay, list | tuple) else (delay,)
    one: Any
    for one in several:
        if is_number(one):
            if not float(one) >= 0.0:  # false for NaN too
                raise ArgumentError("delay", "a number of pulls, at least 0", one)
        elif isinstance(one, bool | type) or not (isinstance(one, RewardLaw) or callable(one)):
            raise ArgumentError("delay", _EXPECTED, one)
        elif hasattr(one, "support") and not float(one.support()[0]) >= 0.0:
            raise ArgumentError("delay", "a distribution without negative values", one)
    return several


def draw_delays(delays: Sequence[Delay], rewards: Floats, rng: np.random.Generator) -> Ints:
    """Return the delay of each reward in whole pulls, rounded up and cut at the horizon."""
    n_arms, horizon = rewards.shape
    found = np.empty((n_arms, horizon))
    for arm in range(n_arms):
        delay: Any = delays[arm % len(delays)]
        if is_number(delay):
            found[arm] = float(delay)
        elif isinstance(delay, RewardLaw):
            found[arm] = _checked_draws("draws of 'delay'", delay.rvs(size=horizon, random_state=rng), horizon)
        else:
            found[arm] = _checked_draws("delay(rewards)", delay(rewards[arm]), horizon)
    return np.minimum(np.ceil(found), horizon).astype(np.int64)


def _checked_draws(name: str, drawn: Any, number: int) -> Floats:
    """Return drawn delays as an array; refuse texts, negative numbers, NaN, and too many or too few."""
    expected = f"an array of {number} numbers, each at least 0, one per reward"
    try:
        values = np.asarray(drawn, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(name, expected, Phrase(type(drawn).__name__)) from None
    if values.shape != (number,):
        raise ArgumentError(name, expected, drawn if values.ndim == 0 else Phrase(f"an array of shape {values.shape}"))
    if not (values >= 0.0).all():  # true for NaN too
        raise ArgumentError(name, expected, float(values[~(values >= 0.0)][0]))
    return values


def delay_identity(delay: Any) -> Any:
    """Return plain data that differ if the delays differ."""
    if is_number(delay):
        return float(delay)
    if isinstance(delay, RewardLaw):
        return law_identity(delay)
    return digest(np.asarray(delay(_PROBES), np.float64).tobytes())
