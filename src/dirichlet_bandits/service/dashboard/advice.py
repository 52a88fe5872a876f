"""What to do next in a study, in one sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from dirichlet_bandits.live import Trial
from dirichlet_bandits.live.direction import MINIMIZE


def next_step(rows: Sequence[Mapping[str, Any]], pending: Sequence[Trial], attrs: Any) -> str:
    """The sentence for these arms, these pending trials, and what the summary says of the whole study.

    >>> rows = [{"arm": "a", "active": True, "told": 19, "low": 5.0, "high": 7.0},
    ...         {"arm": "b", "active": True, "told": 19, "low": 1.0, "high": 3.0}]
    >>> attrs = {"objective": "mean", "level": 0.95, "best_arm": "a", "control": None, "direction": "maximize"}
    >>> next_step(rows, [], attrs)
    'You may stop: a is better than every other arm, with 95 % confidence however often you look.'
    >>> next_step([], [], attrs)
    'Ask for the first trial: every arm is tried once before the policy chooses.'
    """
    if pending:
        what = "cost" if attrs["direction"] == MINIMIZE else "reward"
        return f"Try {pending[0].arm} and tell the {what} of trial {pending[0].id}{_more(len(pending) - 1)}."
    if not any(row["told"] for row in rows):
        return "Ask for the first trial: every arm is tried once before the policy chooses."
    untried = sum(row["active"] and not row["told"] for row in rows)
    if untried:
        return f"Ask: {_count(untried)} no reward yet, and arms without one come first."
    best, control = attrs["best_arm"], attrs["control"]
    if best is None:
        return f"Ask for more trials: {attrs['best_arm_reason']}."
    if attrs["objective"] != "mean":
        return f"Ask on, or stop with {best}: it has the best {attrs['objective']} so far."
    leader = next(row for row in rows if row["arm"] == best)
    rivals = sum(row["active"] and row["arm"] != best and not _apart(leader, row, attrs["direction"]) for row in rows)
    sure = f"with {100 * attrs['level']:g} % confidence however often you look"
    if not rivals:
        return f"You may stop: {best} is better than every other arm, {sure}."
    may = "1 other arm" if rivals == 1 else f"{rivals} other arms"
    if control is not None and best != control and _lifted(leader, attrs["direction"]):
        return f"{best} is better than the control, {sure}; ask on if it matters that {may} may be better still."
    return f"Ask on: {best} leads, but {may} may still be better."


def _apart(one: Mapping[str, Any], other: Mapping[str, Any], direction: str) -> bool:
    """Whether the intervals say that one arm is better than another."""
    return bool(one["high"] < other["low"] if direction == MINIMIZE else one["low"] > other["high"])


def _lifted(row: Mapping[str, Any], direction: str) -> bool:
    return bool(row["lift_high"] < 0.0 if direction == MINIMIZE else row["lift_low"] > 0.0)


def _more(n: int) -> str:
    return f"; {n} more {'waits' if n == 1 else 'wait'}" if n else ""


def _count(n: int) -> str:
    return "1 arm has" if n == 1 else f"{n} arms have"
