"""``check_law`` and ``check_environment``: compare what arms pay with what they say.

Everything random is compared at a level such that something sound is refused about once in a million checks
(``FALSE_ALARMS``), shared among all comparisons of a check. This holds for large samples; so that rare rewards do not
raise alarms, a difference must also exceed that of ``_RARE`` rewards at an end of the support. All draws are seeded:
the same object gets the same answer each time.
"""

import copy
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.environments import Environment, Mean, RewardLaw
from dirichlet_bandits.environments.environment import checked_rewards
from dirichlet_bandits.errors import ArgumentError, UnsoundError
from dirichlet_bandits.seeding import root_sequence, stream_seeds
from dirichlet_bandits.simulation.plan import make_plan
from dirichlet_bandits.simulation.units import units_of
from dirichlet_bandits.testing.players import Unsound, called, global_randomness
from dirichlet_bandits.testing.policy import Report
from dirichlet_bandits.types import Floats, Ints

FALSE_ALARMS: Final = 1e-6
_DRAWS = 100_000  # of a law
_REPLICATIONS = 100
_BLOCKS = 10  # of time, in each of which the rewards of each arm are compared with its values
_RARE = 16.0  # a reward that is expected so often is missing altogether with probability 1e-7
_MOST_LAWS = 10  # of an environment that are checked by themselves
_ROUNDING = 1e-9
_LEAST_STD = 0.05  # a smaller relative difference of standard deviations may be due to heavy tails

Check = tuple[str, Callable[[], Iterable[str]]]


def check_law(law: Any) -> Report:
    """Check a reward distribution; raise an :class:`UnsoundError` that lists all problems.

    It needs ``rvs(size, random_state)`` and ``mean()``. If it has ``std()``, ``support()``, ``cdf(x)``, ``ppf(q)`` or
    ``atoms()``, they are compared with 100,000 draws, too. A sound law is refused about once in a million.

    >>> from dirichlet_bandits import Bernoulli
    >>> print(check_law(Bernoulli(0.3)))
    Bernoulli(p=0.3), a law, is sound:
    - draws the finite numbers that it is asked for, from the given generator alone
    - rewards have its mean, standard deviation and support, as far as it has them
    - rewards follow its atoms
    """
    name = repr(law) if type(law).__module__.startswith("dirichlet_bandits") else type(law).__name__
    if isinstance(law, type) or not isinstance(law, RewardLaw):
        raise UnsoundError(name, ["it needs the methods rvs(size, random_state) and mean()"], "law")
    checks, problems = _problems_of_law(law)
    if problems:
        raise UnsoundError(name, problems, "law")
    return Report(name, "a law", tuple(checks))


def check_environment(environment: Any, *, horizon: int = 1000) -> Report:
    """Check an environment over ``horizon`` pulls; raise an :class:`UnsoundError` that lists all problems.

    It is played 100 times by a policy that pulls arms at random, and the rewards of each arm in each tenth of the time
    are compared with ``values_over``. Choose a horizon that contains what changes. A sound environment is refused about
    once in a million.

    >>> from dirichlet_bandits import Bandit, Bernoulli
    >>> print(check_environment(Bandit([Bernoulli(0.4), Bernoulli(0.6)]), horizon=500))
    Bandit(arm 0: Bernoulli(p=0.4), arm 1: Bernoulli(p=0.6)), an environment, is sound:
    - names, values, gaps, starts and rewards fit together
    - equal seeds give equal rewards, whichever policy plays, and other seeds give others
    - rewards have the values that it says and lie inside its support
    - its laws are sound
    - runs with late rewards and batches
    """
    name = repr(environment) if hasattr(environment, "__len__") else type(environment).__name__
    try:
        Environment.checked(environment)
    except ArgumentError as error:
        raise UnsoundError(name, ["it must be an object of a class derived from Environment"], "environment") from error
    checks: list[Check] = [
        ("names, values, gaps, starts and rewards fit together", lambda: _check_parts(environment, horizon)),
        (
            "equal seeds give equal rewards, whichever policy plays, and other seeds give others",
            lambda: _check_seeds(environment, horizon),
        ),
        ("rewards have the values that it says and lie inside its support", lambda: _check_play(environment, horizon)),
        ("its laws are sound", lambda: _check_laws(environment.laws(horizon))),
        ("runs with late rewards and batches", lambda: _check_feedback(environment, horizon)),
    ]
    for _, check in checks:
        try:
            problems = list(check())
        except Exception as error:
            problems = [str(error) if isinstance(error, Unsound) else f"{type(error).__name__}: {error}"]
        if problems:  # what follows would fail for the same reason
            raise UnsoundError(name, problems, "environment")
    return Report(name, "an environment", tuple(what for what, _ in checks))


def _problems_of_law(law: Any) -> tuple[list[str], list[str]]:
    """Return the names of the checks, and the problems that they find."""
    checks = {
        "mean": "rewards have its mean, standard deviation and support, as far as it has them",
        "atoms": "rewards follow its atoms",
        "cdf": "rewards follow its distribution function",
        "ppf": "rewards follow its quantiles",
    }
    made = ["draws the finite numbers that it is asked for, from the given generator alone"]
    try:
        drawn = np.sort(_reproducible(lambda seed: _drawn(law, seed), lambda rewards: not np.ptp(rewards)))
    except Unsound as unsound:
        return made, [str(unsound)]
    problems: list[str] = []
    for verb, check in {"mean": _check_moments, "atoms": _check_atoms, "cdf": _check_cdf, "ppf": _check_ppf}.items():
        if callable(getattr(law, verb, None)):
            made.append(checks[verb])
            problems += check(law, drawn)
    return made, problems


def _drawn(law: Any, seed: int) -> Floats:
    """Draw from a law; raise if the draws are not what was asked for."""
    drawn = np.asarray(called("rvs", law.rvs, _DRAWS, np.random.default_rng(seed)), np.float64)
    if drawn.shape != (_DRAWS,) or not np.isfinite(drawn).all():
        raise Unsound(f"rvs(size={_DRAWS}) must return {_DRAWS} finite numbers, in an array of one dimension")
    return drawn


def _reproducible(draw: Callable[[int], Floats], certain: Callable[[Floats], bool]) -> Floats:
    """Draw with a seed; raise if it does not determine the draws, or does not matter although they are not certain."""
    draws = []
    for global_seed, seed in ((0, 0), (1, 1), (2, 0)):
        with global_randomness(global_seed):
            draws.append(draw(seed))
    if not np.array_equal(draws[0], draws[2]):
        raise Unsound("two draws with equal seeds differ: draw all random numbers from what is given, and keep nothing")
    if np.array_equal(draws[0], draws[1]) and not certain(draws[0]):
        raise Unsound("two draws with different seeds are equal: draw all random numbers from what is given")
    return draws[0]


def _check_moments(law: Any, drawn: Floats) -> Iterable[str]:
    mean, std = float(law.mean()), float(law.std()) if hasattr(law, "std") else math.nan
    low, high = map(float, law.support()) if hasattr(law, "support") else (-math.inf, math.inf)
    slack = _ROUNDING * (1.0 + abs(drawn).max())
    if not low - slack <= drawn[0] <= drawn[-1] <= high + slack:
        yield f"rewards from {drawn[0]:g} to {drawn[-1]:g} are outside its support, from {low:g} to {high:g}"
    if math.isnan(mean):
        yield "mean() must be a number"
    elif math.isfinite(mean):
        off = drawn - mean
        widest = max(abs(off).max(), high - low if math.isfinite(high - low) else 0.0)
        spread = max(drawn.std(), std) if math.isfinite(std) else drawn.std()
        if _differs(off.sum(), spread * math.sqrt(_DRAWS), widest, 2):
            yield f"its mean is {mean:g}, but {_DRAWS:,} rewards have the mean {drawn.mean():.6g}"
        excess = off * off - std * std
        if (
            math.isfinite(std)
            and abs(drawn.std() - std) > _LEAST_STD * std
            and _differs(excess.sum(), excess.std() * math.sqrt(_DRAWS), widest * widest, 2)
        ):
            yield f"its standard deviation is {std:g}, but that of {_DRAWS:,} rewards is {drawn.std():.6g}"


def _check_atoms(law: Any, drawn: Floats) -> Iterable[str]:
    values, chances = (np.asarray(part, np.float64) for part in law.atoms())
    if (
        values.shape != chances.shape
        or not (chances >= 0.0).all()
        or not math.isclose(chances.sum(), 1.0, abs_tol=1e-9)
    ):
        yield "atoms() must return the values and as many probabilities, which sum to one"
        return
    order = np.argsort(values)
    places = np.searchsorted(values[order], drawn - _ROUNDING * (1.0 + abs(drawn))).clip(max=values.size - 1)
    strange = drawn[abs(values[order][places] - drawn) > 2.0 * _ROUNDING * (1.0 + abs(drawn))]
    if strange.size:
        yield f"it draws {strange[0]:g}, which is not among its atoms"
    elif (abs(np.bincount(places, minlength=values.size).cumsum() / _DRAWS - chances[order].cumsum()) > _band()).any():
        yield "the frequencies of rewards are not the probabilities of its atoms"


def _check_cdf(law: Any, drawn: Floats) -> Iterable[str]:
    values, counts = np.unique(drawn, return_counts=True)
    error = abs(np.asarray(law.cdf(values)) - counts.cumsum() / _DRAWS)
    if not (error <= _band()).all():  # NaN too
        worst = values[np.nan_to_num(error, nan=np.inf).argmax()]
        share = (drawn <= worst).mean()
        yield f"cdf({worst:g}) is {float(law.cdf(worst)):.4g}, but {share:.4g} of {_DRAWS:,} rewards are at most that"


def _check_ppf(law: Any, drawn: Floats) -> Iterable[str]:
    levels = np.linspace(0.01, 0.99, 99)
    found = np.asarray(law.ppf(levels), np.float64)
    slack = _ROUNDING * (1.0 + abs(found))
    below, up_to = (np.searchsorted(drawn, found + side * slack) / _DRAWS for side in (-1.0, 1.0))
    wrong = np.flatnonzero(~((up_to >= levels - _band()) & (below <= levels + _band())))
    if wrong.size:
        level, quantile, share = (float(part[wrong[0]]) for part in (levels, found, up_to))
        yield f"ppf({level:g}) is {quantile:g}, but {share:.4g} of {_DRAWS:,} rewards are at most that"


def _band() -> float:
    """Return how far the empirical distribution function may be off anywhere (Dvoretzky, Kiefer and Wolfowitz)."""
    return math.sqrt(math.log(2.0 * 4.0 / FALSE_ALARMS) / (2.0 * _DRAWS))


def _differs(total: float, error: float, widest: float, comparisons: int) -> bool:
    """Whether a sum that should be 0, with this standard error, is too far from it to be chance."""
    level = float(scipy.special.ndtri(1.0 - FALSE_ALARMS / (4.0 * comparisons)))
    return abs(total) > max(level * error, _RARE * widest) + _ROUNDING * _DRAWS * widest


def _check_parts(environment: Environment, horizon: int) -> Iterable[str]:
    names = environment.names
    if not isinstance(names, tuple) or len(set(names)) != len(names) or not all(isinstance(x, str) for x in names):
        return [f"names must be a tuple of different texts (got {names!r})"]
    if len(names) < 2:
        return ["it needs at least two arms"]
    make_plan(environment, _AtRandom(), horizon=horizon, replications=1, seed=0, record=1, fast=False)
    values, gaps = environment.values_over(horizon), environment.gaps_over(horizon)
    if gaps.shape != values.shape or not np.allclose(gaps, values.max(axis=1, keepdims=True) - values):
        return ["gaps_over must be the differences between the largest value of a time and each value"]
    return []


def _check_seeds(environment: Environment, horizon: int) -> Iterable[str]:
    def draw(replication: int) -> Floats:
        seeds = stream_seeds(root_sequence(0), replication, environment.n_streams())
        return checked_rewards(copy.deepcopy(environment), seeds, horizon)

    values = environment.values_over(horizon).T
    _reproducible(draw, lambda rewards: not np.ptp(rewards, axis=1).any() or np.allclose(rewards, values))
    return []


class _AtRandom:
    """A policy in Python that pulls arms at random, and lists the arms and rewards of each replication."""

    def __init__(self) -> None:
        self.games: list[list[tuple[int, float]]] = []

    def __deepcopy__(self, memo: Any) -> "_AtRandom":
        self.games.append([])
        return self

    def init(self, n_arms: int) -> None:
        self.n_arms = n_arms

    def select(self, rng: np.random.Generator) -> int:
        return int(rng.integers(self.n_arms))

    def update(self, arm: int, reward: float) -> None:
        self.games[-1].append((arm, reward))


def _check_play(environment: Environment, horizon: int) -> Iterable[str]:
    """Play the environment, and compare what each arm pays in each block of time with its values."""
    policy = _AtRandom()
    settings: Any = {"horizon": horizon, "replications": _REPLICATIONS, "seed": 0, "record": 1, "fast": False}
    for unit in units_of(make_plan(environment, policy, **settings), None, 1):
        unit.run()
    arms = np.array([[arm for arm, _ in game] for game in policy.games])
    rewards = np.array([[reward for _, reward in game] for game in policy.games])
    low, high = environment.support(horizon)
    slack = _ROUNDING * (1.0 + abs(rewards).max())
    if not low - slack <= rewards.min() <= rewards.max() <= high + slack:
        yield f"rewards from {rewards.min():g} to {rewards.max():g} are outside its support, from {low:g} to {high:g}"
    if isinstance(environment.objective, Mean):  # the means of other objectives are those of its laws
        yield from _check_means(environment, arms, rewards, (low, high))


def _check_means(environment: Environment, arms: Ints, rewards: Floats, support: tuple[float, float]) -> Iterable[str]:
    times = np.arange(arms.shape[1])
    off = rewards - environment.values_over(times.size + 1)[times, arms]
    widest = max(abs(off).max(), support[1] - support[0] if math.isfinite(support[1] - support[0]) else 0.0)
    blocks = times * _BLOCKS // times.size
    for arm, name in enumerate(environment.names):
        pulled = arms == arm
        spread = off[pulled].std()  # of a pull at any time
        for block in [slice(None), *(blocks == b for b in range(_BLOCKS))]:
            sums = (off * pulled)[:, block].sum(axis=1)  # of each replication
            n = int(pulled[:, block].sum())
            error = max(sums.std() * math.sqrt(_REPLICATIONS), spread * math.sqrt(n))
            if n and _differs(sums.sum(), error, widest, (_BLOCKS + 1) * len(environment)):
                first, last = (times[block][k] + 1 for k in (0, -1))
                said = rewards[:, block][pulled[:, block]]
                paid, value = said.mean(), (said - off[:, block][pulled[:, block]]).mean()
                when = f"from pull {first} to {last}, arm {name!r} pays {paid:.4g} on average"
                yield f"{when} where values_over says {value:.4g}"
                break


def _check_laws(laws: Mapping[str, Any]) -> Iterable[str]:
    some = list(laws.items())[:: max(1, -(-len(laws) // _MOST_LAWS))]
    return [f"{name}: {problem}" for name, law in some for problem in _problems_of_law(law)[1]]


def _check_feedback(environment: Environment, horizon: int) -> Iterable[str]:
    settings: Any = {"horizon": horizon, "replications": 2, "seed": 0, "record": 1, "fast": False}
    late = {"delay": 3, "window": None, "late": "abandon", "batch": 5}
    for unit in units_of(make_plan(environment, _AtRandom(), feedback=late, **settings), None, 1):
        unit.run()
    return []
