"""The steps of the loop of worlds, each by itself; whole games are compared with a naive loop in tests/worlds."""

import math

import numpy as np
import pytest

from dirichlet_bandits.engine import world_loop as steps

HORIZON, N_ARMS = 6, 3


def script(**changes):
    """Rewards 0, 1, 2, ... of the first arm, 10, 11, ... of the second, 20, 21, ... of the third; two segments."""
    fields = {
        "rewards": np.add.outer(10.0 * np.arange(N_ARMS), np.arange(HORIZON)),
        "drift": np.empty((0, N_ARMS)),
        "gaps": np.tile([0.5, 0.25, 0.0], (HORIZON, 1)),
        "starts": np.array([0, 4, HORIZON]),
        "delays": np.empty((N_ARMS, 0), np.int64),
        "window": HORIZON,
        "late": math.nan,
        "batches": np.array([0, 2, 3, HORIZON]),
        "fewest": 2,
    }
    return steps.Script(**fields | changes)


def reported(reports):
    n = reports.number[0]
    return list(zip(reports.arms[:n].tolist(), reports.rewards[:n].tolist(), reports.pulls[:n].tolist(), strict=True))


def test_rewards_are_reported_in_the_order_of_their_due_times_then_of_their_pulls():
    mail, reports = steps.new_mail(HORIZON), steps.new_reports(N_ARMS, HORIZON)
    reports.outstanding[:] = [2, 1, 1]
    for pull, due, arm, value in [(0, 3, 0, 0.1), (1, 2, 1, 0.2), (2, 3, 0, math.nan), (3, HORIZON + 1, 2, 0.3)]:
        steps.post(mail, pull, due, arm, value)
    for due in range(HORIZON + 1):
        steps.receive(mail, due, reports)
    assert reported(reports) == [(1, 0.2, 1), (0, 0.1, 0)]  # one is lost, one comes after the horizon
    assert reports.received.tolist() == [1, 1, 0]
    assert reports.outstanding.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("received", "outstanding", "arms"),
    [
        ([0, 0, 0], [0, 0, 0], {0, 1, 2}),
        ([1, 0, 0], [0, 1, 0], {2}),  # never tried
        ([1, 0, 0], [0, 1, 1], {0, 1, 2}),  # all tried, but one reward is too few
        ([1, 0, 0], [1, 1, 1], {1, 2}),  # those with the fewest tries
        ([1, 1, 0], [0, 0, 1], set()),  # the policy is asked
    ],
)
def test_arms_that_come_before_the_policy_is_asked(received, outstanding, arms):
    reports = steps.new_reports(N_ARMS, HORIZON)
    reports.received[:], reports.outstanding[:] = received, outstanding
    assert set(steps.untried(reports, 2, np.random.default_rng(0)).tolist()) == arms


def test_the_policy_knows_the_arms_with_a_reward_under_numbers_without_gaps():
    reports = steps.new_reports(N_ARMS, HORIZON)
    reports.received[:] = [0, 2, 1]
    assert steps.renumber(reports) == steps.n_received(reports) == 2
    assert reports.places.tolist() == [-1, 0, 1]
    assert steps.arms_at(reports, np.array([1, 0, 1])).tolist() == [2, 1, 2]


def test_a_segment_begins_with_the_first_of_its_rewards():
    plan, tally = script(drift=np.full((HORIZON, N_ARMS), 0.5)), steps.new_script_tally(N_ARMS, 2)
    times, rewards = np.array([3, HORIZON]), []
    for arm in (0, 0, 1, 0, 0, 1):
        clock = tally.progress[0]["clock"]
        rewards.append(steps.reward_at(plan, clock, arm, steps.next_entry(plan, tally, arm)))
        steps.count_pull(plan, times, tally, arm, rewards[-1])
    assert rewards == [0.5, 1.5, 10.5, 2.5, 4.5, 14.5]
    assert tally.pulls.tolist() == [4, 2, 0]
    assert tally.used.tolist() == [1, 1, 0]
    assert tally.regret.tolist() == [1.25, 2.5]
    assert tally.progress[0]["total"] == sum(rewards)


@pytest.mark.parametrize(("delay", "due", "value"), [(0, 2, 7.0), (2, 4, 7.0), (3, 4, -1.0)])
def test_a_reward_that_takes_longer_than_the_window_is_replaced_at_its_end(delay, due, value):
    plan = script(delays=np.full((N_ARMS, HORIZON), delay), window=2, late=-1.0)
    mail, reports = steps.new_mail(HORIZON), steps.new_reports(N_ARMS, HORIZON)
    steps.dispatch(plan, mail, reports, 1, 2, 0, 7.0)
    assert reports.outstanding.tolist() == [0, 0, 1]
    steps.receive(mail, due, reports)
    assert reported(reports) == [(2, value, 1)]


def test_a_batch_reports_all_that_became_due_since_the_last_one():
    plan, mail, reports = script(), steps.new_mail(HORIZON), steps.new_reports(N_ARMS, HORIZON)
    tally = steps.new_script_tally(N_ARMS, 1)
    for pull in range(2):
        steps.dispatch(plan, mail, reports, pull, pull, 0, float(pull))
    tally.progress[0]["clock"] = 2
    steps.open_batch(plan, mail, reports, tally.progress[0])
    assert reported(reports) == [(0, 0.0, 0), (1, 1.0, 1)]
    assert (tally.progress[0]["batch"], tally.progress[0]["received"]) == (2, 2)
