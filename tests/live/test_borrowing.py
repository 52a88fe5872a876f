"""Borrowing: a segment decides as if the rewards of the other segments had been its past, with a weight."""

import numpy as np
import pandas as pd
import pytest

import dirichlet_bandits as db
from tests.live.test_lateness import url  # noqa: F401
from tests.live.test_segments import ARMS, MEANS, SEGMENTS

POLICIES = ["RDS", "QDS", "BDS(upper=1)", "NPTS(upper=1)", "UCB1(sigma=0.5)", "ThompsonSampling('bernoulli')"]


def played(policy, steps=24, storage=None, **settings):
    study = db.create_study("s", arms=ARMS, policy=policy, storage=storage, segments=SEGMENTS, seed=3, **settings)
    rng = np.random.default_rng(1)
    for step in range(steps):
        trial = study.ask(segment=SEGMENTS[step % 3 == 2])
        study.tell(trial, float(rng.random() < MEANS[trial.segment][trial.arm]))
    return study


def rewards_in(study, segment):
    log = study.trials_dataframe()
    told = log[(log["segment"] == segment) & (log["status"] == "told")]
    return {arm: told.loc[told["arm"] == arm, "reward"].tolist() for arm in ARMS}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_segment_decides_as_a_study_whose_past_are_the_others(policy):
    study = played(policy, borrow=0.3)
    study.void(2, "wrong plot")
    study.correct(4, 1.0)
    other = {arm: x for arm, x in rewards_in(study, "clay").items() if x}
    alone = db.create_study("alone", arms=ARMS, policy=policy, history=other, weight=0.3, seed=9)
    own = [(arm, x) for arm, rewards in rewards_in(study, "sand").items() for x in rewards]
    alone.add_trials({"arm": [arm for arm, _ in own], "reward": [x for _, x in own]})
    assert study.propensities(segment="sand") == pytest.approx(alone.propensities(), rel=1e-9)
    assert study.replay().same


def test_without_weight_nothing_is_borrowed():
    columns = ["arm", "propensity", "reward", "segment"]
    none, zero, some = (played("RDS", borrow=weight).trials_dataframe()[columns] for weight in (None, 0, 0.3))
    pd.testing.assert_frame_equal(none, zero)
    assert not some.equals(none)


def test_what_is_borrowed_is_stored_with_the_study_and_enters_no_summary(url):  # noqa: F811
    study = played("RDS", storage=url, borrow=0.5)
    assert study.summary(segment="sand")["told"].sum() == 8
    if url:
        again = db.load_study("s", url)
        assert again.borrow == 0.5
        assert again.propensities(segment="clay") == study.propensities(segment="clay")
        with pytest.raises(db.ConflictError, match=r"was created with borrow 0\.5"):
            db.create_study("s", arms=ARMS, segments=SEGMENTS, storage=url, seed=3, load_if_exists=True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"borrow": 0.2}, "'borrow' must be given together with segments"),
        ({"borrow": 1.5, "segments": SEGMENTS}, "'borrow' must be a number from 0 to 1"),
        ({"borrow": 0.2, "segments": SEGMENTS, "policy": "RBSDA"}, "'borrow' must be 0 with RBSDA"),
        (
            {"borrow": 0.2, "segments": SEGMENTS, "history": {"a": [1.0]}, "weight": 0.5},
            "'borrow' must be 0 in a study with a history",
        ),
    ],
)
def test_what_cannot_be_borrowed_is_refused(settings, words):
    with pytest.raises(db.ArgumentError, match=words):
        db.create_study("s", arms=ARMS, **settings)
