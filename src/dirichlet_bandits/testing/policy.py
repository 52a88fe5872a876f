"""``check_policy``: report what is wrong with a policy."""

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.environments import Bandit, Piecewise, Uniform
from dirichlet_bandits.errors import PolicyError
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.simulation.simulate import simulate
from dirichlet_bandits.testing.compiled import CompiledPlayer
from dirichlet_bandits.testing.players import (
    PlayerUnderTest,
    PythonPlayer,
    Unsound,
    first_line,
    global_randomness,
    play,
    reward_inside,
)

_PULLS = 120
_TIED_PULLS = 600  # enough for ten tied arms: one that ties are fair to stays out with probability below 1e-20
_SIZES = (2, 10)
_LATE = 7  # pulls until a reward is known, as in simulations with a delay and in live studies

Draw = Callable[[np.random.Generator], float]


class Report(NamedTuple):
    """The checks that something sound passed; ``kind`` says what it is, such as "a compiled policy"."""

    name: str
    kind: str
    checks: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.name}, {self.kind}, is sound:", *(f"- {check}" for check in self.checks)])


def check_policy(policy: Any) -> Report:
    """Check a policy of either form; raise a :class:`PolicyError` that lists all problems.

    A plain Python policy has ``select(rng)`` and ``update(arm, reward)``; a compiled one is a ``Policy`` with verbs
    registered for the type of its ``params``.

    >>> class Uniformly:
    ...     def init(self, n_arms):
    ...         self.n_arms = n_arms
    ...     def select(self, rng):
    ...         return int(rng.integers(self.n_arms))
    ...     def update(self, arm, reward):
    ...         pass
    >>> check_policy(Uniformly()).kind
    'a plain Python policy'

    >>> class Forgetful:
    ...     def select(self, rng):
    ...         return 0
    >>> check_policy(Forgetful())
    Traceback (most recent call last):
    dirichlet_bandits.errors.PolicyError: Forgetful is not a sound policy:
    - it has no method update(arm, reward)
    """
    is_compiled = isinstance(policy, Policy)
    side: Any = CompiledPlayer if is_compiled else PythonPlayer
    name = type(policy).__name__
    if isinstance(policy, type):
        raise PolicyError(policy.__name__, ["it is a class: give check_policy an instance"])
    # Without the right shape nothing can be played.
    shape = side.check_shape(policy)
    if shape:
        raise PolicyError(name, shape)
    player: Callable[[int], PlayerUnderTest] = functools.partial(side, policy)
    checks: list[tuple[str, Callable[[], Sequence[str]]]] = [
        (
            "plays with 2 and 10 arms; equal, zero, large, random and late rewards",
            lambda: _check_scenes(policy, player),
        ),
        ("gives every arm a chance when all rewards are equal", lambda: _check_ties(policy, player)),
        ("decides by the generator alone", lambda: _check_generator(policy, player)),
        *side.more_checks(policy),
    ]
    problems = [problem for _, check in checks for problem in check()]
    if not problems:
        checks.append(("runs in simulate", lambda: ()))
        problems = _check_simulation(policy)
    if problems:
        raise PolicyError(name, list(dict.fromkeys(problems)))
    kind = "a compiled policy" if is_compiled else "a plain Python policy"
    return Report(name, kind, tuple(what for what, _ in checks))


def _check_scenes(policy: Any, player: Callable[[int], PlayerUnderTest]) -> list[str]:
    """Check that the policy plays with rewards of several kinds without breaking its contract."""
    scenes: dict[str, Draw] = {
        "equal rewards": lambda _: 0.5,
        "zero rewards": lambda _: 0.0,
        "large rewards": lambda rng: 1e9 * rng.random(),
        "random rewards": lambda rng: rng.random(),
        "late rewards": lambda rng: rng.random(),
    }
    problems = []
    for n_arms in _SIZES:
        for scene, draw in scenes.items():
            try:
                delay = _LATE if scene == "late rewards" else 0
                play(player(n_arms), n_arms, _PULLS, _inside(policy, draw), seed=0, delay=delay)
            except Unsound as unsound:
                problems.append(f"{unsound} ({n_arms} arms, {scene})")
    return _first_of_each(problems)


def _check_ties(policy: Any, player: Callable[[int], PlayerUnderTest]) -> list[str]:
    """Check that ties are broken at random."""
    n_arms = _SIZES[-1]
    try:
        arms = play(player(n_arms), n_arms, _TIED_PULLS, _inside(policy, lambda _: 0.5), seed=1)
    except Unsound:
        return []  # reported by the scenes
    missed = sorted(set(range(n_arms)) - set(arms[n_arms:]))
    if missed:
        return [f"select never chose arms {missed} in {_TIED_PULLS} pulls of equal rewards: break ties at random"]
    return []


def _check_generator(policy: Any, player: Callable[[int], PlayerUnderTest]) -> list[str]:
    """Compare two plays with equal generators, with global generators seeded differently, then equally."""

    def decisions(global_seed: int) -> list[int]:
        with global_randomness(global_seed):
            return play(player(3), 3, _PULLS, _inside(policy, lambda rng: rng.random()), seed=2)

    try:
        if decisions(0) == decisions(1):
            return []
        if decisions(0) == decisions(0):
            return ["it uses the global random state: draw from the rng that select is given"]
        return ["two plays with equal generators differ: they share memory, or draw from a source other than rng"]
    except Unsound:
        return []  # reported by the scenes


def _check_simulation(policy: Any) -> list[str]:
    """Check that ``simulate`` runs the policy."""
    low, high = reward_inside(policy, 0.0), reward_inside(policy, 1.0)
    bandit = Bandit([Uniform(low, high), Uniform(low, (low + high) / 2)])
    try:
        settings: Any = {"horizon": 50, "replications": 2, "seed": 0, "progress": False}
        simulate(bandit, {"policy": copy.deepcopy(policy)}, **settings)
        if not isinstance(policy, Policy):  # the verbs of a compiled policy have played with late rewards before
            world = Piecewise({1: bandit, 26: Bandit(bandit.arms[::-1])})
            simulate(world, {"policy": copy.deepcopy(policy)}, delay=3, batch=5, **settings)
    except Exception as error:
        return [f"simulate fails: {first_line(error)}"]
    return []


def _inside(policy: Any, draw: Draw) -> Draw:
    """Return the same rewards, moved to where the policy expects them."""
    return lambda rng: reward_inside(policy, draw(rng))


def _first_of_each(problems: Sequence[str]) -> list[str]:
    """Keep the first report of each problem, which may show in many scenes."""
    found: dict[str, str] = {}
    for problem in problems:
        found.setdefault(problem.split(" (")[0], problem)
    return list(found.values())
