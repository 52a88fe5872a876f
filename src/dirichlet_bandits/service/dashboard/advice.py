"""Describe what is known about a study, and what to do next, in one or two sentences each."""

from collections.abc import Mapping, Sequence
from typing import Any

from dirichlet_bandits.inference.winner import Winner
from dirichlet_bandits.live import Trial
from dirichlet_bandits.service.dashboard.wording import sentence


def verdict(rows: Sequence[Mapping[str, Any]], attrs: Any, found: Winner | None, warm: bool = False) -> str:
    """Return in words what the rewards so far show, from a summary's rows and attributes and the result of the rule.

    The first line is a headline; there may be a second one with details. A ``warm`` study started from past rewards. A
    winner that is not stored yet may still be overtaken, so it is not called one.

    >>> verdict([], {}, None)
    'No rewards yet.\\nEach arm is tried once before the policy chooses.'
    """
    if found is not None and found.arm is not None:
        return _winner(found)
    if not any(row["told"] for row in rows):
        return f"No rewards yet.\n{_without_rewards(rows, warm)}"
    untried = sum(row["active"] and not row["told"] for row in rows)
    if untried:
        return f"Too early to tell: {'1 arm has' if untried == 1 else f'{untried} arms have'} no reward yet."
    if attrs["best_arm"] is None:
        return f"Too early to tell: {attrs['best_arm_reason']}."
    if found is None:
        return f"{attrs['best_arm']} has the best {attrs['objective']} so far."
    if found.more is not None or not found.forecast.startswith("no winner"):
        return f"{attrs['best_arm']} leads, but there is no winner yet.\n{sentence(found.forecast)}"
    words, _, advice = found.forecast.partition("; ")
    return f"{attrs['best_arm']} leads, but {words}." + (f"\n{sentence(advice)}" if advice else "")


def _winner(found: Winner) -> str:
    """Return who has won, and what could be wrong with that."""
    note = "" if found.note is None else f"\nNote: {found.note}."
    named = f"The winner is {found.arm}" if found.established_at else f"{found.arm} can be named the winner"
    return f"{named}: {found.claim}.{note}"


def _without_rewards(rows: Sequence[Mapping[str, Any]], warm: bool) -> str:
    held = sum(row.get("held", 0) for row in rows)
    if held:
        when = "is held until the window of its trial closes" if held == 1 else "are held until their windows close"
        return f"{held:,} {when}."
    if warm:
        return "The policy starts from past rewards, which do not count here."
    return "Each arm is tried once before the policy chooses."


def to_do(pending: Sequence[Trial], what: str, active: Sequence[str]) -> str:
    """Return what a user with write access should do next; no arm that was retired is to be tried.

    >>> to_do([], "reward", ["red"])
    'Ask for the next trial.'
    """
    pending = [trial for trial in pending if trial.arm in active]
    if not pending:
        return "Ask for the next trial."
    more = len(pending) - 1
    rest = f"; {more:,} more {'trial is' if more == 1 else 'trials are'} pending" if more else ""
    return f"Try {pending[0].arm} and report the {what} of trial {pending[0].id}{rest}."
