"""Warm starts: past rewards that a policy knows from the beginning, each with a weight between 0 and 1.

With the weight w, the rewards H of the past and those X that were observed since have the Dirichlet parameters

    (w, ..., w, 1, ..., 1),

the posterior of a Dirichlet process whose prior is the past, with a mass of w times the number of its rewards. A policy
that uses only counts and means sees the count N = w |H| + |X| and the mean (w sum H + sum X) / N. A weight of 1 is
the same as having observed the past, and 0 the same as having none. BDS, RDS and QDS use N in place of n, and
means in which each reward counts its weight; the bound or bonus keeps its parameter 1. The probability of winning a
duel is the crossing probability with these parameters, so propensities stay exact. Nothing is published about weights
between 0 and 1 for BDS, RDS and QDS: there, this is experimental. NPTS draws its indices with the same parameters.

Past rewards affect which arm comes next, and nothing else: summaries, intervals and estimates ignore them.

Borrowing uses the same weights: in each segment of a study, the past is what the other segments have observed so far.

Reference: Vashishtha and Maillard (2025), arXiv:2503.04518.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from dirichlet_bandits.engine.verbs import follows_time
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.registry import policies_with, takes_weights

MOST: Final = 100_000
"""Rewards of the past; they are stored with the study's settings."""


class Warm(NamedTuple):
    """Past rewards by the names of arms, in the study's own numbers, and their weight."""

    history: Mapping[str, Sequence[float]]
    weight: float


def check_warm(
    history: Mapping[str, Sequence[float]] | None, weight: float | None, arms: Sequence[str], policy: Policy
) -> None:
    """Refuse past rewards that do not fit the arms or the policy of a study."""
    if history is None and weight is None:
        return
    if history is None or not history.keys() <= set(arms):
        raise ArgumentError("history", f"past rewards by the names of arms: {', '.join(arms)}", history)
    if weight is None:
        raise ArgumentError("weight", "a number from 0 to 1, given together with history", weight)
    if weight > 0.0:
        _check_state(policy, "history")
    if 0.0 < weight < 1.0:
        _check_weights(policy, "weight", "0 or 1", weight)


def check_borrow(borrow: float | None, segments: object, history: object, policy: Policy) -> None:
    """Refuse a weight of the rewards of other segments that does not fit the study."""
    if borrow is not None and not segments:
        raise ArgumentError("borrow", "given together with segments", borrow)
    if borrow:
        if history is not None:
            raise ArgumentError("borrow", "0 in a study with a history", borrow)
        _check_state(policy, "borrow")
        _check_weights(policy, "borrow", "0", borrow)


def _check_state(policy: Policy, field: str) -> None:
    """Refuse a policy that cannot take rewards of the past."""
    if follows_time(policy.params):
        reason = "whose state depends on when trials were asked for"
        raise ArgumentError(field, f"None with {policy!r}, {reason}", "past rewards")


def _check_weights(policy: Policy, field: str, others: str, weight: object) -> None:
    """Refuse a policy that cannot take rewards with weights between 0 and 1."""
    if not takes_weights(policy):
        able = ", ".join(policies_with("weighted"))
        raise ArgumentError(field, f"{others} with {policy!r} (other weights: {able} without a level)", weight)
