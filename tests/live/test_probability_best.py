"""Lift in percent, the probability of being best, earnings and drift, beside the means of a summary."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.inference.drift import drifting
from dirichlet_bandits.inference.probability_best import probability_best
from dirichlet_bandits.numerics.changes import Threshold, glr_threshold


def test_the_probability_of_being_best_is_that_of_beta_posteriors() -> None:
    """Against 200,000 draws: five standard errors are one false alarm in a million."""
    rng = np.random.default_rng(0)
    for counts in (((3, 1), (10, 12), (0, 0)), ((900, 100), (880, 120)), ((5, 0), (0, 40), (5, 1), (30, 10))):
        arms = [np.repeat([1.0, 0.0], pair) for pair in counts]
        found = probability_best(arms, (0.0, 1.0))
        drawn = np.stack([rng.beta(1 + wins, 1 + losses, 200_000) for wins, losses in counts]).argmax(axis=0)
        shares = np.bincount(drawn, minlength=len(arms)) / 200_000
        assert found.sum() == pytest.approx(1.0)
        assert np.all(np.abs(found - shares) < 5.0 * np.sqrt(0.25 / 200_000))


def test_the_probability_of_being_best_without_bounds() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.normal(0.0, 1.0, 50), rng.normal(0.2, 2.0, 80)
    error = math.sqrt(one.var() / 51 + two.var() / 81)
    want = 0.5 * math.erfc((one.mean() - two.mean()) / error / math.sqrt(2.0))
    assert probability_best([one, two], (-math.inf, math.inf))[1] == pytest.approx(want, abs=1e-4)
    assert np.isnan(probability_best([one, two[:1]], (-math.inf, math.inf))).all()


def test_what_a_summary_says_beside_the_means() -> None:
    study = db.create_study("page", arms=["a", "b", "c"], bounds=(0, 1), seed=1)
    before = study.summary()
    assert before["lift_percent"].isna().all()
    assert before["probability_best"].tolist() == pytest.approx([1 / 3] * 3)
    assert (before.attrs["earned"], before.attrs["equal_split"], before.attrs["drift"]) == (0.0, 0.0, [])
    study.add_trials({"arm": ["a"] * 4 + ["b"] * 2, "reward": [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]})
    frame = study.summary()
    assert frame.attrs["compared_with"] == "a"
    assert frame["lift_percent"]["b"] == pytest.approx(100 * (0.5 / 0.75 - 1))
    assert (frame.attrs["earned"], frame.attrs["equal_split"]) == (4.0, pytest.approx(6 * 0.625))
    costs = db.create_study("costs", arms=["a", "b"], bounds=(0, 1), direction="minimize", control="b")
    costs.add_trials({"arm": ["a", "b"] * 30, "reward": [0.2, 0.4] * 30})
    said = costs.summary()
    assert said["lift_percent"].tolist() == pytest.approx([-50.0, 0.0])
    assert said["probability_best"]["a"] > 0.5
    risk = db.create_study("risk", arms=["a", "b"], policy="RDS(level=0.2)", bounds=(0, 1))
    assert risk.summary()["probability_best"].isna().all()


def test_a_printed_summary_and_a_notebook_compare_with_an_equal_split() -> None:
    study = db.create_study("page", arms=["a", "b"], bounds=(0, 1), seed=1)
    study.add_trials({"arm": ["a", "b", "b", "b"] * 100, "reward": [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0] * 50})
    for shown in (str(study.summary()), study._repr_html_()):
        assert "earned 250; with an equal split about 233.3 (7% more than that)" in shown
        assert "-25.0%" in shown  # means of 1/2 and 2/3
        assert "99.8%" in shown
        assert "careful" not in shown


def test_an_interval_that_does_not_contain_the_mean_is_doubtful() -> None:
    for low, high, told in ((0.2, 0.6, 300), (0.0, 1.0, 300)):  # the second one leaves nothing of the interval
        study = db.create_study("page", arms=["a", "b"], bounds=(0, 1), seed=1)
        rng = np.random.default_rng(3)
        changes = np.concatenate([rng.random(told) < low, rng.random(told) < high]).astype(float)
        steady = (rng.random(2 * told) < 0.5).astype(float)
        study.add_trials({"arm": ["a", "b"] * 2 * told, "reward": np.stack([changes, steady], 1).ravel()})
        summary = study.summary()
        words = "careful: early and late rewards of a differ so much that its interval is doubtful"
        assert summary.attrs["interval"].endswith(words)
        assert words in " ".join(str(summary).split())


def test_the_summary_warns_of_an_arm_that_changes() -> None:
    study = db.create_study("page", arms=["a", "b"], bounds=(0, 10), seed=1)
    rng = np.random.default_rng(2)
    steady, jump = rng.random(400) < 0.5, rng.random(400) < np.repeat([0.2, 0.8], 200)
    study.add_trials({"arm": ["a", "b"] * 400, "reward": 10.0 * np.stack([steady, jump], axis=1).ravel()})
    assert study.summary().attrs["drift"] == ["b"]
    found = study.winner()
    assert found.drift == ("b",)
    assert str(found).endswith(
        "careful: the rewards of b do not look like one distribution: intervals and winners may be wrong"
    )
    free = db.create_study("free", arms=["a", "b"], seed=1)
    free.add_trials({"arm": ["a", "b"] * 400, "reward": 10.0 * np.stack([steady, jump], axis=1).ravel()})
    assert (free.summary().attrs["drift"], free.winner().drift) == (
        [],
        (),
    )  # without bounds nothing is promised, so nothing is tested


def test_drift_is_the_likelihood_ratio_against_its_proved_threshold() -> None:
    """A plain loop over all splits, with the level that each arm has."""
    rng = np.random.default_rng(3)

    def kl(p: float, q: float) -> float:
        return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)

    outcomes = set()
    for shift in np.linspace(0.3, 0.7, 9):
        x = (rng.random(120) < np.repeat([0.5 - shift / 2, 0.5 + shift / 2], 60)).astype(float)
        mean = x.mean()
        splits = [s * kl(x[:s].mean(), mean) + (120 - s) * kl(x[s:].mean(), mean) for s in range(1, 120)]
        want = max(splits) >= glr_threshold(int(Threshold.PROVED), 120, 0.05 * 0.9 / 2)
        assert drifting([x, np.empty(0)], [0, 0], (0.0, 1.0)) == ([0] if want else [])
        outcomes.add(want)
    assert outcomes == {True, False}


def false_alarms(games: int, n: int, seed: int) -> int:
    """How many games of three steady arms are ever warned of, at ten times."""
    rng, wrong = np.random.default_rng(seed), 0
    for _ in range(games):
        arms = [(rng.random(n) < 0.5).astype(float), rng.beta(0.1, 0.2, n), np.round(rng.random(n) * 3) / 3]
        times = np.unique(np.geomspace(5, n, 10).astype(int))
        wrong += any(drifting([x[:t] for x in arms], [0, 0, 0], (0.0, 1.0)) for t in times)
    return wrong


def test_steady_arms_are_rarely_warned_of() -> None:
    """200 games at 5% give more than 25 with probability 2e-5; the threshold is proved, so there are far fewer."""
    assert false_alarms(200, 300, 1) <= 25


@pytest.mark.slow
def test_steady_arms_are_rarely_warned_of_in_many_games() -> None:
    """2,000 games at 5% give more than 150 with probability 1e-6."""
    assert false_alarms(2000, 2000, 2) <= 150
