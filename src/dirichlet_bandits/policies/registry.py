"""The registry of policies: their classes, what they can do, and how to compute the probabilities of their decisions.

A family registers its policies at the end of its file. Tables, the command line, live studies and the tests look them
up here. Compiled verbs are registered separately with ``engine.verbs.implements``.
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, Self

from dirichlet_bandits import policies
from dirichlet_bandits.engine.verbs import has_own
from dirichlet_bandits.environments.objective import Mean, Objective
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.rounds import round_propensities, win_probability
from dirichlet_bandits.types import Floats

Rule = Callable[[Any, Any], Floats]

DRAWS_FOR_REWARDS: Final = "one that draws nothing for its rewards (call state_propensities for a state)"
ORDER_MATTERS: Final = (
    "one that does not depend on the order of decisions, which histories do not contain (state_propensities)"
)


class Incremental(Protocol):
    """An object that computes propensities repeatedly while a state grows by one reward at a time."""

    def propensities(self, state: Any) -> Floats:
        """Return the probability that each arm is pulled next, if all arms have been pulled."""

    def without_compiling(self, state: Any) -> Floats | None:
        """Return the same, or None if this would compile something or give a generator to compiled code.

        An exception of a signal handler may interrupt it between any two steps, and the object must not be used then.
        """


class Registration(NamedTuple):
    """What a policy can do.

    ``probability(policy, state)`` returns the propensities. ``from_histories(policy, list of arrays)`` returns them
    where rewards alone do not determine a state; or it is a text, the kind of policy that would be accepted instead.
    ``incremental(policy, n_arms)`` returns an object whose ``propensities(state)`` are the same, at a cost that does
    not grow with the state. ``obstacle(policy)`` returns what a policy would need for its propensities to be known, and
    why, or an empty string if they are known. Live studies refuse a policy with an obstacle; simulations do not. If
    ``drawn`` is True, live studies draw the arm from the propensities, for a policy that pulls one arm and whose
    ``select`` takes long.

    Rewards of the past or of other segments may have weights: ``weighted(policy, past, weight)`` returns the state, or
    an object that decides in its place (``policies/weighted_rewards.py``). ``discounted(wrapper, ring)`` returns the
    propensities inside of ``Discounted`` if ``select_discounted`` is not the default (``policies/ring.py``).
    """

    probability: Rule | None = None
    from_histories: Rule | str | None = None
    incremental: Callable[[Policy, int], Incremental] | None = None
    obstacle: Callable[[Any], str] | None = None
    drawn: bool = False
    weighted: Callable[[Any, Sequence[Floats], float], Any] | None = None
    discounted: Rule | None = None


_REGISTERED: dict[type, Registration] = {}


def register(*policies: type[Policy], **abilities: Any) -> None:
    """Register policies of one family with the library; the abilities are the fields of :class:`Registration`."""
    _REGISTERED.update(dict.fromkeys(policies, Registration(**abilities)))


def policy_class(name: object) -> type[Policy] | None:
    """Return the policy class of this name, importing its family, or None if there is none.

    >>> policy_class("UCB1"), policy_class("rounds")
    (<class 'dirichlet_bandits.policies.ucb.UCB1'>, None)
    """
    found = getattr(policies, name, None) if isinstance(name, str) and name.isidentifier() else None
    return found if isinstance(found, type) and issubclass(found, Policy) and found is not Policy else None


@functools.cache
def all_policies() -> dict[str, type[Policy]]:
    """Return all policies by name, in the order of every table, which is that of the package's stub."""
    stub = Path(str(policies.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    found = {name: policy_class(name) for name in re.findall(r" as (\w+)$", stub, re.MULTILINE)}
    return {name: kind for name, kind in found.items() if kind is not None}


def has_propensities(policy_class: type[Policy]) -> bool:
    """Whether policies of this class can decide in live studies."""
    return _REGISTERED[policy_class].probability is not None


def propensity_of(*policy_classes: type[Policy], from_histories: bool = False) -> Callable[[Rule], Rule]:
    """Decorate ``rule(policy, state)`` to give the propensities of these policies once all arms have been pulled.

    With ``from_histories``, the rule is ``rule(policy, list of arrays)``, for policies whose ``update`` draws random
    numbers; it is registered in addition to the rule for states.
    """

    def join(rule: Rule) -> Rule:
        for policy_class in policy_classes:
            known = _REGISTERED.get(policy_class, Registration())
            joined = known._replace(from_histories=rule) if from_histories else known._replace(probability=rule)
            _REGISTERED[policy_class] = joined
        return rule

    return join


def registration(policy: Any) -> Registration:
    """Return what a policy can do; nothing is known of a class that nobody registered."""
    return _REGISTERED.get(type(policy), Registration())


def propensities_of(policy: Any) -> Registration:
    """Return how to compute a policy's propensities; refuse a policy for which this is not registered."""
    known = registration(policy)
    if known.probability is None and isinstance(policy, Policy) and has_own(win_probability, policy.params):
        known = known._replace(probability=round_propensities)
    if known.obstacle is not None and (expected := known.obstacle(policy)):
        raise ArgumentError("policy", expected, policy)
    if known.probability is None:
        expected = f"{', '.join(policies_with('probability'))}, or of a class registered with propensity_of"
        raise ArgumentError("policy", expected, policy)
    if isinstance(policy, WrappingPolicy):
        propensities_of(policy.policy)
    return known


def rule_of(policy: Policy) -> Rule:
    """Return the function of a policy and its state that computes propensities; refuse a policy that has none."""
    rule = propensities_of(policy).probability
    assert rule is not None  # or the policy would have been refused
    return rule


def takes_weights(policy: Policy) -> bool:
    """Whether past rewards may have weights other than 0 and 1; those of an objective other than the mean may not."""
    return registration(policy).weighted is not None and isinstance(policy.objective, Mean)


def policies_with(what: str) -> list[str]:
    """Return the names of all policies of the library with a registered ability, such as ``"probability"``."""
    return sorted(name for name, kind in all_policies().items() if getattr(_REGISTERED[kind], what) is not None)


@dataclass(frozen=True)
class WrappingPolicy(Policy):
    """A policy around another one: it expects the same rewards, and serves the same objective."""

    policy: Policy

    @classmethod
    def example(cls, inner: Policy | None = None) -> Self:
        """Return a sound policy of this class, around the given policy or around one of the first listed class."""
        return cls.examples()[0] if inner is None else cls(inner, **cls.example_parameters)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return sound policies around one of each listed class."""
        return [cls.example(getattr(policies, name).example()) for name in cls.wraps]

    def check_arms(self, n_arms: int) -> None:
        """Refuse any number of arms that the inner policy refuses."""
        self.policy.check_arms(n_arms)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return self.policy.reward_bounds

    @property
    def objective(self) -> Objective:
        return self.policy.objective


@dataclass(frozen=True)
class AroundListed(WrappingPolicy):
    """Only around policies of the classes that ``wraps`` names."""

    def __post_init__(self) -> None:
        if type(self.policy) not in map(policy_class, self.wraps):
            expected = f"a policy of the class {', '.join(self.wraps[:-1])} or {self.wraps[-1]}"
            raise ArgumentError("policy", expected, self.policy)


@dataclass(frozen=True)
class AroundAny(WrappingPolicy):
    """Around any policy with compiled verbs."""

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise ArgumentError("policy", "a policy with compiled verbs, such as NPTS(upper=1)", self.policy)

    @property
    def waits_for_all_arms(self) -> bool:  # type: ignore[override]
        """Whether the inner policy waits until every arm has a reward."""
        return self.policy.waits_for_all_arms

    @property
    def ordered_arms(self) -> bool:  # type: ignore[override]
        """Whether the order of the arms matters to the inner policy."""
        return self.policy.ordered_arms
