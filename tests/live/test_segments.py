"""Segments: each learns by itself, as a study of its own would, and reports are per segment and over all."""

import math

import numpy as np
import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.events import ArmAdded, ArmRetired, Asked, FloorSet
from dirichlet_bandits.live.export import recover
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.storage.events import Row
from tests.live.test_lateness import Clock, clock, url  # noqa: F401

ARMS = ["a", "b", "c"]
SEGMENTS = ["clay", "sand"]
MEANS = {"clay": {"a": 0.2, "b": 0.8, "c": 0.5}, "sand": {"a": 0.9, "b": 0.3, "c": 0.5}}


def naive_segment(events, log, segment):
    """The events of one segment as those of a study that has no other."""
    ids = {int(trial): k for k, trial in enumerate(log.index[log["segment"] == segment])}
    kept = []
    for event in events:
        if event.kind in (ArmAdded.kind, ArmRetired.kind, FloorSet.kind):
            kept.append(event)
        elif event.trial in ids:
            rest = None
            if event.kind == Asked.kind and '"rest"' in event.note:
                rest = "[" + event.note.split('"rest": [', 1)[1].split("]]", 1)[0] + "]]"
            kept.append(event._replace(trial=ids[event.trial], note=rest if event.kind == Asked.kind else event.note))
    return [Row(*event)._replace(number=k) for k, event in enumerate(kept)]


def played(url=None, policy="RDS", steps=150, **settings):  # noqa: F811
    study = db.create_study("s", arms=ARMS, policy=policy, storage=url, segments=SEGMENTS, seed=3, **settings)
    rng = np.random.default_rng(1)
    waiting = []
    for _ in range(steps):
        segment = SEGMENTS[int(rng.random() < 0.3)]
        waiting += study.ask(int(rng.integers(1, 3)), segment=segment)
        while waiting and rng.random() < 0.7:
            trial = waiting.pop(int(rng.integers(len(waiting))))
            study.tell(trial, MEANS[trial.segment][trial.arm] + 0.1 * float(rng.normal()))
    return study


@pytest.mark.parametrize("policy", ["RDS", "RBSDA", "UCB1(sigma=0.5)"])
def test_each_segment_decides_as_a_study_of_its_own(url, policy):  # noqa: F811
    study = played(url, policy)
    study.void(3, "wrong plot")
    study.correct(8, 0.25)
    study.add_arm("d")
    study.retire_arm("c")
    study.set_floor({"a": 0.1})
    study.tell_many([trial.id for trial in study.ask(4, segment="sand")], [0.1, 0.2, 0.3, 0.4])
    log, events = study.trials_dataframe(), local_of(study).rows()
    for segment in SEGMENTS:
        journal = Journal()
        journal.apply(naive_segment(events, log, segment))
        alone = Decider(study.policy, study.seed).propensities(journal)
        np.testing.assert_allclose(list(study.propensities(segment=segment).values()), alone, rtol=1e-9)
        mine, part = local_of(study).journal().of(segment), log[log["segment"] == segment]
        assert mine.told.rewards == journal.told.rewards
        assert (mine.n_told, mine.n_pending, mine.rest) == (journal.n_told, journal.n_pending, journal.rest)
        summary = study.summary(segment=segment)
        means = part[part["status"] == "told"].groupby("arm")["reward"].mean().reindex(summary.index)
        pd.testing.assert_series_equal(summary["mean"], means, check_names=False)
    assert study.replay().same
    assert db.load_study("s", url).replay().same if url else True


def test_segments_find_their_own_best_arms_and_pooled_means_are_standardized():
    study = played(steps=300, control="a")
    assert study.summary(segment="clay").attrs["best_arm"] == "b"
    assert study.summary(segment="sand").attrs["best_arm"] == "a"
    log = study.trials_dataframe()
    share = (log["segment"] == "sand").mean()
    clay, sand, pooled = (
        study.summary(confidence=level, segment=one) for level, one in ((0.975, "clay"), (0.975, "sand"), (0.95, None))
    )
    for column in ("mean", "low", "high", "lift", "lift_low", "lift_high"):
        naive = (1.0 - share) * clay[column] + share * sand[column]
        pd.testing.assert_series_equal(pooled[column], naive, rtol=1e-12)
    assert pooled["told"].sum() == (log["status"] == "told").sum()
    # The plain mean of b is that of clay, where it was tried; a tries it in both segments alike.
    plain = log[(log["arm"] == "b") & (log["status"] == "told")]["reward"].mean()
    assert plain > 0.75 > pooled["mean"]["b"] + 0.02
    assert study.best_arm == pooled.attrs["best_arm"]


def test_an_arm_without_a_reward_in_some_segment_has_no_pooled_mean():
    study = db.create_study("s", arms=["a", "b"], segments=SEGMENTS, seed=3, control="a")
    for trial in study.ask(2, segment="clay"):
        study.tell(trial, 1.0)
    assert study.summary()["mean"].tolist() == [1.0, 1.0]
    study.ask(2, segment="sand")
    summary = study.summary()
    assert summary["mean"].isna().all()
    assert summary.attrs["best_arm"] is study.best_arm is None
    assert summary.attrs["best_arm_reason"] == "no arm has a reward in every segment yet"
    assert set(summary["no_interval"]) == {"no interval in some segment"}


def test_windows_close_in_all_segments(clock):  # noqa: F811
    study = db.create_study("s", arms=["a", "b"], segments=SEGMENTS, seed=3, window=10, late=0)
    study.ask(2, segment="clay")
    study.ask(2, segment="sand")
    study.tell_many([1, 2], [1.0, 1.0])
    clock.now += 10.0
    assert study.settle() == [0, 3]
    for segment, rewards in (("clay", [0.0, 1.0]), ("sand", [1.0, 0.0])):
        assert local_of(study).journal().of(segment).told.rewards == rewards
    study.ask(segment="sand")
    assert study.replay().same


def test_estimates_and_exports_have_segments(tmp_path):
    study = played(steps=200)
    found = study.estimate({"a": 0.5, "b": 0.5})
    assert found.rounds > 100
    assert found.missing > 0
    right = 0.7 * 0.5 * (0.2 + 0.8) + 0.3 * 0.5 * (0.9 + 0.3)
    assert abs(found.self_normalized - right) < 6.0 * found.self_normalized_error  # below 1e-8
    assert not math.isnan(study.estimate(db.RDS()).ips)
    study.export(tmp_path / "log.csv")
    read = pd.read_csv(tmp_path / "log.csv")
    assert set(read["segment"]) == set(SEGMENTS)
    events = local_of(study).rows()
    journal = Journal()
    journal.apply(recover([event for event in events if event.number not in (5, 40, 41)]).events)
    assert len(journal.arm_of) >= len(study) - 3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda study: study.ask(), "'segment' must be one of 'clay', 'sand'"),
        (lambda study: study.ask(segment="loam"), "'segment' must be one of"),
        (lambda study: study.propensities(), "'segment' must be one of"),
        (lambda study: study.summary(segment="loam"), "'segment' must be one of"),
        (lambda _: db.create_study("t", arms=ARMS).ask(segment="clay"), "'segment' must be None"),
        (lambda _: db.create_study("t", arms=ARMS, segments=[]), "'segments' must be a list of names"),
        (lambda _: db.create_study("t", arms=ARMS, segments=["x", "x"]), r"'segments\[1\]' must be different"),
    ],
)
def test_segments_are_those_that_were_declared(call, said):
    with pytest.raises(db.ArgumentError, match=said):
        call(db.create_study("s", arms=ARMS, segments=SEGMENTS))


def test_a_study_that_exists_has_the_same_segments(tmp_path):
    given = {"arms": ARMS, "storage": f"sqlite:///{tmp_path}/s.db", "load_if_exists": True}
    db.create_study("s", **given, segments=SEGMENTS)
    assert db.load_study("s", given["storage"]).segments == ("clay", "sand")
    with pytest.raises(db.ConflictError, match="segments"):
        db.create_study("s", **given)
    with pytest.raises(db.ConflictError, match="has segments, and past trials have none"):
        db.load_study("s", given["storage"]).add_trials({"arm": ["a"], "reward": [1.0]})
