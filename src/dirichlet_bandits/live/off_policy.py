"""Off-policy estimates from the events of a study: they become arrays here, and estimates in ``inference``."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from dirichlet_bandits.arms import CVaR
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference import off_policy_intervals, risk
from dirichlet_bandits.inference.intervals import Bounds, are_finite
from dirichlet_bandits.inference.logged_rounds import LoggedRounds
from dirichlet_bandits.inference.off_policy import Estimate, Wanted, wanted_by_weights, wanted_in_rounds
from dirichlet_bandits.inference.off_policy_intervals import DifferenceEstimate
from dirichlet_bandits.inference.risk import RiskEstimate
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.description import describe
from dirichlet_bandits.live.direction import direction_for, mirrored
from dirichlet_bandits.live.estimating import Choice
from dirichlet_bandits.live.event_notes import read_ask
from dirichlet_bandits.live.interrupts import walk
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.logged_rounds import read_rounds
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import ASK, CORRECT, LATE, NOTE, PAST, TELL, VOID, Event
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import number_between


def estimate_mean(
    events: Sequence[Event], choice: Choice, seed: int, bounds: Bounds, confidence: float, direction: str
) -> Estimate:
    """Estimate what another choice would have earned, with an interval if the rewards have two bounds."""
    number_between("confidence", confidence, 0, 1)
    log, wanted = _chosen(events, choice, seed, direction)
    return off_policy_intervals.estimate_mean(log, wanted, bounds, confidence)


def estimate_difference(
    events: Sequence[Event], a: str, b: str, bounds: Bounds, confidence: float
) -> DifferenceEstimate:
    """Estimate by how much the rewards of one arm exceed those of another, from events with their data."""
    number_between("confidence", confidence, 0, 1)
    if not are_finite(bounds):
        raise ArgumentError("bounds", "two finite numbers between which all rewards lie: the study has none", bounds)
    return off_policy_intervals.estimate_difference(read_rounds(events)[1], a, b, bounds, confidence)


def estimate_cvar(
    events: Sequence[Event],
    choice: Choice,
    seed: int,
    objective: CVaR,
    bounds: Bounds,
    confidence: float,
    direction: str,
) -> RiskEstimate:
    """Estimate the CVaR of the rewards of another choice, from events that were read with their data.

    If the study has costs, the large ones are bad.
    """
    number_between("confidence", confidence, 0, 1)
    if not are_finite(bounds):
        expected = (
            "two finite numbers between which all rewards lie, for the policy knows none: "
            "without them one reward that has not been seen yet could move a CVaR by any amount"
        )
        raise ArgumentError("bounds", expected, bounds)
    log, wanted = _chosen(events, choice, seed, direction)
    turn = mirrored(direction, *bounds).turn
    found = risk.estimate_cvar(log._replace(reward=turn(log.reward)), wanted, objective, bounds, confidence)
    low, high = sorted((turn(found.low), turn(found.high)))
    return dataclasses.replace(found, value=turn(found.value), low=low, high=high)


def _chosen(events: Sequence[Event], choice: Choice, seed: int, direction: str) -> tuple[LoggedRounds, Wanted]:
    """Return the log of a study, and what another choice would have done in its rounds."""
    _, log = read_rounds(events)
    if not isinstance(choice, Policy):
        return log, wanted_by_weights(log, choice)
    decider = Decider(choice, seed, direction_for(choice, direction), with_floors=False)
    return log, wanted_in_rounds(log, _wanted_by_policy(events, decider, log))


def _wanted_by_policy(events: Sequence[Event], decider: Decider, log: LoggedRounds) -> Floats:
    """Return what the policy would do with the rewards known at each round; several arms of a round share it."""
    journal, policy = Journal(), decider.policy
    describe(policy)
    lower, upper = policy.reward_bounds
    # The policy need not accept a wrong reward that was corrected later, but it must accept past data.
    past = [event.value for event in events if event.kind == PAST and event.value is not None]
    rewards = [*log.reward[~np.isnan(log.reward)].tolist(), *past]
    if rewards and not lower <= min(rewards) <= max(rewards) <= upper:
        raise ArgumentError("choice", f"a policy for rewards from {min(rewards):g} to {max(rewards):g}", policy)
    wanted = np.zeros_like(log.propensities)
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
