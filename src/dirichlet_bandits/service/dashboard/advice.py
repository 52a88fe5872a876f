"""Describe what is known about a study, and what to do next, in one or two sentences each."""

from collections.abc import Mapping, Sequence
from typing import Any

from dirichlet_bandits.live import Trial
from dirichlet_bandits.live.winner import Winner


def verdict(rows: Sequence[Mapping[str, Any]], attrs: Any, found: Winner | None, warm: bool = False) -> str:
    """Return in words what the rewards so far show, from a summary's rows and attributes and the result of the rule.

    A ``warm`` study started from past rewards. A winner that is not stored yet may still be overtaken, so it is not
    called one.

    >>> verdict([], {}, None)
    'No rewards yet. Each arm is tried once before the policy chooses.'
    """
    if found is not None and found.arm is not None:
        error = f"the probability of error is at most {100 * found.delta:g}%"
        limit = "" if found.proved else ", in the limit of many trials"
        note = "" if found.note is None else f" Note: {found.note}."
        named = f"The winner is {found.arm}" if found.established_at else f"{found.arm} can be named the winner"
        return f"{named}: {error}{limit}.{note}"
    if warm and not any(row["told"] for row in rows):
        return "No rewards yet. The policy starts from past rewards, which do not count here."
    if not any(row["told"] for row in rows):
        return "No rewards yet. Each arm is tried once before the policy chooses."
    untried = sum(row["active"] and not row["told"] for row in rows)
    if untried:
        return f"Too early to tell: {'1 arm has' if untried == 1 else f'{untried} arms have'} no reward yet."
    if attrs["best_arm"] is None:
        return f"Too early to tell: {attrs['best_arm_reason']}."
    if found is None:
        return f"{attrs['best_arm']} has the best {attrs['objective']} so far."
    so_far = "" if found.forecast.startswith("no winner") else "there is no winner yet: "
    return f"{attrs['best_arm']} leads, but {so_far}{found.forecast}."


def to_do(pending: Sequence[Trial], what: str) -> str:
    """Return what a user with write access should do next."""
    if not pending:
        return "Ask for the next trial."
    more = len(pending) - 1
    rest = f"; {more:,} more {'trial is' if more == 1 else 'trials are'} pending" if more else ""
    return f"Try {pending[0].arm} and report the {what} of trial {pending[0].id}{rest}."
