"""Trials of the past, and what users note of trials."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.operations import AddTrials

ARMS = ["a", "b", "c"]


@pytest.fixture(params=["memory", "sqlite"])
def url(request, tmp_path):
    return None if request.param == "memory" else f"sqlite:///{tmp_path}/studies.db"


def test_past_rewards_count_for_decisions_and_summaries(url):
    study = db.create_study("s", arms=ARMS, policy=db.UCB1(sigma=1.0), storage=url, seed=0)
    past = pd.DataFrame(
        {"arm": ["a", "b", "a"], "reward": [1, 2, 4], "time": ["2020-01-01", None, "2021-06-01T12:00+02"]}
    )
    assert study.add_trials(past) == [0, 1, 2]
    assert study.summary()["told"].to_dict() == {"a": 2, "b": 1, "c": 0}
    assert study.propensities() == {"a": 0.0, "b": 0.0, "c": 1.0}  # it alone was never tried
    trial = study.ask()
    assert (trial.id, trial.arm) == (3, "c")
    study.tell(trial, 0.0)
    expected = db.propensities(db.UCB1(sigma=1.0), {"a": [1, 4], "b": [2], "c": [0]})
    assert study.propensities() == pytest.approx(expected)
    log = study.trials_dataframe()
    assert log["status"].tolist() == ["told"] * 4
    assert log["propensity"].isna().tolist() == [True, True, True, False]
    assert log["asked_at"][0] == pd.Timestamp("2020-01-01", tz="UTC")
    assert log["ended_at"][2] == pd.Timestamp("2021-06-01T10:00", tz="UTC")
    study.void(1, "another field")
    study.correct(0, 3.0)
    assert study.summary()["mean"].dropna().to_dict() == {"a": 3.5, "c": 0.0}
    assert study.replay().same


@pytest.mark.parametrize("policy", [db.RDS(), db.BinarizedTS(0.0, 9.0)], ids=repr)
def test_replay_with_past_trials_in_the_midst_of_a_round(policy, tmp_path):
    study = db.create_study("s", arms=ARMS, policy=policy, storage=f"sqlite:///{tmp_path}/s.db", seed=3)
    rng = np.random.default_rng(1)
    for step in range(40):
        study.tell_many(trials := study.ask(2), [float(rng.integers(10)) for _ in trials])
        if step % 9 == 0:
            study.add_trials({"arm": list(rng.choice(ARMS, 3)), "reward": rng.integers(10, size=3)})
    replay = study.replay()
    assert (replay.same, replay.trials, len(study)) == (True, 80, 95), str(replay)
    assert db.load_study("s", study.storage).propensities() == study.propensities()
    study.export(tmp_path / "log.csv")
    log = pd.read_csv(tmp_path / "log.csv")
    assert log[[f"propensity of {arm}" for arm in ARMS]].isna().all(axis=1).sum() == 15


def test_past_propensities_count_for_estimates_and_those_without_do_not():
    """An experiment with fixed probabilities: IPS is its textbook formula, and nothing else in the log changes it."""
    rng = np.random.default_rng(4)
    arms = rng.choice(ARMS, 300, p=[0.5, 0.3, 0.2])
    reward = rng.normal(0, 1, 300) + (arms == "c")
    chance = pd.Series(arms).map({"a": 0.5, "b": 0.3, "c": 0.2})
    study = db.create_study("s", arms=[*ARMS, "d"], seed=0)
    study.add_trials({"arm": arms, "reward": reward, "propensity": chance})
    for arm in ARMS:
        here = study.estimate(arm)
        assert here.ips == pytest.approx(np.sum(reward[arms == arm] / chance[arms == arm]) / 300)
        assert here.self_normalized == pytest.approx(reward[arms == arm].mean())
        assert (here.rounds, here.missing) == (300, 0)
    assert study.estimate("d").unsupported == {"d": 1.0}  # it never occurs: nothing says that it could
    before = study.estimate("c")
    study.add_trials({"arm": ["c"] * 50, "reward": [100.0] * 50})
    after = study.estimate("c")
    assert (after.ips, after.ips_error, after.rounds) == (
        pytest.approx(before.ips),
        pytest.approx(before.ips_error),
        300,
    )
    assert study.estimate(db.UCB1(sigma=1.0)).rounds == 300
    study.add_trials({"arm": ["a"], "reward": [5.0], "propensity": [1.0]})  # nothing else could come
    assert study.estimate("b").rounds == 301
    assert study.estimate("b").ips == pytest.approx(np.sum(reward[arms == "b"] / 0.3) / 300)


def test_a_token_adds_once(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=0)
    past = {"arm": ["a", "b"], "reward": [1.0, 2.0]}
    assert study.add_trials(past, token="x") == study.add_trials(past, token="x") == [0, 1]
    assert len(study) == 2
    study.correct(0, 9.0)
    study.void(1, "the wrong plot")
    assert study.add_trials(past, token="x") == [0, 1]  # as they were added, whatever became of them
    for act in (
        lambda: study.ask(2, token="x"),
        lambda: study.add_trials({"arm": ["a"], "reward": [1.0]}, token="x"),
        lambda: study.add_trials({"arm": ["a", "b"], "reward": [1.0, 7.0]}, token="x"),
        lambda: study.add_trials({"arm": ["a", "b"], "reward": [9.0, 2.0]}, token="x"),
        lambda: study.add_trials({**past, "propensity": [0.5, 0.5]}, token="x"),
        lambda: study.add_trials({**past, "time": ["2020-01-01", None]}, token="x"),
        lambda: [study.ask(2, token="y"), study.add_trials(past, token="y")],
    ):
        with pytest.raises(db.ConflictError, match="token"):
            act()


@pytest.mark.parametrize(
    ("field", "frame"),
    [
        ("frame", 3),
        ("frame", {"arm": ["a"]}),
        ("frame", {"arm": ["a"], "reward": [1.0], "propensty": [0.5]}),
        ("arm[0]", {"arm": [1], "reward": [1.0]}),
        ("reward[1]", {"arm": ["a", "b"], "reward": [1.0, math.nan]}),
        ("reward[0]", {"arm": ["a"], "reward": ["1"]}),
        ("reward[0]", {"arm": ["a"], "reward": [1e200]}),
        ("time", {"arm": ["a"], "reward": [1.0], "time": ["spring"]}),
        ("time", {"arm": ["a"], "reward": [1.0], "time": [1.7e9]}),
        ("time", {"arm": ["a", "b"], "reward": [1.0, 2.0], "time": ["2020-01-01", 1.7e9]}),
        ("time", {"arm": ["a"], "reward": [1.0], "time": ["now"]}),
        ("time", {"arm": ["a"], "reward": [1.0], "time": ["Today"]}),
        ("time", {"arm": ["a"], "reward": [1.0], "time": ["9999-01-01"]}),
        ("propensity[0]", {"arm": ["a"], "reward": [1.0], "propensity": [0.0]}),
        ("propensity[0]", {"arm": ["a"], "reward": [1.0], "propensity": [1.5]}),
    ],
)
def test_bad_tables_are_refused_whole(field, frame):
    study = db.create_study("s", arms=ARMS, seed=0)
    with pytest.raises(db.ArgumentError) as caught:
        study.add_trials(frame)
    assert (caught.value.name, len(study)) == (field, 0)


def test_trials_are_prepared_while_others_change_the_study(tmp_path, monkeypatch):
    """Neither a process nor a thread waits for more than the writing itself; what they do in between is respected."""
    url = f"sqlite:///{tmp_path}/s.db"
    study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), storage=url, seed=0)
    other = db.load_study("s", url)
    prepare, prepared = AddTrials._events, []

    def meanwhile(*args):
        if not prepared:
            other.tell(other.ask(), 2.0)
            other.add_arm("c")
        prepared.append(prepare(*args))
        return prepared[-1]

    monkeypatch.setattr(AddTrials, "_events", meanwhile)
    past = {"arm": ["a", "b", "a"], "reward": [1.0, 3.0, 5.0], "propensity": [0.5, 0.5, 1.0]}
    assert study.add_trials(past, token="x") == [1, 2, 3]
    assert len(prepared) == 2
    assert db.load_study("s", url).add_trials(past, token="x") == [1, 2, 3]
    assert db.load_study("s", url).summary()["told"].to_dict() == study.summary()["told"].to_dict()
    stored = [np.frombuffer(event.data) for event in study.storage.read("s", data=True) if event.token == "x"]
    np.testing.assert_array_equal(stored, [[0.5, np.nan, 0.0], [np.nan, 0.5, 0.0], [1.0, 0.0, 0.0]])
    assert study.replay().same


def test_unknown_arms_and_rewards_beyond_the_bounds_are_refused_whole():
    study = db.create_study("s", arms=ARMS, policy=db.NPTS(upper=1.0), seed=0)
    with pytest.raises(db.NotFoundError, match="no arm 'x'"):
        study.add_trials({"arm": ["a", "x"], "reward": [1.0, 1.0]})
    with pytest.raises(db.RewardError, match="expects rewards in"):
        study.add_trials({"arm": ["a", "b"], "reward": [1.0, 2.0]})
    assert len(study) == 0


def test_attributes_are_kept_as_given(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=0)
    trial = study.ask()
    given = {"plot": 9007199254740993, "field": "007", "share": 7.0, "count": np.int64(2**62 + 1), "dry": True}
    study.tell(trial, 1.0, attributes=given)
    stored = json.loads(study.trials_dataframe()["attributes"][0])
    assert stored == {**given, "count": 2**62 + 1}
    assert [type(stored[key]) for key in given] == [int, str, float, int, bool]
    study.annotate(trial, attributes={"dry": 1, "share": 7})  # equal for Python, but not the same
    assert '"dry": 1, ' in study.trials_dataframe()["attributes"][0]
    assert '"share": 7}' in study.trials_dataframe()["attributes"][0]
    with pytest.raises(db.ArgumentError, match=r"'attributes\['plot'\]' must be an integer of at most 300 digits"):
        study.annotate(trial, attributes={"plot": 10**5000})


def test_notes_and_attributes_are_kept_and_change_no_decision(url, tmp_path):
    study, bare = (db.create_study("s", arms=ARMS, storage=place, seed=0) for place in (url, None))
    for k in range(12):
        trial = study.ask()
        bare.tell(bare.ask(), k / 3)
        study.tell(trial, k / 3, note=f"=plot\n{k}", attributes={"plot": k, "dry": k % 2 == 0, "é": "<b>"})
        study.tell(trial, k / 3, note=f"=plot\n{k}")  # the same: nothing new
    assert study.propensities() == bare.propensities()
    study.annotate(trial, attributes={"dry": None, "plot": 3.5})
    study.annotate(study.ask().id, note="soon")
    n_events = len(study.storage.read("s"))
    study.annotate(12, note="soon", attributes={})
    assert len(study.storage.read("s")) == n_events
    again = study if url is None else db.load_study("s", url)
    log = again.trials_dataframe()
    assert log["note"].tolist() == [*(f"=plot\n{k}" for k in range(12)), "soon"]
    assert [json.loads(text) for text in log["attributes"][10:12]] == [
        {"plot": 10, "dry": True, "é": "<b>"},
        {"plot": 3.5, "é": "<b>"},
    ]
    assert again.replay().same
    again.export(tmp_path / "log.csv")
    assert pd.read_csv(tmp_path / "log.csv")["note"][0] == "'=plot\n0"
    with pytest.raises(db.NotFoundError, match="no trial 99"):
        study.annotate(99, note="x")
    for field, given in (
        ("note", {}),
        ("note", {"note": ""}),
        ("note", {"note": "x" * 1001}),
        ("attributes", {"attributes": [1]}),
        ("attributes", {"attributes": {"": 1}}),
        ("attributes['plot']", {"attributes": {"plot": math.nan}}),
    ):
        with pytest.raises(db.ArgumentError) as caught:
            study.annotate(0, **given)
        assert caught.value.name == field


def test_a_propensity_that_estimates_cannot_divide_by():
    study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), seed=1)
    with pytest.raises(db.ArgumentError, match=r"'propensity\[0\]' must be a probability of at least 1e-50"):
        study.add_trials({"arm": ["a"], "reward": [1.0], "propensity": [1e-320]})
    study.add_trials({"arm": ["a", "a"], "reward": [1e100, -1e100], "propensity": [1e-50, 1e-50]})
    assert np.isfinite(study.estimate("a").ips_error)
