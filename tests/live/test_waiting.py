"""Estimates while trials wait: the log ends with the last reward, and missing rewards are like others of their arm."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.inference.logged_rounds import LoggedTrials
from dirichlet_bandits.live.local import local_of
from tests.live.test_lateness import clock, url  # noqa: F401

ARMS = ["a", "b"]
ALARM = 1e-5
MISSES = 0.09
"""How often an interval of two standard errors may miss: 5% with many rounds, and measured at most 8.3% with these."""


def coin(rng: np.random.Generator) -> float:
    return float(rng.random() < 0.5)


def told_first(study: db.Study, rng: np.random.Generator, rounds: int) -> None:
    for _ in range(rounds):
        study.tell(study.ask(), coin(rng))


def latest_wait(study: db.Study, rng: np.random.Generator, n: int) -> None:
    told_first(study, rng, n)
    study.ask(2 * n)


def only_the_last_is_told(study: db.Study, rng: np.random.Generator, n: int) -> None:
    told_first(study, rng, n)
    study.tell(study.ask(2 * n)[-1], coin(rng))


def nine_tenths_of_the_later_ones_are_abandoned(study: db.Study, rng: np.random.Generator, n: int) -> None:
    told_first(study, rng, n)
    for trial in study.ask(2 * n):
        if rng.random() < 0.1:
            study.tell(trial, coin(rng))
        else:
            study.abandon(trial)


def one_arm_is_slower(study: db.Study, rng: np.random.Generator, n: int) -> None:
    waiting: list[tuple[float, db.Trial]] = []
    for step in range(2 * n):
        for due, trial in [one for one in waiting if one[0] <= step]:
            study.tell(trial, coin(rng))
            waiting.remove((due, trial))
        trial = study.ask()
        waiting.append((step + rng.exponential({"a": n / 20, "b": n / 2}[trial.arm]), trial))


WAYS = [latest_wait, only_the_last_is_told, nine_tenths_of_the_later_ones_are_abandoned, one_arm_is_slower]


def missed(way, games: int, n: int) -> list[int]:
    """How many of the games have an estimate outside of two standard errors: by IPS, self-normalized, of both arms."""
    found = np.zeros(3, int)
    for seed in range(games):
        study = db.create_study("s", arms=ARMS, policy="EpsilonGreedy(0.5)", bounds=(0, 1), seed=seed)
        way(study, np.random.default_rng([seed, 7]), n)
        one, two = (study.estimate(arm) for arm in ARMS)
        found += [
            abs(one.ips - 0.5) > 1.96 * one.ips_error,
            abs(one.self_normalized - 0.5) > 1.96 * one.self_normalized_error,
            abs(one.ips - two.ips) > 1.96 * (one.ips_error + two.ips_error),  # of a sum, whatever the dependence
        ]
        assert study.estimate_difference(*ARMS).value == pytest.approx(one.ips - two.ips, abs=1e-9)
        assert one.low < 0.5 < one.high  # of level 95%, and far wider
    return found.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_errors_are_right_while_trials_wait(way) -> None:
    """With a rate of 9%, a false alarm in one of the twelve cases has a probability of 1.2e-4; before, 40% missed."""
    games = 30
    assert max(missed(way, games, 200)) <= stats.binom.isf(ALARM, games, MISSES)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_errors_are_right_while_trials_wait_in_many_games(way) -> None:
    """The same bound for 300 games: 17.5% may miss."""
    games = 300
    assert max(missed(way, games, 400)) <= stats.binom.isf(ALARM, games, MISSES)


def estimates(study: db.Study) -> Any:
    """All numbers of all kinds of estimates of some choices, up to rounding."""
    choices = ["a", {"a": 0.25, "b": 0.75}, db.EqualSplit()]
    found = [study.estimate(choice, bounds=(0, 1)) for choice in choices]
    risks = [study.estimate(choice, objective=db.CVaR(0.5), bounds=(0, 1)) for choice in choices]
    all_of = (*found, *risks, study.estimate_difference("a", "b", bounds=(0, 1)))
    numbers = [x for one in all_of for x in dataclasses.astuple(one) if isinstance(x, int | float)]
    return pytest.approx(numbers, rel=1e-9, nan_ok=True)


SETTINGS = {
    "plain": {"policy": "EpsilonGreedy(0.5)"},
    "rounds of several arms": {"policy": "RDS"},
    "floor": {"policy": "UCB1(1)", "floor": 0.1},
    "segments": {"policy": "EpsilonGreedy(0.5)", "segments": ["x", "y"]},
    "window": {"policy": "EpsilonGreedy(0.5)", "window": "24h", "late": 0},
    "window that abandons": {"policy": "EpsilonGreedy(0.5)", "window": "24h", "late": "abandon"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_trials_after_the_last_reward_change_no_estimate(name: str, clock) -> None:  # noqa: F811
    rng, settings = np.random.default_rng(5), SETTINGS[name]
    study = db.create_study("s", arms=ARMS, seed=2, **settings)
    parts = settings.get("segments", [None])
    for k in range(60):
        study.tell(study.ask(segment=parts[k % len(parts)], unit=f"u{k % 50}"), coin(rng))
    for part in parts:
        while local_of(study).journal().of(part).rest:
            study.tell(study.ask(segment=part), 1.0)
    clock.now += 86_400.0
    study.settle()
    before = estimates(study)
    assert study.estimate("a").missing == 0
    asked = [study.ask(segment=parts[k % len(parts)], unit=f"v{k}") for k in range(40)]
    assert estimates(study).expected == before
    if study.late == 0:
        study.tell_many(asked, [1.0] * 40)  # held
        study.void(asked[0], "a robot")
        assert estimates(study).expected == before
    else:
        for trial in asked[1:10]:
            study.abandon(trial)
        study.reopen(asked[5].id)
        assert estimates(study).expected == before
    study.retire_arm("b")  # pending trials of it stay
    assert estimates(study).expected == before
    last = asked[-1] if name != "rounds of several arms" else asked[-2]
    study.correct(last, 0.0) if study.late == 0 else study.tell(last, 0.0)
    clock.now += 86_400.0
    study.settle()
    assert estimates(study).expected != before
    assert study.replay().same


def test_past_trials_count_wherever_they_were_added() -> None:
    study = db.create_study("s", arms=ARMS, policy="EpsilonGreedy(0.5)", bounds=(0, 1), seed=2)
    told_first(study, np.random.default_rng(5), 30)
    study.ask(40)
    past = {"arm": ["a", "b"] * 10, "reward": [1.0] * 20, "propensity": [0.5] * 20}
    study.add_trials(past)
    first = db.create_study("s", arms=ARMS, policy="EpsilonGreedy(0.5)", bounds=(0, 1), seed=2)
    told_first(first, np.random.default_rng(5), 30)
    first.add_trials(past)
    assert estimates(study).expected == estimates(first)
    assert study.estimate("a").rounds == first.estimate("a").rounds > 45


def test_a_unit_that_returns_and_waits_changes_no_estimate() -> None:
    study = db.create_study("s", arms=ARMS, policy="EpsilonGreedy(0.5)", bounds=(0, 1), seed=2)
    rng = np.random.default_rng(5)
    for k in range(40):
        study.tell(study.ask(unit=f"u{k}"), coin(rng))
    before = estimates(study)
    for k in range(20):
        study.ask(unit=f"u{k}")
    study.tell(study.ask(unit="u0"), 1.0)
    assert estimates(study).expected == before


def test_an_interval_holds_if_only_good_rewards_are_reported() -> None:
    """Waiting trials before the last reward count as whatever is worst, so nothing is assumed about why they wait."""
    study = db.create_study("s", arms=ARMS, policy="EqualSplit", bounds=(0, 1), seed=2)
    rng = np.random.default_rng(5)
    for trial in study.ask(2000):
        if coin(rng):
            study.tell(trial, 1.0)
    for found in (study.estimate("a"), study.estimate("a", objective=db.CVaR(1.0))):
        assert found.low < 0.5 < found.high
        assert found.missing == 2 * found.rounds - study.summary()["told"].sum()  # in rounds of both arms
    assert study.estimate("a").ips > 0.9  # which assumes that rewards are missing at random


@pytest.mark.parametrize("weights", [[1.0, 1.0, 4.0, 4.0], [0.0, 0.0, 3.0, 1.0]])
def test_missing_rewards_stand_as_the_mean_of_their_arm(weights: list[float]) -> None:
    rewards = np.array([2.0, 5.0, np.nan, np.nan])
    log = LoggedTrials(np.arange(4), np.zeros(4, int), np.array(weights), rewards)
    mean = np.average(rewards[:2], weights=weights[:2] if any(weights[:2]) else None)
    assert log.weights().sum() == pytest.approx(sum(weights))
    assert log.weights()[2:].tolist() == [0.0, 0.0]
    assert (log.weight @ log.filled()) == pytest.approx(sum(weights) * mean)
    assert log.filled()[2:].tolist() == pytest.approx([mean, mean])


def test_the_spread_of_filled_rewards_is_that_of_the_estimate() -> None:
    """Against the derivative of the estimate with respect to how much each trial counts."""
    rng = np.random.default_rng(3)
    arm, weight, reward = rng.integers(0, 2, 40), rng.uniform(0.5, 4.0, 40), rng.normal(3.0, 1.0, 40)
    reward[rng.random(40) < 0.4] = np.nan

    def total(counted: np.ndarray) -> float:
        log = LoggedTrials(np.arange(40), arm, weight * counted, reward)
        return float(np.nansum(log.weights() * reward))

    log = LoggedTrials(np.arange(40), arm, weight, reward)
    for trial in range(40):
        step = np.zeros(40)
        step[trial] = 1e-6
        slope = (total(1.0 + step) - total(1.0 - step)) / 2e-6
        assert log.weight[trial] * log.filled()[trial] == pytest.approx(slope, rel=1e-6)
