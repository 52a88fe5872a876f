"""Warm starts: past rewards decide with their weight, and count for nothing else."""

import numpy as np
import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.policies.dirichlet.probability import WeightedDuels
from dirichlet_bandits.policies.npts.rule import WeightedIndices
from tests.live.test_lateness import url  # noqa: F401

ARMS = ["a", "b", "c"]
HISTORY = {"a": [0.2, 0.4, 0.3, 0.25], "b": [0.7, 0.5, 0.45]}


def fed(study, steps=40, seed=0):
    """Tell rewards that depend on the arm and the number of its trial only."""
    for _ in range(steps):
        trial = study.ask()
        k = int((study.trials_dataframe()["arm"] == trial.arm).sum())
        study.tell(trial, float(np.random.default_rng([seed, ARMS.index(trial.arm), k]).random()))
    return study


@pytest.mark.parametrize("policy", ["RDS", "UCB1(sigma=0.5)", "NPTS(upper=1)", "BinarizedTS(0, 1)"])
def test_a_weight_of_one_is_the_same_as_having_observed_them(policy):
    warm = db.create_study("s", arms=ARMS, policy=policy, seed=4, history=HISTORY, weight=1)
    observed = db.create_study("s", arms=ARMS, policy=policy, seed=4)
    rows = [(arm, reward) for arm, rewards in HISTORY.items() for reward in rewards]
    observed.add_trials({"arm": [arm for arm, _ in rows], "reward": [reward for _, reward in rows]})
    for study in (warm, observed):
        study.tell(study.ask(), 0.55)  # the arm that was never tried comes first
    assert (warm.pending, warm.trials_dataframe()["arm"][0]) == ([], "c")
    if policy != "BinarizedTS(0, 1)":  # which tosses coins of its own for each
        assert warm.propensities() == pytest.approx(observed.propensities(), rel=1e-9)
    assert fed(warm).replay().same


@pytest.mark.parametrize("policy", ["RDS", "UCB1(sigma=0.5)"])
def test_a_weight_of_zero_is_the_same_as_not_having_them(policy):
    warm = fed(db.create_study("s", arms=ARMS, policy=policy, seed=4, history=HISTORY, weight=0))
    without = fed(db.create_study("s", arms=ARMS, policy=policy, seed=4))
    columns = ["arm", "propensity", "reward"]
    pd.testing.assert_frame_equal(warm.trials_dataframe()[columns], without.trials_dataframe()[columns])


@pytest.mark.parametrize(
    "policy",
    [db.RDS(), db.RDS(rho="log"), db.BDS(upper=1.0), db.BDS(rho=2.0, gamma=0.1), db.QDS(), db.QDS(alpha=0.4)],
    ids=repr,
)
def test_weighted_duels_are_those_of_the_policy_where_the_weight_is_one(policy):
    rng = np.random.default_rng(3)
    for _ in range(5):
        past = [rng.random(rng.integers(1, 9)) for _ in range(4)]
        weighted = WeightedDuels(policy, past[:2] + [x[:0] for x in past[2:]], 1.0)
        weighted.learn([2] * past[2].size + [3] * past[3].size, [*past[2].tolist(), *past[3].tolist()])
        np.testing.assert_allclose(weighted.propensities(), db.propensities(policy, past), rtol=1e-9)


@pytest.mark.parametrize("policy", [db.RDS(), db.BDS(upper=1.0), db.QDS(alpha=0.3)], ids=repr)
def test_weighted_duels_decide_as_often_as_they_say(policy):
    past = [np.array([0.2, 0.9, 0.4]), np.array([0.5, 0.6, 0.7, 0.3, 0.8]), np.array([0.1, 0.75])]
    weighted = WeightedDuels(policy, past, 0.3)
    weighted.learn([0, 1, 1, 2], [0.3, 0.6, 0.7, 0.5])
    rng, n = np.random.default_rng(0), 4000
    drawn = np.zeros(3)
    for _ in range(n):
        drawn[weighted.select(rng)] += 1
    chances = weighted.propensities()
    assert 0.01 < chances.min() < chances.max() < 1.0
    # Three binomial shares, each beyond 5 standard deviations with a probability below 6e-7.
    assert (np.abs(drawn / n - chances) < 5.0 * np.sqrt(chances * (1.0 - chances) / n)).all()


@pytest.mark.parametrize(
    "policy", ["RDS", "NPTS(upper=1)", "UCB1(sigma=0.5)", "ThompsonSampling('gaussian', sigma=0.5)"]
)
def test_past_rewards_decide_and_count_for_nothing_else(policy, url):  # noqa: F811
    study = db.create_study("s", arms=ARMS, policy=policy, storage=url, seed=4, history=HISTORY, weight=0.2)
    assert study.propensities() == {"a": 0.0, "b": 0.0, "c": 1.0}
    assert study.summary()["told"].sum() == len(study) == 0
    fed(study, 25)
    log = study.trials_dataframe()
    assert study.summary()["mean"].to_dict() == pytest.approx(
        log.groupby("arm")["reward"].mean().reindex(ARMS).to_dict(), nan_ok=True
    )
    assert study.estimate("b").rounds == log["round"].nunique()
    assert study.replay().same
    if url:
        again = db.load_study("s", url)
        assert (again.history, again.weight) == (HISTORY, 0.2)
        assert again.replay().same
        assert again.ask()[:3] == study.pending[0][:3]


def test_weighted_indices_are_those_of_npts_and_decide_as_often_as_they_say():
    rng = np.random.default_rng(3)
    past = [rng.random(5), rng.random(3), rng.random(7)]
    weighted = WeightedIndices(db.NPTS(upper=1.0), [past[0], past[1], past[2][:0]], 1.0)
    weighted.learn([2] * 7, past[2].tolist())
    np.testing.assert_allclose(weighted.propensities(), db.propensities(db.NPTS(upper=1.0), past), rtol=1e-7)
    weighted = WeightedIndices(db.NPTS(upper=1.0), past, 0.2)
    weighted.learn([0, 1], [0.5, 0.6])
    chances, n = weighted.propensities(), 4000
    assert 0.01 < chances.min() < chances.max() < 1.0
    drawn = np.bincount([weighted.select(rng)[0] for _ in range(n)], minlength=3)
    # Three binomial shares, each beyond 5 standard deviations with a probability below 6e-7.
    assert (np.abs(drawn / n - chances) < 5.0 * np.sqrt(chances * (1.0 - chances) / n)).all()


def test_counts_and_means_of_a_weight_are_those_of_the_formula():
    study = db.create_study(
        "s", arms=["a", "b"], policy="UCB1(sigma=1)", seed=4, history={"a": [1, 0], "b": [0]}, weight=0.25
    )
    state = local_of(study).new_decider()
    study.tell(study.ask(), 0.5)
    state.propensities(local_of(study).journal())
    arm = local_of(study).journal().arm_of[0]
    counts, sums = np.array([0.5, 0.25]), np.array([0.25, 0.0])
    counts[arm] += 1.0
    sums[arm] += 0.5
    np.testing.assert_allclose(state._state.pulls, counts)
    np.testing.assert_allclose(state._state.means, sums / counts)


def test_costs_and_segments_have_a_past_too():
    study = db.create_study(
        "s",
        arms=["a", "b"],
        policy="UCB1(sigma=0.1)",
        seed=4,
        direction="minimize",
        segments=["x", "y"],
        history={"a": [0.9] * 40, "b": [0.1] * 40},
        weight=0.5,
    )
    for segment in ("x", "y"):
        assert study.propensities(segment=segment) == {"a": 0.0, "b": 1.0}
    assert study.ask(segment="x").arm == "b"
    assert study.replay().same


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"history": {"d": [1.0]}, "weight": 1}, "'history' must be past rewards by the names of arms"),
        ({"history": {}, "weight": 1}, "'history' must be past rewards"),
        ({"history": {"a": [1.0]}}, "'weight' must be a number from 0 to 1"),
        ({"weight": 0.5}, "'history' must be past rewards"),
        ({"history": {"a": [1.0]}, "weight": 1.5}, "'weight' must be a number from 0 to 1"),
        ({"history": {"a": ["x"]}, "weight": 1}, r"history\['a'\]"),
        ({"history": {"a": [1.0, 7.0]}, "weight": 1, "bounds": (0, 1)}, r"\[1\]' must be between 0 and 1, the bounds"),
        ({"history": {"a": [1.0]}, "weight": 0.5, "policy": "RBSDA"}, r"'weight' must be 0 or 1 with RBSDA"),
        ({"history": {"a": [1.0]}, "weight": 0.5, "policy": "RDS(level=0.2)"}, "'weight' must be 0 or 1 with RDS"),
        (
            {"history": {"a": [1.0]}, "weight": 1, "policy": "SlidingWindow(UCB1(1.0), window=10)"},
            "'history' must be None with SlidingWindow",
        ),
    ],
)
def test_bad_pasts_are_refused(given, said):
    with pytest.raises(db.ArgumentError, match=said):
        db.create_study("s", arms=ARMS, **given)


def test_a_study_that_exists_has_the_same_past(tmp_path):
    given = {"arms": ARMS, "storage": f"sqlite:///{tmp_path}/s.db", "load_if_exists": True}
    db.create_study("s", **given, history=HISTORY, weight=0.5)
    assert db.create_study("s", **given, history=HISTORY, weight=0.5).weight == 0.5
    with pytest.raises(db.ConflictError, match="weight"):
        db.create_study("s", **given, history=HISTORY, weight=0.4)
    with pytest.raises(db.ConflictError, match="history"):
        db.create_study("s", **given)
