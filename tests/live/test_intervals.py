"""What confidence sequences say of whole studies."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.inference.differences import lifts
from dirichlet_bandits.inference.intervals import asymptotic

SKEWED = "too few rewards for such a skewed sample"


def test_a_study_says_that_a_sample_is_too_skewed_and_that_few_rewards_determine_its_mean():
    rng = np.random.default_rng(5)
    study = db.create_study("s", arms=["rare", "even"], seed=1)
    rare = np.where(np.arange(240) % 100 == 50, 1.0, rng.uniform(0.0, 0.01, 240))
    left = rare.tolist()
    for trial in study.ask(480):
        study.tell(trial, left.pop() if trial.arm == "rare" else rng.normal())
    summary = study.summary()
    assert summary["no_interval"].fillna("").to_dict() == {"rare": SKEWED, "even": ""}
    assert "a few rewards determine the mean of rare, so give bounds" in summary.attrs["interval"]
    proved = study.summary(bounds=(-10.0, 10.0))
    assert proved["no_interval"].isna().all()
    assert proved.attrs["interval"].startswith("empirical-Bernstein")
    assert "careful" not in proved.attrs["interval"]


def test_studies_of_equal_arms_name_no_sure_winner():
    """Level 80%: at the rate of 2% measured above, more than 4 of 30 studies would be wrong with probability 3e-4."""
    rng, wrong = np.random.default_rng(9), 0
    for seed in range(30):
        study = db.create_study("s", arms=["a", "b", "c"], policy=db.RDS(), seed=seed, control="a")
        apart = lifted = False
        for _ in range(6):
            for _ in range(20):
                study.tell(study.ask(), float(rng.lognormal()))
            frame = study.summary(0.8)
            apart |= "apart" in frame.attrs["best_arm_reason"]
            lifted |= bool(((frame["lift_low"] > 0.0) | (frame["lift_high"] < 0.0)).any())
        wrong += apart or lifted
    assert wrong <= 4


def test_the_summary_uses_the_level_of_all_arms_together():
    rng = np.random.default_rng(8)
    study = db.create_study("s", arms=["a", "b"], seed=1, control="a")
    told = {"a": [], "b": [], "late": []}
    for trial in study.ask(90):
        told[trial.arm].append(float(rng.normal()))
        study.tell(trial, told[trial.arm][-1])
    study.add_arm("late")
    told["late"] = rng.normal(size=30).tolist()
    study.add_trials({"arm": ["late"] * 30, "reward": told["late"]})
    frame = study.summary(0.9)
    expected = {"a": 1 - 0.1 * 0.45, "b": 1 - 0.1 * 0.45, "late": 1 - 0.1 * 0.05}
    for arm, level in expected.items():
        assert frame.loc[arm, ["low", "high"]].tolist() == pytest.approx(asymptotic(np.array(told[arm]), level))
    unknown = -math.inf, math.inf
    one, two = (np.array(told[arm]) for arm in ("a", "b"))
    lift = lifts([one, two], unknown, [0, 0], 0, 0.9)[1]  # the only other arm of the start
    assert frame.loc["b", ["lift_low", "lift_high"]].tolist() == pytest.approx(lift)
    assert "for all arms together" in frame.attrs["interval"]
