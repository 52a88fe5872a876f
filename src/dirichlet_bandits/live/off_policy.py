"""Off-policy estimates: what another choice of arms would have earned, from the log.

The unit is the round (a single trial, unless the policy is round-based). Given everything known when round j
was drawn, arm a is in it with the recorded probability q_j(a); r_j(a) is its reward. For a choice that would
have taken arm a with probability pi_j(a) in round j,

    IPS              V = sum_j c_j / sum_j m_j,     c_j = sum_{a in round j} pi_j(a) r_j(a) / q_j(a),
                                                    m_j = sum_{a: q_j(a) > 0} pi_j(a)
    self-normalized  V = sum_j c_j / sum_j d_j,     d_j = sum_{a in round j} pi_j(a) / q_j(a)

E[c_j | the past] = sum_a pi_j(a) mu_a, so IPS is unbiased for the mean over the rounds in which q_j(a) > 0.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dirichlet_bandits.errors import ArgumentError, NotFoundError
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.description import describe
from dirichlet_bandits.live.event_notes import read_ask
from dirichlet_bandits.live.interrupts import walk
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.logged_rounds import LoggedRounds
from dirichlet_bandits.storage.events import ASK, CORRECT, LATE, NOTE, PAST, TELL, VOID, Event
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number


@dataclass(frozen=True)
class Estimate:
    """The mean reward per trial of another choice, estimated from the log of a study.

    ``unsupported`` names the arms that the choice would take but the log does not cover, with the share of the
    choice's weight on them: in rounds where their propensity was zero, or in all rounds if the arm was assigned and
    none of its trials has a reward. The estimates leave that share out; they are NaN if nothing is left.
    The log ends with the last round that has a reward: later rounds wait, and are left out. ``missing`` trials of the
    other ``rounds`` have no reward; their rewards are assumed to be like the others of their arm.
    If bounds of the rewards are known, the mean of the choice lies between ``low`` and ``high`` with the
    ``confidence``, at all times at once and even if the arms change (``live/off_policy_intervals.py``); otherwise both
    are NaN. This interval leaves out rounds in which an arm with a fixed weight could not come.

    ``effective_rounds`` is (sum d)^2 / sum d^2: how many rounds of the choice itself the log is worth.

    Reference: Horvitz and Thompson (1952), JASA 47; Hajek (1971); Swaminathan and Joachims (2015), The
    self-normalized estimator for counterfactual learning, NeurIPS.
    """

    ips: float
    ips_error: float
    self_normalized: float
    self_normalized_error: float
    rounds: int
    effective_rounds: float
    unsupported: dict[str, float]
    missing: int
    low: float = math.nan
    high: float = math.nan
    confidence: float = math.nan


def weights_of(choice: Mapping[str, float] | str, names: list[str]) -> Floats:
    """Return a choice that is not a policy as weights of all arms, which sum to 1."""
    given = {choice: 1.0} if isinstance(choice, str) else choice
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError("choice", "a policy, an arm, or weights of arms", choice)
    weights = np.zeros(len(names))
    for name, weight in given.items():
        weights[arm_number(names, name)] = finite_number(f"choice[{name!r}]", weight)
    if weights.min() < 0.0 or not math.isclose(weights.sum(), 1.0, rel_tol=1e-9):
        raise ArgumentError("choice", "weights that are not negative and sum to 1", choice)
    return weights


def arm_number(names: list[str], name: str) -> int:
    """Return the number of an arm of the study; refuse a name that no arm has."""
    if name not in names:
        raise NotFoundError(f"no arm {name!r} in the study")
    return names.index(name)


def wanted_by_weights(choice: Mapping[str, float] | str, rounds: LoggedRounds) -> Floats:
    """Spread the fixed weight of each arm over the rounds in which it could come, so that its total is right."""
    weights = weights_of(choice, rounds.journal.names)
    possible = rounds.possible & rounds.complete[:, None]
    shown = possible.sum(axis=0)
    spread = np.where(shown > 0, weights * rounds.complete.sum() / np.maximum(shown, 1), 0.0)
    return np.where(possible | (shown == 0), np.where(shown > 0, spread, weights), 0.0)


def wanted_by_policy(events: Sequence[Event], decider: Decider, rounds: LoggedRounds) -> Floats:
    """Return what the policy would do with the rewards known at each round; several arms of a round share it."""
    journal, policy = Journal(), decider.policy
    describe(policy)
    lower, upper = policy.reward_bounds
    # The policy need not accept a wrong reward that was corrected later, but it must accept past data.
    past = [event.value for event in events if event.kind == PAST and event.value is not None]
    rewards = rounds.journal.told.rewards + past
    if rewards and not lower <= min(rewards) <= max(rewards) <= upper:
        raise ArgumentError("choice", f"a policy for rewards from {min(rewards):g} to {max(rewards):g}", policy)
    wanted = np.zeros_like(rounds.propensities)
    row = 0

    def look(event: Event) -> None:
        nonlocal row
        if event.data is not None:
            segment = read_ask(event.note).segment if event.kind == ASK else None
            chances = decider.of(segment).propensities(journal.of(segment))
            wanted[row, : chances.size] = chances / chances.sum()
        row += event.kind == PAST or event.data is not None
        journal.apply([event])

    walk(list(events_within_bounds(events, lower, upper)), look)
    return wanted


def estimate_rounds(rounds: LoggedRounds, wanted: Floats) -> Estimate:
    """Return both estimates of a choice that takes arms with the ``wanted`` probabilities, one row per round.

    Standard errors treat the rounds as a martingale: sqrt(sum of squared deviations).
    """
    log, n = rounds.logged(wanted, rounds.complete), rounds.complete.size
    arms = np.arange(len(rounds.journal.names))
    unanswered = np.isin(arms, log.arm) & ~np.isin(arms, log.arm[log.told])
    possible = rounds.possible & ~unanswered
    weight = np.where(unanswered[log.arm], 0.0, log.weight)
    c, d = np.bincount(log.row, weight * log.filled(), n), np.bincount(log.row, weight, n)
    m = np.where(possible & rounds.complete[:, None], wanted, 0.0).sum(axis=1)
    ips = _ratio(c.sum(), m.sum()) if d.any() else math.nan  # without a reward of the choice, nothing is known
    normalized = _ratio(c.sum(), d.sum())
    return Estimate(
        ips=ips,
        ips_error=_ratio(math.sqrt(np.square(c - ips * m).sum()), m.sum()),
        self_normalized=normalized,
        self_normalized_error=_ratio(math.sqrt(np.square(c - normalized * d).sum()), d.sum()),
        rounds=int(rounds.complete.sum()),
        effective_rounds=log.effective_rounds(),
        unsupported=rounds.unsupported(wanted, possible),
        missing=int(log.told.size - log.told.sum()),
    )


def _ratio(a: float, b: float) -> float:
    return float(a / b) if b > 0.0 else math.nan


def events_within_bounds(events: Sequence[Event], lower: float, upper: float) -> Iterator[Event]:
    """Yield the events without rewards outside of the bounds, mistakes that are voided or corrected later.

    A policy with these bounds would have refused such a reward. So its trial waits until the reward is corrected, and a
    correction to a value outside of the bounds voids the reward.
    """
    waiting: set[int | None] = set()  # trials whose reward was refused
    voided: set[int | None] = set()  # trials without a reward that counts, after they had one
    for event in events:
        kind, trial = event.kind, event.trial
        good = event.value is None or lower <= event.value <= upper
        if kind == TELL and not good:
            waiting.add(trial)
            kind = NOTE
        elif kind == LATE and trial in waiting:
            kind = NOTE
        elif kind == CORRECT and trial in waiting:
            kind = TELL if good else NOTE
            waiting -= {trial} if good else set()
        elif kind == CORRECT and good:
            voided.discard(trial)
        elif kind == CORRECT or (kind == VOID and trial not in waiting):
            kind = NOTE if trial in voided else VOID
            voided.add(trial)
        elif kind == VOID:
            kind = NOTE
        yield event if kind == event.kind else event._replace(kind=kind, note="{}" if kind == NOTE else None)
