"""Policies around another one: what they share."""

from dataclasses import dataclass

from dirichlet_bandits.environments.objective import Objective
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import policy_class


@dataclass(frozen=True)
class WrappingPolicy(Policy):
    """A policy around another one: it expects the same rewards, and serves the same objective."""

    policy: Policy

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
        name = type(self.policy).__name__
        if name not in self.wraps or type(self.policy) is not policy_class(name):
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
