"""What to do next in a study, in one sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from dirichlet_bandits.live import Trial


def next_step(rows: Sequence[Mapping[str, Any]], best: str | None, pending: Sequence[Trial], attrs: Any) -> str:
    """The sentence for these arms, the best first, and these pending trials.

    >>> rows = [{"arm": "a", "active": True, "told": 9, "low": 5.0, "high": 7.0},
    ...         {"arm": "b", "active": True, "told": 9, "low": 1.0, "high": 3.0}]
    >>> next_step(rows, "a", [], {"objective": "mean", "level": 0.95})
    'You may stop: a is better than every other arm, with 95 % confidence however often you look.'
    >>> next_step([], None, [], {"objective": "mean", "level": 0.95})
    'Ask for the first trial: every arm is tried once before the policy chooses.'
    """
    active = [row for row in rows if row["active"]]
    if pending:
        return f"Try {pending[0].arm} and tell the reward of trial {pending[0].id}{_more(len(pending) - 1)}."
    if not any(row["told"] for row in rows):
        return "Ask for the first trial: every arm is tried once before the policy chooses."
    untried = sum(not row["told"] for row in active)
    if untried:
        return f"Ask: {_count(untried)} no reward yet, and arms without one come first."
    if best is None:
        return "Ask for more trials: it is too early to say which arm is best."
    if attrs["objective"] != "mean":
        return f"Ask on, or stop with {best}: it has the best {attrs['objective']} so far."
    leader = next(row for row in active if row["arm"] == best)
    rivals = sum(not row["high"] < leader["low"] for row in active if row["arm"] != best)
    if not rivals:
        sure = f"with {100 * attrs['level']:g} % confidence however often you look"
        return f"You may stop: {best} is better than every other arm, {sure}."
    may = "1 other arm" if rivals == 1 else f"{rivals} other arms"
    return f"Ask on: {best} leads, but {may} may still be better."


def _more(n: int) -> str:
    return f"; {n} more {'waits' if n == 1 else 'wait'}" if n else ""


def _count(n: int) -> str:
    return "1 arm has" if n == 1 else f"{n} arms have"
