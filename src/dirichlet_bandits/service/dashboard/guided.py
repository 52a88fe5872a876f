"""Turn answers about the rewards into a policy and the code that creates the study."""

import re
from typing import Final, NamedTuple

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live.direction import MINIMIZE
from dirichlet_bandits.service.dashboard.typed import real_number

MEASURES: Final = {
    "binary": "yes or no, such as a click or a sale",
    "bounded": "a number between two limits",
    "any": "any number, such as a yield or a revenue",
}
LEVEL: Final = 0.2
"""The share of worst rewards by which arms are judged if bad cases matter."""


class Answers(NamedTuple):
    """The answers about the rewards; limits are texts as typed."""

    measure: str = "any"
    direction: str = "maximize"
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


def arm_names(text: str) -> list[str]:
    """Return the names of arms, one per line, or separated by commas or semicolons on a single line.

    >>> arm_names("red\\nblue, dark"), arm_names("a, b; c")
    (['red', 'blue, dark'], ['a', 'b', 'c'])
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        lines = [part.strip() for part in re.split("[,;]", lines[0]) if part.strip()]
    if len(lines) < 2:
        raise ArgumentError("arms", "at least two names, one per line", text.strip())
    return lines


def code(name: str, arms: list[str], chosen: Chosen, direction: str, control: str | None) -> str:
    """Return the Python code that creates the study.

    >>> print(code("page", ["red", "blue"], Chosen("RDS()", (0.0, 1.0)), "maximize", "red"))
    db.create_study(
        'page',
        arms=['red', 'blue'],
        policy=db.RDS(),
        bounds=(0.0, 1.0),
        control='red',
    )
    """
    lines = [f"{name!r}", f"arms={arms!r}", f"policy=db.{chosen.policy}"]
    if chosen.bounds is not None:
        lines.append(f"bounds={chosen.bounds!r}")
    if direction == MINIMIZE:
        lines.append(f"direction={direction!r}")
    if control is not None:
        lines.append(f"control={control!r}")
    return "\n".join(["db.create_study(", *(f"    {line}," for line in lines), ")"])


def _limit(field: str, text: str) -> float:
    if not text.strip():
        raise ArgumentError(field, "a number, because rewards lie between two limits", text)
    return real_number(field, text)
