"""Find which policies can be tried on given arms, with which parameters, and why the others cannot.

A policy's fields are the parameters that it needs. Fields that represent a fact about the rewards (a bound, a
deviation, a family...) are filled with what is known; all others keep their defaults. If several families fit, there
are several policies of one class.
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from typing import Any

import numpy as np

from dirichlet_bandits.environments import CVaR, Environment, Mean
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference.intervals import Bounds
from dirichlet_bandits.live.direction import check_around, two_bounds
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.registry import all_policies
from dirichlet_bandits.theory.laws import family_of
from dirichlet_bandits.validation import positive_number

MOST_VALUES = 20  # a distribution with more distinct rewards is not treated as one with finitely many known values

# Fields that represent facts, and their names in a reason. A policy with such a field is never run on a guess.
FACTS = {
    "lower": "a lower bound of the rewards (bounds)",
    "upper": "an upper bound of the rewards (bounds)",
    "sigma": "the standard deviation of the rewards (sigma)",
    "family": "a family (rewards 0 and 1, counts, positive numbers, or a bell curve of known sigma)",
    "level": "a CVaR as the objective (level)",
    "support": f"rewards with at most {MOST_VALUES} different values (support)",
    "horizon": "the horizon",
    "changes": "the number of changes, which an environment with segments provides (changes)",
    "segments": "the number of segments",
}


@dataclass(frozen=True)
class RewardFacts:
    """What is known about the rewards, by the name of the policy field: no value, one, or several to try."""

    facts: Mapping[str, tuple[Any, ...]]
    bounds: tuple[float, float]
    ordered: bool


def reward_facts(
    bandit: Environment,
    *,
    horizon: int,
    bounds: Bounds | None = None,
    sigma: float | None = None,
    ordered: bool = False,
) -> RewardFacts:
    """Collect the facts given by the user and those evident from the arms; refuse bounds that a reward exceeds.

    If all rewards are 0 or 1, these are the bounds unless you give others.

    >>> from dirichlet_bandits import Bandit, Bernoulli
    >>> reward_facts(Bandit([Bernoulli(0.4), Bernoulli(0.6)]), horizon=100).facts["family"]
    ('bernoulli',)
    """
    low, high = bandit.support(horizon)
    lower, upper = (-math.inf, math.inf) if bounds is None else two_bounds(bounds, finite=False)
    check_around((low, high), (lower, upper), bounds)
    if sigma is not None:
        positive_number("sigma", sigma)
    arms, starts = list(bandit.laws(horizon).values()), bandit.starts(horizon)
    family = _family(arms, (lower, upper))
    if family == "bernoulli":
        lower, upper = 0.0, 1.0
    atoms = _atoms(arms)
    objective = bandit.objective
    facts: dict[str, tuple[Any, ...]] = {
        "lower": (lower,) if math.isfinite(lower) else (),
        "upper": (upper,) if math.isfinite(upper) else (),
        "sigma": () if sigma is None else (float(sigma),),
        "family": (*([family] if family else []), *([] if sigma is None else ["gaussian"])),
        "level": (objective.level,) if isinstance(objective, CVaR) else (),
        "support": () if atoms is None or len(atoms) > MOST_VALUES else (tuple(atoms.tolist()),),
        "horizon": (horizon,),
        "changes": (len(starts) - 1,) if len(starts) > 1 else (),
        "segments": (len(starts),),
    }
    return RewardFacts(facts, (low, high), ordered)


def applicable(policy_class: type[Policy], known: RewardFacts, objective: Any = None) -> dict[str, Policy]:
    """Return the policies of a class that can be tried, by name; raise NotApplicableError if there are none.

    >>> from dirichlet_bandits import Bandit, Bernoulli, IMED, UCB1
    >>> known = reward_facts(Bandit([Bernoulli(0.4), Bernoulli(0.6)]), horizon=100)
    >>> applicable(IMED, known)
    {'IMED': IMED(family='bernoulli', sigma=None)}
    >>> applicable(UCB1, known)
    Traceback (most recent call last):
    dirichlet_bandits.experiments.applicable.NotApplicableError: needs the standard deviation of the rewards (sigma)
    """
    fields = [field for field in dataclasses.fields(policy_class) if field.init]  # type: ignore[arg-type]
    if not policy_class.wraps and policy_class.ordered_arms and not known.ordered:
        raise NotApplicableError("needs arms in an order along which the means rise and then fall (ordered)")
    if not isinstance(objective, Mean | None) and not any(field.name == "level" for field in fields):
        raise NotApplicableError(f"looks for the best mean, but the objective is {objective.name}")
    choices = _choices(fields, known)
    made, refused = _made(policy_class, choices)
    if not isinstance(objective, Mean | None):  # a class may have both kinds
        made = [policy for policy in made if not isinstance(policy.objective, Mean)]
    if not made:
        unknown = [FACTS[name] for name, values in choices.items() if values == (None,) and name != "sigma"]
        raise NotApplicableError("needs " + " or ".join(unknown) if unknown else f"cannot be created: {refused}")
    low, high = known.bounds
    fit = [policy for policy in made if policy.reward_bounds[0] <= low and high <= policy.reward_bounds[1]]
    if not fit:
        bottom, top = made[0].reward_bounds
        raise NotApplicableError(f"expects rewards in [{bottom:g}, {top:g}], but these lie in [{low:g}, {high:g}]")
    return dict(zip(_names(policy_class.__name__, fit, list(choices)), fit, strict=True))


class NotApplicableError(Exception):
    """Why no policy of a class can be tried."""


def all_applicable(
    classes: Sequence[str], known: RewardFacts, objective: Any = None
) -> tuple[dict[str, Policy], dict[str, str]]:
    """Return the policies of these classes that can be tried, by name, and why the other classes cannot."""
    tried: dict[str, Policy] = {}
    left_out: dict[str, str] = {}
    for name in classes:
        try:
            tried |= applicable(all_policies()[name], known, objective)
        except NotApplicableError as reason:
            left_out[name] = str(reason)
    return tried, left_out


def _choices(fields: Sequence[Any], known: RewardFacts) -> dict[str, tuple[Any, ...]]:
    """Return the values to try for each field that represents a fact, including None if that is the default."""
    choices: dict[str, tuple[Any, ...]] = {}
    missing, unknown = [], []
    for field in fields:
        values = known.facts.get(field.name, ())
        if field.name not in FACTS:
            if field.default is MISSING and field.default_factory is MISSING:
                unknown.append(repr(field.name))
        elif field.default is None and field.name != "horizon":  # a known horizon is always passed
            choices[field.name] = (None, *values)
        elif values:
            choices[field.name] = values
        else:
            missing.append(FACTS[field.name])
    if unknown:
        missing.append(f"a value for {' and for '.join(unknown)}, which rewards do not determine")
    if missing:
        raise NotApplicableError("needs " + " and ".join(missing))
    return choices


def _made(
    policy_class: type[Policy], choices: Mapping[str, tuple[Any, ...]]
) -> tuple[list[Policy], ArgumentError | None]:
    """Return all combinations that the class accepts, and the error for the last one that it refused."""
    made, refused = [], None
    for values in itertools.product(*choices.values()):
        try:
            made.append(policy_class(**dict(zip(choices, values, strict=True))))
        except ArgumentError as error:
            refused = error
    return made, refused


def _names(called: str, policies: Sequence[Policy], fields: Sequence[str]) -> list[str]:
    """Name policies by their class; if there are several, add the first value in which they differ, or all."""
    different = [name for name in fields if len({getattr(policy, name) for policy in policies}) > 1]
    words = []
    for policy in policies:
        values = {name: getattr(policy, name) for name in different if getattr(policy, name) is not None}
        words.append([x if isinstance(x, str) else f"{name} {x:g}" for name, x in values.items()])
    short = [" ".join([called, *some[:1]]) for some in words]
    return short if len(set(short)) == len(short) else [f"{called} {', '.join(some)}".strip() for some in words]


def _family(arms: Sequence[Any], bounds: Bounds) -> str | None:
    """Return the family that fits all rewards (0 and 1, whole numbers, positive numbers), or None."""
    fits = [_fitting(arm) for arm in arms]
    for family in ("bernoulli", "poisson", "exponential") if fits else ():
        if family == "bernoulli" and not (bounds[0] in (-math.inf, 0.0) and bounds[1] in (1.0, math.inf)):
            continue  # other rewards are possible
        if all(family in arm for arm in fits):
            return family
    return None


def _fitting(arm: Any) -> set[str]:
    """Return the families that an arm's rewards fit; Gaussian is left out because it fits all."""
    evident = family_of(arm)
    if evident is not None:
        return {"bernoulli", "poisson"} if evident == "bernoulli" else {evident}
    if not hasattr(arm, "atoms"):
        return {"exponential"} if _is_positive(arm) else set()
    values = arm.atoms()[0]
    fits = {
        "bernoulli": np.isin(values, (0.0, 1.0)).all(),
        "poisson": (values >= 0.0).all() and (values == np.round(values)).all(),
        "exponential": (values > 0.0).all(),
    }
    return {family for family, fit in fits.items() if fit}


def _is_positive(arm: Any) -> bool:
    """Whether a continuous distribution is known to give only positive rewards, with probability one."""
    if not hasattr(arm, "support") or not hasattr(arm, "cdf"):
        return False
    low = float(arm.support()[0])
    return low > 0.0 or (low == 0.0 and float(arm.cdf(low)) == 0.0)


def _atoms(arms: Sequence[Any]) -> Any:
    """Return all possible values of the rewards in order, or None if an arm does not provide them."""
    if not arms or not all(hasattr(arm, "atoms") for arm in arms):
        return None
    return np.unique(np.concatenate([arm.atoms()[0] for arm in arms]))
