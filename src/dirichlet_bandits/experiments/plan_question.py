"""The question of a plan: what :func:`plan`, a command, a form and a request to a service may ask."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import numpy as np

from dirichlet_bandits.declared import Check, Declared, declared, integer, number, pair, sequence
from dirichlet_bandits.environments import Bandit, Empirical
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference.intervals import Bounds
from dirichlet_bandits.live.fields import Delta, Margin
from dirichlet_bandits.policies.written import POLICY, Policies, as_policies
from dirichlet_bandits.seeding import Seed
from dirichlet_bandits.validation import whole_number

MOST_CASES: Final = 12
"""Pairs of a policy and a floor that a service simulates, including the equal split."""


def past_bandit(rewards: Mapping[str, Sequence[float]]) -> Bandit:
    """Return past rewards by arm as a bandit."""
    try:
        with np.errstate(over="ignore"):  # a mean that is not finite is refused
            return Bandit(rewards)
    except ArgumentError as error:
        raise ArgumentError(error.name.replace("arms", "bandit", 1), *error.args[1:]) from None


def _written_bandit(given: Any) -> dict[str, list[float]]:
    """Return the past rewards of all arms; other distributions cannot be sent."""
    bandit = past_bandit(given) if isinstance(given, Mapping) else given
    for name, law in zip(bandit.names, bandit.arms, strict=True):
        if not isinstance(law, Empirical):
            raise ArgumentError("bandit", f"past rewards, but the arm {name!r} is not", law)
    return {name: law.data.tolist() for name, law in zip(bandit.names, bandit.arms, strict=True)}


def _written_policies(given: Policies) -> list[str]:
    if isinstance(given, Mapping):
        raise ArgumentError("policies", "a list of policies, because a service names them itself", given)
    return [POLICY.to_text(policy, f"policies[{name!r}]") for name, policy in as_policies(given).items()]


def _whole_seed(seed: Any) -> int:
    return whole_number("seed", seed, 0)


def _kept(field: str, value: Any) -> Any:
    return value


_LISTS: Final = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}}
_MOST_ARMS: Final = 20  # that a service simulates
_SOME: Final = f"at most {MOST_CASES} pairs with floors, including the equal split"


@declared
class PlanQuestion(Declared):
    """The arguments of :func:`plan`; :func:`prepare` checks whether they fit together."""

    bandit: (
        Annotated[
            Bandit | Mapping[str, Sequence[float]],
            Check("past rewards by arm", _kept, _LISTS, write=_written_bandit, served=_MOST_ARMS),
        ]
        | None
    ) = None
    baseline: Annotated[float, number(example=0.1), "Mean of all arms but one, for rewards of 0 and 1."] | None = None
    lift: Annotated[float, number(example=0.03), "How much larger the mean of the last arm is."] | None = None
    arms: Annotated[int, integer(2, served=_MOST_ARMS), "Number of arms, with a baseline."] = 2
    policies: (
        Annotated[
            Policies,
            Check(
                f"a list of policies, or of texts such as 'NPTS(upper=1)'; {_SOME}",
                _kept,
                {"type": "array", "items": {"type": "string"}, "maxItems": MOST_CASES},
                write=_written_policies,
                example=["TopTwo", "EpsilonGreedy(0.2)"],
                served=MOST_CASES,
            ),
            "Policies to try, with parameters.",
        ]
        | None
    ) = None
    floors: Annotated[
        Sequence[float], sequence(number(example=0.1), "a list of numbers", most=MOST_CASES), "Floors to try."
    ] = (0.0, 0.1)
    delta: Delta = 0.05
    margin: Margin = 0.0
    horizon: Annotated[
        int, integer(1, served=50_000, example=20_000), "Number of trials after which a study ends without a winner."
    ] = 20_000
    every: Annotated[int, integer(1, example=100), "Number of trials between checks for a winner."] = 100
    replications: Annotated[int, integer(2, served=1000), "Number of studies to simulate."] = 200
    bounds: Annotated[Bounds, pair(), "Bounds of all rewards; 0 and 1 if left out."] | None = None
    seed: Annotated[
        Seed,
        Check("a whole number", _kept, {"type": "integer", "minimum": 0}, integer(0).read, _whole_seed),
        "The same seed gives the same numbers.",
    ] = 0
