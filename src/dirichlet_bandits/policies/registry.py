"""The registry of policies: their classes, and how to compute the probabilities of their decisions.

A family registers once, in the ``__init__.py`` of its folder. Tables, the command line, live studies and the tests look
up policies here. Compiled verbs are registered separately with ``engine.verbs.implements``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from dirichlet_bandits import policies
from dirichlet_bandits.engine.verbs import has_own
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.rounds import round_propensities, win_probability
from dirichlet_bandits.types import Floats

Rule = Callable[[Any, Any], Floats]


class Incremental(Protocol):
    """An object that computes propensities repeatedly while a state grows by one reward at a time."""

    def propensities(self, state: Any) -> Floats:
        """Return the probability that each arm is pulled next, if all arms have been pulled."""

    def without_compiling(self, state: Any) -> Floats | None:
        """Return the same, or None if this would compile something or give a generator to compiled code.

        An exception of a signal handler may interrupt it between any two steps, and the object must not be used then.
        """


class Propensities(NamedTuple):
    """How to compute the propensities of a policy once all arms have been pulled."""

    from_state: Rule | None = None
    from_histories: Rule | None = None
    incremental: Callable[[Policy, int], Incremental] | None = None
    obstacle: Callable[[Any], str] | None = None
    drawn: bool = False


_PROPENSITIES: dict[type, Propensities] = {}


def register(
    *policies: type[Policy],
    probability: Rule | None = None,
    from_histories: Rule | None = None,
    incremental: Callable[[Policy, int], Incremental] | None = None,
    obstacle: Callable[[Any], str] | None = None,
    drawn: bool = False,
) -> None:
    """Register policies of one family with the library.

    ``probability(policy, state)`` returns the propensities. ``from_histories(policy, list of arrays)`` returns them
    where ``update`` draws random numbers, so that rewards alone do not determine a state. ``incremental(policy,
    n_arms)`` returns an object whose ``propensities(state)`` are the same, at a cost that does not grow with the state.
    ``obstacle(policy)`` returns what a policy would need for its propensities to be known, and why, or an empty string
    if they are known. Live studies refuse a policy with an obstacle; simulations do not. If ``drawn`` is True, live
    studies draw the arm from the propensities, for a policy that pulls one arm and whose ``select`` takes long.
    """
    for policy in policies:
        _PROPENSITIES[policy] = Propensities(probability, from_histories, incremental, obstacle, drawn)


def registered(family: str) -> list[type[Policy]]:
    """Return the policies of a family, given by its package name, in the order of registration."""
    return [policy for policy in _PROPENSITIES if f"{policy.__module__}.".startswith(f"{family}.")]


def policy_class(name: object) -> type[Policy] | None:
    """Return the policy class of this name, importing its family, or None if there is none.

    >>> policy_class("RDS"), policy_class("rounds")
    (<class 'dirichlet_bandits.policies.dirichlet.rule.RDS'>, None)
    """
    found = getattr(policies, name, None) if isinstance(name, str) and name.isidentifier() else None
    return found if isinstance(found, type) and issubclass(found, Policy) and found is not Policy else None


def has_propensities(policy_class: type[Policy]) -> bool:
    """Whether policies of this class can decide in live studies."""
    return _PROPENSITIES[policy_class].from_state is not None


def propensity_of(*policy_classes: type[Policy], from_histories: bool = False) -> Callable[[Rule], Rule]:
    """Decorate ``rule(policy, state)`` to give the propensities of these policies once all arms have been pulled.

    With ``from_histories``, the rule is ``rule(policy, list of arrays)``, for policies whose ``update`` draws random
    numbers; it is registered in addition to the rule for states.
    """

    def join(rule: Rule) -> Rule:
        for policy_class in policy_classes:
            known = _PROPENSITIES.get(policy_class, Propensities())
            joined = known._replace(from_histories=rule) if from_histories else known._replace(from_state=rule)
            _PROPENSITIES[policy_class] = joined
        return rule

    return join


def propensities_of(policy: Any) -> Propensities:
    """Return how to compute a policy's propensities; refuse a policy for which this is not registered."""
    known = _PROPENSITIES.get(type(policy), Propensities())
    if known.from_state is None and isinstance(policy, Policy) and has_own(win_probability, type(policy.params)):
        known = known._replace(from_state=round_propensities)
    if known.obstacle is not None and (expected := known.obstacle(policy)):
        raise ArgumentError("policy", expected, policy)
    if known.from_state is None:
        kinds = [kind for kind in map(policy_class, dir(policies)) if kind is not None and has_propensities(kind)]
        expected = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ArgumentError("policy", f"{expected}, or of a class registered with propensity_of", policy)
    return known


def not_from_histories(policy: Policy, histories: Any) -> Floats:
    """Refuse histories of a policy whose updates draw random numbers over which no exact average is known."""
    expected = "one that draws nothing for its rewards (call state_propensities for a state)"
    raise ArgumentError("policy", expected, policy)
