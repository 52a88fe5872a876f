"""Off-policy estimates from the events of a study: they become arrays here, and estimates in ``inference``."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from dirichlet_bandits.environments import CVaR
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
from dirichlet_bandits.live.events import PastAdded, event_of
from dirichlet_bandits.live.fields import Choice
from dirichlet_bandits.live.interrupts import walk
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.logged_rounds import read_rounds
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import Row
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import number_between


def estimate_mean(
    events: Sequence[Row], choice: Choice, seed: int, bounds: Bounds, confidence: float, direction: str
) -> Estimate:
    """Estimate what another choice would have earned, with an interval if the rewards have two bounds."""
    number_between("confidence", confidence, 0, 1)
    log, wanted = _chosen(events, choice, seed, direction)
    return off_policy_intervals.estimate_mean(log, wanted, bounds, confidence)


def estimate_difference(events: Sequence[Row], a: str, b: str, bounds: Bounds, confidence: float) -> DifferenceEstimate:
    """Estimate by how much the rewards of one arm exceed those of another, from events with their data."""
    number_between("confidence", confidence, 0, 1)
    if not are_finite(bounds):
        raise ArgumentError("bounds", "two finite numbers between which all rewards lie: the study has none", bounds)
    return off_policy_intervals.estimate_difference(read_rounds(events)[1], a, b, bounds, confidence)


def estimate_cvar(
    events: Sequence[Row],
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


def _chosen(events: Sequence[Row], choice: Choice, seed: int, direction: str) -> tuple[LoggedRounds, Wanted]:
    """Return the log of a study, and what another choice would have done in its rounds."""
    _, log = read_rounds(events)
    if not isinstance(choice, Policy):
        return log, wanted_by_weights(log, choice)
    decider = Decider(choice, seed, direction_for(choice, direction), with_floors=False)
    return log, wanted_in_rounds(log, _wanted_by_policy(events, decider, log))


def _wanted_by_policy(events: Sequence[Row], decider: Decider, log: LoggedRounds) -> Floats:
    """Return what the policy would do with the rewards known at each round; several arms of a round share it."""
    policy = decider.policy
    describe(policy)
    lower, upper = policy.reward_bounds
    journal = Journal(within=(lower, upper))
    # The policy need not accept a wrong reward that was corrected later, but it must accept past data.
    past = [row[4] for row in events if row[1] == PastAdded.kind and row[4] is not None]
    rewards = [*log.reward[~np.isnan(log.reward)].tolist(), *past]
    if rewards and not lower <= min(rewards) <= max(rewards) <= upper:
        raise ArgumentError("choice", f"a policy for rewards from {min(rewards):g} to {max(rewards):g}", policy)
    wanted = np.zeros_like(log.propensities)

    def look(row: Row) -> None:
        if row.data is not None:
            segment = event_of(row).segment
            chances = decider.of(segment).propensities(journal.of(segment))
            wanted[log.row[row.trial], : chances.size] = chances / chances.sum()
        journal.apply([row])

    walk(events, look)
    return wanted
