"""What each policy brings, in one place: its class, and how probable its decisions are.

A family says so once, in the ``__init__.py`` of its folder. Tables, the command line, live studies and the tests find
it here. Compiled verbs are registered beside it by ``engine.verbs.implements``.
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
    """Propensities again and again, while a state grows by a reward at a time."""

    def propensities(self, state: Any) -> Floats:
        """Probability that each arm is pulled next, all arms having been pulled."""


class Propensities(NamedTuple):
    """How probable the decisions of a policy are, all arms having been pulled."""

    from_state: Rule | None = None
    from_histories: Rule | None = None
    incremental: Callable[[Policy, int], Incremental] | None = None
    obstacle: Callable[[Any], str] | None = None


_PROPENSITIES: dict[type, Propensities] = {}


def register(
    *policies: type[Policy],
    probability: Rule | None = None,
    from_histories: Rule | None = None,
    incremental: Callable[[Policy, int], Incremental] | None = None,
    obstacle: Callable[[Any], str] | None = None,
) -> None:
    """Make policies of one family known to the library.

    ``probability(policy, state)`` gives the propensities. ``from_histories(policy, list of arrays)`` does so where
    ``update`` draws random numbers, so that rewards alone do not make a state. ``incremental(policy, n_arms)`` makes an
    object whose ``propensities(state)`` are the same, at a cost that does not grow with the state. ``obstacle(policy)``
    says what a policy would have to be for its propensities to be known, and why; nothing if it is. Live studies refuse
    a policy with an obstacle, simulations do not.
    """
    for policy in policies:
        _PROPENSITIES[policy] = Propensities(probability, from_histories, incremental, obstacle)


def registered(family: str) -> list[type[Policy]]:
    """The policies of a family, given by the name of its package, in the order in which it made them known."""
    return [policy for policy in _PROPENSITIES if f"{policy.__module__}.".startswith(f"{family}.")]


def policy_class(name: object) -> type[Policy] | None:
    """The policy of this name, with its family; None if this library has none.

    >>> policy_class("RDS"), policy_class("rounds")
    (<class 'dirichlet_bandits.policies.dirichlet.rule.RDS'>, None)
    """
    found = getattr(policies, name, None) if isinstance(name, str) and name.isidentifier() else None
    return found if isinstance(found, type) and issubclass(found, Policy) and found is not Policy else None


def has_propensities(policy_class: type[Policy]) -> bool:
    """Whether policies of this class can decide in live studies."""
    return _PROPENSITIES[policy_class].from_state is not None


def propensity_of(*policy_classes: type[Policy], from_histories: bool = False) -> Callable[[Rule], Rule]:
    """Decorator: let ``rule(policy, state)`` give the propensities of these policies, all arms having been pulled.

    With ``from_histories`` it is ``rule(policy, list of arrays)``, for policies whose ``update`` draws random
    numbers, beside the rule for states.
    """

    def join(rule: Rule) -> Rule:
        for policy_class in policy_classes:
            known = _PROPENSITIES.get(policy_class, Propensities())
            joined = known._replace(from_histories=rule) if from_histories else known._replace(from_state=rule)
            _PROPENSITIES[policy_class] = joined
        return rule

    return join


def propensities_of(policy: Any) -> Propensities:
    """What is known of a policy's propensities; a policy of which nothing is known is refused."""
    known = _PROPENSITIES.get(type(policy), Propensities())
    if known.from_state is None and isinstance(policy, Policy) and has_own(win_probability, type(policy.params)):
        known = known._replace(from_state=round_propensities)
    if known.obstacle is not None and (expected := known.obstacle(policy)):
        raise ArgumentError("policy", expected, policy)
    if known.from_state is None:
        kinds = [kind for kind in map(policy_class, dir(policies)) if kind is not None and has_propensities(kind)]
        expected = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ArgumentError("policy", f"{expected}, or of a class made known by propensity_of", policy)
    return known


def not_from_histories(policy: Policy, histories: Any) -> Floats:
    """The rule for histories of a policy that draws random numbers for its rewards, over which nobody can average."""
    expected = "one that draws nothing for its rewards (state_propensities knows those of a state)"
    raise ArgumentError("policy", expected, policy)
