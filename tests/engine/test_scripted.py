"""The steps of the loop of scripts; whole games are compared with a naive loop in tests/environments."""

import math

import numpy as np
import pytest

from dirichlet_bandits.engine import loop as steps
from dirichlet_bandits.engine.run import Setup, start
from dirichlet_bandits.engine.tally import untried, untried_arms
from dirichlet_bandits.seeding import new_stream
from dirichlet_bandits.simulation.units import tape_table

HORIZON, N_ARMS = 6, 3


REWARDS = np.add.outer(10.0 * np.arange(N_ARMS), np.arange(HORIZON))  # 0, 1, ... of the first arm, 10, 11, ...


def script(**changes):
    """Two segments, and batches of one to three pulls."""
    fields = {
        "by_time": False,
        "drift": np.empty((0, N_ARMS)),
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
    tries = np.add(received, outstanding)
    assert set(untried(tries, np.array(received), 2).tolist()) == arms
    assert set(untried_arms(tries.tolist(), received, 2).tolist()) == arms  # as live studies call it


def test_the_policy_knows_the_arms_with_a_reward_under_numbers_without_gaps():
    reports = steps.new_reports(N_ARMS, HORIZON)
    reports.received[:] = [0, 2, 1]
    assert steps.renumber(reports) == 2
    assert reports.places.tolist() == [-1, 0, 1]
    assert steps.arms_at(reports, np.array([1, 0, 1])).tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [0.0, 1.0, 10.0, 2.0, 4.0, 14.0]),  # by pulls: the second segment begins at time 4
        ({"by_time": True}, [0.0, 1.0, 12.0, 3.0, 4.0, 15.0]),
        ({"drift": np.full((HORIZON, N_ARMS), 0.5)}, [0.5, 1.5, 10.5, 2.5, 4.5, 14.5]),
    ],
)
def test_a_pull_gives_the_reward_of_its_time_or_the_next_one_of_its_segment(changes, expected):
    plan, stream, rewards, segment = script(**changes), new_stream(), [], 0
    gaps, seeds = np.tile([0.5, 0.25, 0.0], (HORIZON, 1)), np.zeros((N_ARMS, 3), np.uint64)
    setup = Setup(HORIZON, np.array([3, HORIZON]), gaps, -math.inf, math.inf)
    run = start(setup, tape_table(REWARDS), seeds, *stream, np.zeros(2, np.int64))
    for arm in (0, 0, 1, 0, 0, 1):
        segment = steps.aim(run, plan, arm, segment)
        run.progress["regret"] += gaps[0, arm]
        rewards.append(steps.pull(run, arm))
    assert rewards == expected
    assert run.pulls.tolist() == [4, 2, 0]
    assert run.regret.tolist() == [1.25, 2.5]
    assert run.progress[0]["total"] == sum(rewards)


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
    for pull in range(2):
        steps.dispatch(plan, mail, reports, pull, pull, 0, float(pull))
    assert steps.open_batch(plan, mail, reports, 2, 0, 0) == (2, 2)
    assert reported(reports) == [(0, 0.0, 0), (1, 1.0, 1)]
