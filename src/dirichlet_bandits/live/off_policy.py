"""Off-policy estimates from the events of a study: they become arrays here, and estimates in ``inference``."""

from collections.abc import Sequence

import numpy as np

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference.logged_rounds import LoggedRounds
from dirichlet_bandits.inference.off_policy import Wanted, wanted_by_weights, wanted_in_rounds
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.description import describe
from dirichlet_bandits.live.direction import direction_for
from dirichlet_bandits.live.events import PastAdded, event_of
from dirichlet_bandits.live.export import read_rounds
from dirichlet_bandits.live.fields import Choice
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.replay import walk
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import Row
from dirichlet_bandits.types import Floats


def chosen(events: Sequence[Row], choice: Choice, settings: StudySettings) -> tuple[LoggedRounds, Wanted]:
    """Return the rounds of the log, and how often the other choice would have had each arm in them."""
    _, log = read_rounds(events)
    if not isinstance(choice, Policy):
        return log, wanted_by_weights(log, choice)
    assert settings.seed is not None  # drawn when the study was created
    decider = Decider(choice, settings.seed, direction_for(choice, settings.direction), with_floors=False)
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
