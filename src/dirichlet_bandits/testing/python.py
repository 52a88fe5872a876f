"""Checks of policies that are plain Python classes."""

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dirichlet_bandits.testing.players import Unsound, play

_METHODS = {"select": "rng", "update": "arm, reward"}


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


def player(policy: Any) -> Callable[[int], "PythonPlayer"]:
    """Return a new play with a copy of the policy."""
    return lambda n_arms: PythonPlayer(policy, n_arms)


class PythonPlayer:
    """One play of a copy of the policy; what it raises is reported as a problem."""

    def __init__(self, policy: Any, n_arms: int) -> None:
        self.policy = copy.deepcopy(policy)
        if hasattr(policy, "init"):
            _call("init", self.policy.init, n_arms)

    def select(self, rng: np.random.Generator) -> Any:
        return _call("select", self.policy.select, rng)

    def update(self, arm: int, reward: float, rng: np.random.Generator) -> None:
        _call("update", self.policy.update, arm, reward)


def more_checks(policy: Any) -> list[tuple[str, Callable[[], Sequence[str]]]]:
    """Run the checks that apply to Python classes only."""
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


def _call(name: str, method: Callable[..., Any], *arguments: Any) -> Any:
    """Call a method of the policy; report what it raises as a problem."""
    try:
        return method(*arguments)
    except Exception as error:
        raise Unsound(f"{name} raises {type(error).__name__}: {error}") from error
