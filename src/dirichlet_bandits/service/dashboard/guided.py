"""Turn answers about the rewards into a policy and the code that creates the study."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live import lateness
from dirichlet_bandits.live.direction import MAXIMIZE, MINIMIZE
from dirichlet_bandits.service.dashboard.typed import real_number
from dirichlet_bandits.specs import parse

MEASURES: Final = {
    "binary": "yes or no, such as a click or a sale",
    "bounded": "a number between two limits",
    "any": "any number, such as a yield or a revenue",
}
LEVEL: Final = 0.2
"""The share of worst rewards by which arms are judged if bad cases matter."""

REASONS: Final = {
    "ThompsonSampling": "Each answer is yes or no, so what is known about an arm is exactly the posterior of a coin.",
    "NPTS": "It needs nothing but the upper limit, whatever the distribution of the values.",
    "BinarizedTS": "It needs nothing but the two limits, and works for costs as well as for rewards.",
    "RDS": "It needs no limits and no assumption about the shape of the distribution.",
    "BCVTS": "It compares arms by the mean of their worst fifth, and needs only the upper limit.",
}
"""Why a policy suits the answers that lead to it."""


class Answers(NamedTuple):
    """The answers about the rewards; limits are texts as typed."""

    measure: str = "any"
    direction: str = MAXIMIZE
    matters: str = "average"
    lower: str = ""
    upper: str = ""


class Chosen(NamedTuple):
    """A policy as it is written in code, and the bounds of the rewards."""

    policy: str
    bounds: tuple[float, float] | None


def choose(answers: Answers) -> Chosen:
    """Return the policy that suits the answers.

    >>> choose(Answers("binary"))
    Chosen(policy="ThompsonSampling('bernoulli')", bounds=(0.0, 1.0))
    >>> choose(Answers("bounded", lower="0", upper="9"))
    Chosen(policy='NPTS(upper=9)', bounds=(0.0, 9.0))
    >>> choose(Answers("bounded", "minimize", lower="0", upper="9"))
    Chosen(policy='BinarizedTS(lower=0, upper=9)', bounds=(0.0, 9.0))
    >>> choose(Answers("any", matters="bad"))
    Chosen(policy='RDS(level=0.2)', bounds=None)
    """
    if answers.measure not in MEASURES:
        raise ArgumentError("measure", f"one of {', '.join(MEASURES)}", answers.measure)
    bounds = (0.0, 1.0) if answers.measure == "binary" else None
    if answers.measure == "bounded":
        bounds = _limit("lower", answers.lower), _limit("upper", answers.upper)
    if answers.matters == "bad":
        usable = bounds is not None and answers.direction != MINIMIZE
        return Chosen(
            f"BCVTS(upper={bounds[1]:g}, level={LEVEL})" if usable and bounds else f"RDS(level={LEVEL})", bounds
        )
    if answers.measure == "binary" and answers.direction != MINIMIZE:
        return Chosen("ThompsonSampling('bernoulli')", bounds)
    if bounds is not None:
        two_sided = f"BinarizedTS(lower={bounds[0]:g}, upper={bounds[1]:g})"
        return Chosen(two_sided if answers.direction == MINIMIZE else f"NPTS(upper={bounds[1]:g})", bounds)
    return Chosen("RDS()", None)


def arm_names(rows: Sequence[str], alone: bool = False) -> list[str]:
    """Return the names of arms from the rows of a form; a single row may list several, with commas or semicolons.

    A study with one arm is questioned: it needs ``alone``.

    >>> arm_names(["red", "", "blue, dark"]), arm_names(["a, b; c"])
    (['red', 'blue, dark'], ['a', 'b', 'c'])
    """
    names = [row.strip() for row in rows if row.strip()]
    if len(names) == 1 and not alone:
        names = [part.strip() for part in re.split("[,;]", names[0]) if part.strip()]
    if len(names) < (1 if alone else 2):
        raise ArgumentError("arms", "at least two names, because a study compares arms", "; ".join(names))
    return names


class Name:
    """What the code has instead of a value: the name of a variable, or an expression."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def code(name: str, settings: Mapping[str, Any]) -> str:
    """Return the Python code that creates a study with these settings, as JSON has them; past rewards have a name.

    >>> print(code("page", {"arms": ["red", "blue"], "policy": "RDS()", "bounds": [0.0, 1.0], "control": "red"}))
    db.create_study(
        'page',
        arms=['red', 'blue'],
        policy=db.RDS(),
        bounds=(0.0, 1.0),
        control='red',
    )
    """
    shown: dict[str, Any] = {"policy": Name(parse(settings["policy"]).written("db."))}
    if "bounds" in settings:
        shown["bounds"] = tuple(settings["bounds"])
    if "window" in settings:
        shown["window"] = lateness.shown(settings["window"])
    if "history" in settings:
        shown["history"] = Name("past")  # too long to be shown
    lines = [repr(name), *(f"{key}={shown.get(key, value)!r}" for key, value in settings.items())]
    return "\n".join(["db.create_study(", *(f"    {line}," for line in lines), ")"])


def _limit(field: str, text: str) -> float:
    if not text.strip():
        raise ArgumentError(field, "a number, because rewards lie between two limits", text)
    return real_number(field, text)
