"""What is known about a study, and what to do next, in one sentence each."""

from collections.abc import Mapping, Sequence
from typing import Any

from dirichlet_bandits.live import Trial
from dirichlet_bandits.live.direction import MINIMIZE


def verdict(rows: Sequence[Mapping[str, Any]], attrs: Any) -> str:
    """Return what the rewards so far show, for the arms and the attributes of a summary.

    >>> rows = [{"arm": "a", "active": True, "told": 19, "low": 5.0, "high": 7.0},
    ...         {"arm": "b", "active": True, "told": 19, "low": 1.0, "high": 3.0}]
    >>> attrs = {"objective": "mean", "level": 0.95, "best_arm": "a", "control": None, "direction": "maximize"}
    >>> verdict(rows, attrs)
    'You may stop: a is better than every other arm, with 95% confidence however often you look.'
    >>> verdict([], attrs)
    'No rewards yet. Each arm is tried once before the policy chooses.'
    """
    if not any(row["told"] for row in rows):
        return "No rewards yet. Each arm is tried once before the policy chooses."
    untried = sum(row["active"] and not row["told"] for row in rows)
    best, control = attrs["best_arm"], attrs["control"]
    if untried:
        return f"Too early to tell: {'1 arm has' if untried == 1 else f'{untried} arms have'} no reward yet."
    if best is None:
        return f"Too early to tell: {attrs['best_arm_reason']}."
    if attrs["objective"] != "mean":
        return f"{best} has the best {attrs['objective']} so far."
    leader = next(row for row in rows if row["arm"] == best)
    rivals = sum(row["active"] and row["arm"] != best and not _apart(leader, row, attrs["direction"]) for row in rows)
    sure = f"with {100 * attrs['level']:g}% confidence however often you look"
    if not rivals:
        return f"You may stop: {best} is better than every other arm, {sure}."
    may = "1 other arm" if rivals == 1 else f"{rivals} other arms"
    if control is not None and best != control and _lifted(leader, attrs["direction"]):
        return f"{best} is better than the control, {sure}; {may} may be better still."
    return f"{best} leads, but {may} may still be better."


def to_do(pending: Sequence[Trial], what: str) -> str:
    """Return what a person who can write should do next."""
    if not pending:
        return "Ask for the next trial."
    more = len(pending) - 1
    rest = f"; {more:,} more {'trial is' if more == 1 else 'trials are'} pending" if more else ""
    return f"Try {pending[0].arm} and report the {what} of trial {pending[0].id}{rest}."


def _apart(one: Mapping[str, Any], other: Mapping[str, Any], direction: str) -> bool:
    """Whether the intervals show that one arm is better than another."""
    return bool(one["high"] < other["low"] if direction == MINIMIZE else one["low"] > other["high"])


def _lifted(row: Mapping[str, Any], direction: str) -> bool:
    """Whether an arm is better than the control."""
    return bool(row["lift_high"] < 0.0 if direction == MINIMIZE else row["lift_low"] > 0.0)
