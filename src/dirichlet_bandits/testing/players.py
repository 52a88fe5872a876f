"""Play a policy of either form step by step, one verb at a time."""

import copy
import inspect
import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.simulation.python_loop import checked_round

_METHODS = {"select": "rng", "update": "arm, reward"}


class Unsound(Exception):  # noqa: N818 - a finding, told to the author of a policy
    """A policy broke its contract while it played."""


class PlayerUnderTest(Protocol):
    """One play of a policy. Its methods raise :class:`Unsound` when the policy does what it must not."""

    def select(self, rng: np.random.Generator) -> Any:
        """Return the arms of the next round."""

    def update(self, arm: int, reward: float, rng: np.random.Generator) -> None:
        """Give the policy the reward of an arm that was pulled."""


def play(
    player: PlayerUnderTest,
    n_arms: int,
    pulls: int,
    draw: Callable[[np.random.Generator], float],
    seed: int,
    delay: int = 0,
) -> list[int]:
    """Pull every arm once, then what the policy selects, and return the arms in the order of their pulls.

    The first reward of each arm is known at once, any other one only ``delay`` pulls later.
    """
    rng, rewards = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    chosen, arms, waiting = list(range(n_arms)), list[int](), list[tuple[int, float]]()
    while True:
        for arm in chosen:
            waiting.append((arm, draw(rewards)))
            arms.append(arm)
            while len(waiting) > (delay if len(arms) > n_arms else 0):
                player.update(*waiting.pop(0), rng)
            if len(arms) == pulls:
                return arms
        player.select(rng)  # a live study may ask several times before a reward comes
        answer = player.select(rng)
        try:
            chosen = checked_round(answer, n_arms)
        except ArgumentError as error:
            expected = "an arm from 0 to n_arms - 1, or a sequence of them that is not empty"
            raise Unsound(f"select must return {expected}; it returned {answer!r}") from error


def reward_inside(policy: Any, reward: float) -> float:
    """Return the reward, moved into the interval that a compiled policy declares."""
    low, high = policy.reward_bounds if isinstance(policy, Policy) else (-math.inf, math.inf)
    if high <= 0.0 or low >= 1.0:  # the scenes are written for rewards around [0, 1]
        reward += low if low > -math.inf else high - 1.0
    return float(min(max(reward, low), high))


def called(name: str, method: Callable[..., Any], *arguments: Any) -> Any:
    """Call a method or a verb of a policy; report what it raises as a problem."""
    try:
        return method(*arguments)
    except Exception as error:
        raise Unsound(f"{name} raises {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """Return the type of an error and the relevant line of its message, because Numba's messages are very long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith("Failed in nopython mode")]
    return f"{type(error).__name__}: {(telling or lines or [''])[0]}"


@contextmanager
def global_randomness(seed: int) -> Iterator[None]:
    """Seed the global generators, whose state must not matter, and restore them afterwards."""
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(seed)  # noqa: NPY002 - the very state that nothing must use
        random.seed(seed)
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002


class PythonPlayer:
    """One play of a copy of the policy; what it raises is reported as a problem."""

    def __init__(self, policy: Any, n_arms: int) -> None:
        self.policy = copy.deepcopy(policy)
        if hasattr(policy, "init"):
            called("init", self.policy.init, n_arms)

    def select(self, rng: np.random.Generator) -> Any:
        return called("select", self.policy.select, rng)

    def update(self, arm: int, reward: float, rng: np.random.Generator) -> None:
        called("update", self.policy.update, arm, reward)

    @staticmethod
    def check_shape(policy: Any) -> list[str]:
        """Check the two methods, the optional third and their arguments, and that the policy can be copied."""
        problems = []
        for method, arguments in {**_METHODS, "init": "n_arms"}.items():
            found = getattr(policy, method, None)
            if found is None and method == "init":
                continue
            if not callable(found):
                problems.append(f"it has no method {method}({arguments})")
            elif not _accepts(found, arguments.count(",") + 1):
                problems.append(f"{method} must accept ({arguments}); it is {method}{inspect.signature(found)}")
        try:
            copy.deepcopy(policy)
        except Exception as error:
            problems.append(f"it cannot be copied, and each replication plays with a copy: {error}")
        return problems

    @staticmethod
    def more_checks(policy: Any) -> "list[tuple[str, Callable[[], Sequence[str]]]]":
        """Return the checks that apply to Python classes only."""
        return [("copies share no memory", lambda: _check_copies(policy))]


def _check_copies(policy: Any) -> list[str]:
    """Check that no class attribute changes, because all copies and replications share it."""
    before = {name: repr(value) for name, value in _class_memory(policy).items()}
    try:
        play(PythonPlayer(policy, 3), 3, 30, lambda rng: rng.random(), seed=3)
    except Unsound:
        return []  # reported by the scenes
    changed = [name for name, value in _class_memory(policy).items() if repr(value) != before[name]]
    return [f"it changes {name!r}, a class attribute that all copies share: make it in __init__" for name in changed]


def _class_memory(policy: Any) -> dict[str, Any]:
    """Return the mutable attributes of the policy's classes."""
    return {
        name: value
        for klass in type(policy).__mro__
        for name, value in vars(klass).items()
        if isinstance(value, list | dict | set | np.ndarray) and not name.startswith("__")
    }


def _accepts(method: Callable[..., Any], n_arguments: int) -> bool:
    """Whether a method can be called with this many arguments."""
    try:
        inspect.signature(method).bind(*range(n_arguments))
    except TypeError:
        return False
    return True
