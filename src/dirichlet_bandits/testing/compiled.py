"""Checks of compiled policies: a ``Policy`` in front, verbs registered on the type of its ``params``."""

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dirichlet_bandits.engine import verbs
from dirichlet_bandits.errors import RewardError, one_of
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.interface import GUARANTEES
from dirichlet_bandits.testing.players import Unsound, called, reward_inside


def _check_params(policy: Policy) -> list[str]:
    """Check that ``params`` is a NamedTuple of numbers for which verbs are registered."""
    try:
        params = policy.params
    except NotImplementedError:
        return ["it has no property params: the NamedTuple of numbers that the compiled verbs see"]
    except Exception as error:
        return [f"params raises {type(error).__name__}: {error}"]
    if not isinstance(params, tuple) or not hasattr(params, "_fields"):
        return [f"params must be a NamedTuple of numbers; it is {params!r}"]
    if not params:
        return ["params must have at least one field; without parameters, add a number that no verb uses"]
    problems = [
        f"params.{name} must be a number; it is {value!r}"
        for name, value in zip(params._fields, params, strict=True)
        if not isinstance(value, numbers.Real) and not hasattr(value, "_fields")
    ]
    return problems or _check_verbs(params)


def _check_verbs(params: Any) -> list[str]:
    """Check that some verb decides which arm to pull."""
    name = type(params).__name__
    if verbs.has_own(verbs.select, params) or verbs.has_own(verbs.index, params):
        return []
    if verbs.has_own(verbs.duel, params):
        return [f"{name} has a duel but no select: implements(select, {name})(duel_round)"]
    return [f"no verb decides for {name}: register an index, a select, or a duel and duel_round"]


def _check_guarantee(policy: Policy) -> list[str]:
    """Check that ``guarantee`` is one of the known labels."""
    known = policy.guarantee in GUARANTEES
    return [] if known else [f"guarantee must be {one_of(GUARANTEES)}; it is {policy.guarantee!r}"]


def _check_bounds(policy: Policy) -> list[str]:
    """Check that ``reward_bounds`` are two numbers, and that ``check_reward`` enforces them."""
    try:
        low, high = policy.reward_bounds
        if not float(low) < float(high):
            return [f"reward_bounds must be two numbers, the first smaller; they are {(low, high)!r}"]
    except Exception as error:
        return [f"reward_bounds must be two numbers: {error}"]
    outside = [math.nan, math.inf, -math.inf]
    outside += [end for end in (high + 1.0, low - 1.0) if math.isfinite(end)]
    for reward in outside:
        try:
            policy.check_reward(reward)
        except RewardError:
            continue
        except Exception as error:
            return [f"check_reward must raise RewardError; it raises {type(error).__name__}: {error}"]
        return [f"check_reward lets {reward!r} pass; its bounds are [{low:g}, {high:g}]"]
    return []


class CompiledPlayer:
    """One play through the compiled verbs, which compares the state before and after each verb."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self.policy = policy
        self.state = called("init", policy.init, n_arms)
        self.pulls = np.zeros(n_arms, np.int64)
        self._check_pulls("init")

    def select(self, rng: np.random.Generator) -> Any:
        before = _snapshot(self.state)
        answer = called("select", self.policy.select, self.state, rng)
        if _snapshot(self.state) != before:
            raise Unsound("select changes the state: it may be called several times before a reward comes")
        return answer

    def update(self, arm: int, reward: float, rng: np.random.Generator) -> None:
        self.state = called("update", self.policy.update, self.state, arm, reward, rng)
        self.pulls[arm] += 1
        self._check_pulls("update")

    @staticmethod
    def check_shape(policy: Policy) -> list[str]:
        """Check ``params``, the verbs, the reward bounds and the guarantee."""
        return [*_check_params(policy), *_check_bounds(policy), *_check_guarantee(policy)]

    @staticmethod
    def more_checks(policy: Policy) -> list[tuple[str, Callable[[], Sequence[str]]]]:
        """Run the checks that apply to compiled verbs only."""
        return [
            ("params, verbs and reward bounds fit together", lambda: ()),  # known from the shape
            ("select leaves the state alone, update counts pulls", lambda: ()),  # known from the plays
            ("update refuses rewards outside the bounds", lambda: _check_refusal(policy)),
            ("states share no memory", lambda: _check_states(policy)),
        ]

    def _check_pulls(self, verb: str) -> None:
        counted = getattr(self.state, "pulls", None)
        if not isinstance(counted, np.ndarray) or counted.shape != self.pulls.shape:
            raise Unsound(f"{verb} must return a state with a field pulls, one count per arm")
        forgets = verbs.has_own(verbs.note, self.policy.params)
        if not np.array_equal(counted, self.pulls) and not (forgets and np.all(counted <= self.pulls)):
            raise Unsound(f"state.pulls must count the pulls of each arm; it does not after {verb}")


def _check_refusal(policy: Policy) -> list[str]:
    """Check that ``update`` refuses a reward that is not a number."""
    try:
        policy.update(policy.init(2), 0, math.nan, np.random.default_rng(0))
    except RewardError:
        return []
    except Exception:
        return []  # reported by the scenes
    return ["update must call check_reward: it accepts a reward of nan"]


def _check_states(policy: Policy) -> list[str]:
    """Check that two states from ``init`` are independent of each other."""
    try:
        first, second = policy.init(2), policy.init(2)
        before = _snapshot(second)
        policy.update(first, 0, reward_inside(policy, 0.5), np.random.default_rng(0))
    except Exception:
        return []  # reported by the scenes
    return [] if _snapshot(second) == before else ["init must make a new state each time; two of them share memory"]


def _snapshot(state: Any) -> Any:
    """Return a copy of the state that can be compared later."""
    if isinstance(state, tuple):
        return tuple(_snapshot(part) for part in state)
    return state.tobytes() if isinstance(state, np.ndarray) else repr(state)  # nan differs from itself
