"""Lift in percent, the probability of being best, earnings and drift, beside the means of a summary."""

import numpy as np
import pytest

import dirichlet_bandits as db


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
