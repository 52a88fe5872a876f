"""What a policy looks like from Python: checked parameters in front, compiled verbs behind."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from dirichlet_bandits.errors import ArgumentError, RewardError, one_of
from dirichlet_bandits.numerics.jit import entry, jit
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.rounds import next_round


class Policy:
    """A decision rule: a frozen dataclass of the user's parameters.

    ``params`` is the NamedTuple of numbers on which the compiled verbs are registered. ``assumes`` and
    ``reference`` fill the table of ``dirichlet-bandits policies``.
    """

    assumes: ClassVar[str] = "unknown"
    reference: ClassVar[str] = ""

    @property
    def params(self) -> tuple[Any, ...]:
        """Parameters as the compiled verbs see them."""
        raise NotImplementedError

    @property
    def reward_bounds(self) -> tuple[float, float]:
        """The interval in which this policy expects every reward."""
        return -math.inf, math.inf

    def init(self, n_arms: int) -> Any:
        """State before the first reward."""
        return _doors(type(self.params))[0](self.params, n_arms)

    def select(self, state: Any, rng: np.random.Generator) -> list[int]:
        """The arms of the next round in the order of their pulls; the state stays as it is."""
        return [int(arm) for arm in _doors(type(self.params))[1](self.params, state, rng)]

    def update(self, state: Any, arm: int, reward: float, rng: np.random.Generator) -> Any:
        """State after one more reward; the state given is used up."""
        if not 0 <= arm < len(state.pulls):
            raise ArgumentError("arm", f"an index below {len(state.pulls)}", arm)
        self.check_reward(reward)
        return _doors(type(self.params))[2](self.params, state, arm, float(reward), rng)

    def check_reward(self, reward: float) -> None:
        """Refuse a reward that is not finite or outside the declared bounds."""
        low, high = self.reward_bounds
        if not math.isfinite(reward):
            raise RewardError(f"a reward must be a finite number (got {reward!r})")
        if not low <= reward <= high:
            raise RewardError(f"{self!r} expects rewards in [{low:g}, {high:g}] (got {reward!r})")


@functools.cache
def _doors(policy_type: type) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """The verbs of one policy type, compiled for calls from Python."""
    stamp = verbs.stamp(policy_type)
    compile_door = keeper(policy_type)

    @compile_door
    def init(policy: Any, n_arms: int) -> Any:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        return verbs.init(policy, n_arms)

    @compile_door
    def select(policy: Any, state: Any, rng: Any) -> Any:
        stamp  # noqa: B018
        return next_round(policy, state, rng)

    @compile_door
    def update(policy: Any, state: Any, arm: int, reward: float, rng: Any) -> Any:
        stamp  # noqa: B018
        return verbs.update(policy, state, arm, reward, rng)

    return init, select, update


def keeper(policy_type: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """How to compile a function specialised on a policy type, and keep it on disk if the type has a stable name.

    Each type gets a cache file of its own: one that a later process cannot import must not spoil the others'.
    """

    def compile_for_type(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__qualname__ = f"{function.__name__}_{policy_type.__module__}_{policy_type.__qualname__}"
        return jit(function) if policy_type.__module__ == "__main__" else entry(function)

    return compile_for_type


def choice(name: str, value: str, choices: dict[str, int]) -> int:
    """Code of a named choice."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(name, one_of(choices), value)
    return choices[value]


def parameters(policy_class: type[Policy]) -> str:
    """Signature of a policy for tables, for instance ``rho='sqrt-log'``."""
    shown = []
    for field in dataclasses.fields(policy_class):  # type: ignore[arg-type]
        default = "" if field.default is dataclasses.MISSING else f"={field.default!r}"
        shown.append(f"{field.name}{default}")
    return ", ".join(shown)
