"""Rewards that are taken back or replaced: later decisions do not know them, and what was recorded stays true."""

import json

import numpy as np
import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.events import Abandoned, ArmAdded, Asked, Corrected, Rewarded, Voided
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.replay import replay
from dirichlet_bandits.storage.events import Row

ARMS = ["a", "b", "c"]
MEANS = {"a": 0.35, "b": 0.6, "c": 0.5}


@pytest.fixture(params=["memory", "sqlite"])
def url(request, tmp_path):
    return None if request.param == "memory" else f"sqlite:///{tmp_path}/studies.db"


@pytest.mark.parametrize("policy", [db.RDS(), db.RBSDA(), db.EmpiricalIMED(9.0), db.NPTS(upper=9.0)], ids=repr)
def test_a_corrected_study_decides_as_if_there_had_been_no_mistake(policy):
    rng = np.random.default_rng(2)
    straight, recovered = (db.create_study("s", arms=ARMS, policy=policy, seed=3) for _ in range(2))
    for step in range(60):
        one, two = straight.ask(), recovered.ask()
        assert (one.id, one.arm) == (two.id, two.arm)
        assert one.propensity == pytest.approx(two.propensity, rel=1e-9)
        reward = float(rng.integers(10))
        straight.tell(one.id, reward)
        recovered.tell(two.id, 9.0 - reward)
        if step % 7 == 0:
            recovered.void(two.id, "mistyped")
        recovered.correct(two.id, reward)
    assert recovered.replay().same


def test_a_voided_reward_counts_until_it_is_taken_back():
    study = db.create_study("s", arms=ARMS, policy=db.ThompsonSampling("bernoulli"), seed=3)
    rng = np.random.default_rng(0)
    for _ in range(40):
        trial = study.ask()
        study.tell(trial.id, float(rng.random() < MEANS[trial.arm]))
    before = study.propensities()
    known = study.ask(2)
    study.tell(known[0].id, 1.0)
    study.ask(2)
    assert study.propensities() != before
    study.void(known[0].id, "the wrong plot")
    assert study.propensities() == pytest.approx(before, rel=1e-9)
    study.ask(2)
    assert study.replay().same
    # As if it had never counted, or counted for ever: then what was decided in between, or since, does not come out.
    events = study.storage.read("s", data=True)
    never = [
        event._replace(kind=Abandoned.kind) if event[1:3] == (Rewarded.kind, known[0].id) else event for event in events
    ]
    never = [event for event in never if event.kind != Voided.kind]
    never = [event._replace(number=number) for number, event in enumerate(never)]
    for_ever = [event for event in events if event.kind != Voided.kind]
    for_ever = [event._replace(number=number) for number, event in enumerate(for_ever)]
    for forged in (never, for_ever):
        assert not replay(forged, Decider(study.policy, study.seed)).same


def test_an_arm_whose_only_reward_is_taken_back_is_tried_again(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=0)
    trials = {trial.arm: trial for trial in study.ask(3)}
    for trial in trials.values():
        study.tell(trial.id, 1.0)
    study.void(trials["c"].id, "the wrong plot")
    assert study.propensities() == {"a": 0.0, "b": 0.0, "c": 1.0}
    assert study.ask().arm == "c"
    summary = study.summary()
    assert summary.loc["c", ["told", "pending", "abandoned", "voided"]].tolist() == [0, 1, 0, 1]
    assert study.replay().same


def test_a_revision_is_stored_once_and_the_log_shows_both(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=0)
    one, two, three, four = study.ask(4)
    study.tell_many([one.id, two.id], [31200.0, 2.0])
    study.abandon(three.id)
    for _ in range(2):
        study.correct(one.id, 3120.0, "one zero too many")
        study.void(two.id, "the wrong plot")
    assert study.storage.read("s")[-1][0] == 3 + 4 + 3 + 2 - 1  # arms, asks, tells and abandon, revisions
    log = study.trials_dataframe()
    assert log["status"].tolist() == ["told", "voided", "abandoned", "pending"]
    assert log["reward"].dropna().tolist() == [3120.0]
    assert log["original"].dropna().tolist() == [31200.0, 2.0]
    assert log["reason"].dropna().to_dict() == {0: "one zero too many", 1: "the wrong plot"}
    study.tell(one.id, 3120.0)
    with pytest.raises(db.ConflictError, match=r"trial 0 was corrected to 3120.0 \(now 31200.0\)"):
        study.tell(one.id, 31200.0)
    with pytest.raises(db.ConflictError, match="trial 1 was voided: correct it to give it a new reward"):
        study.tell(two.id, 2.0)
    with pytest.raises(db.ConflictError, match="trial 1 was voided"):
        study.abandon(two.id)
    for act in (lambda id: study.void(id, "why"), lambda id: study.correct(id, 1.0)):
        with pytest.raises(db.ConflictError, match="trial 2 was abandoned: it has no reward"):
            act(three.id)
        with pytest.raises(db.ConflictError, match="trial 3 has no reward yet"):
            act(four.id)
        with pytest.raises(db.NotFoundError, match="no trial 17"):
            act(17)
        with pytest.raises(db.ArgumentError, match="'id' must be an integer"):
            act(True)
    study.correct(two.id, 2.5)  # it had a reward after all
    assert study.trials_dataframe().loc[1, ["status", "reward", "original"]].tolist() == ["told", 2.5, 2.0]
    assert study.replay().same


def test_the_log_keeps_every_reward_and_reason(url, tmp_path):
    study = db.create_study("s", arms=ARMS, storage=url, seed=0)
    study.tell_many(range(3), [float(trial.id) for trial in study.ask(3)])
    study.correct(1, 5.0, "=a zero missing")
    study.correct(1, 6.0)
    study.void(1, "the wrong plot")
    study.correct(2, 7.0, "typed é")
    study.void(2, "not sure")
    study.correct(2, 2.0, "it was right")
    steps = {
        1: [(1.0, None), (5.0, "=a zero missing"), (6.0, None), (None, "the wrong plot")],
        2: [(2.0, None), (7.0, "typed é"), (None, "not sure"), (2.0, "it was right")],
    }
    for kind, read in ((".csv", pd.read_csv), (".parquet", pd.read_parquet)):
        study.export(tmp_path / f"log{kind}")
        exported = read(tmp_path / f"log{kind}")
        for log in (study.trials_dataframe(), exported):
            found = {trial: json.loads(text) for trial, text in log["revisions"].dropna().items()}
            assert {trial: [(x["reward"], x.get("reason")) for x in past] for trial, past in found.items()} == steps
            assert log["original"].dropna().to_dict() == {1: 1.0, 2: 2.0}
            assert log["reason"].dropna().to_dict() == {1: "the wrong plot", 2: "it was right"}


class Visited(dict):
    """A dictionary that counts the keys that were visited one by one."""

    keys_visited = 0

    def items(self):
        Visited.keys_visited += len(self)
        return super().items()


def test_opening_a_study_with_many_revisions_takes_linear_time():
    n, journal = 2001, Journal()
    journal.counted = Visited()
    asked = [Row(1 + k, Asked.kind, trial=k, arm=0, value=1.0) for k in range(n)]
    told = [Row(1 + n + k, Rewarded.kind, trial=k, value=float(k)) for k in range(n)]
    kinds = (Corrected.kind, Voided.kind, Corrected.kind)
    revised = [Row(1 + 2 * n + k, kinds[k % 3], trial=k // 3, value=0.5, note="why") for k in range(n)]
    journal.apply([Row(0, ArmAdded.kind, arm=0, note="a"), *asked, *told, *revised])
    assert len(journal.told.rewards) == len(journal.told.arms) == len(journal.told.numbers) == n
    assert journal.told.rewards[-2:] == [0.5, 0.5]
    assert 0 < Visited.keys_visited <= 2 * n


def test_bad_corrections_are_refused():
    study = db.create_study("s", arms=ARMS, policy=db.NPTS(upper=1.0), seed=0)
    study.tell(study.ask().id, 0.5)
    with pytest.raises(db.RewardError, match="expects rewards in"):
        study.correct(0, 1.5)
    with pytest.raises(db.ArgumentError, match="'reward' must be a finite number"):
        study.correct(0, "1")
    for reason in ("", None, 3, "line\nbreak"):
        with pytest.raises(db.ArgumentError, match="'reason' must be a text"):
            study.void(0, reason)
    assert study.trials_dataframe()["reward"].tolist() == [0.5]


def test_estimates_leave_voided_rewards_out_and_count_corrected_ones():
    study = db.create_study("s", arms=["a", "b"], seed=0)
    for trial in study.ask(40):
        study.tell(trial.id, 2.0 if trial.arm == "a" else 1.0)
    of_a = study.trials_dataframe().query("arm == 'a'").index
    study.void(int(of_a[0]), "the wrong plot")
    study.correct(int(of_a[1]), 2.0 + len(of_a) - 1)
    answer = study.estimate("a")
    assert (answer.ips, answer.self_normalized, answer.missing) == (pytest.approx(3.0), pytest.approx(3.0), 1)
    with pytest.raises(db.ArgumentError, match="a policy for rewards from 1 to 21"):
        study.estimate(db.NPTS(upper=3.0))


def test_a_policy_with_bounds_is_judged_without_the_mistakes_that_it_would_refuse():
    """Rewards up to 1, and mistakes far above: what such a policy wants does not depend on them."""
    mistaken, clean = (db.create_study("s", arms=ARMS, policy=db.UCB1(sigma=1.0), seed=5) for _ in range(2))
    rng = np.random.default_rng(3)
    trials = {study: study.ask(60) for study in (mistaken, clean)}  # before any reward: the same arms in both
    for k, (one, two) in enumerate(zip(*trials.values(), strict=True)):
        reward = float(rng.random())
        mistaken.tell(one, 50.0 if k % 5 == 0 else reward)
        if k % 5 == 0:
            mistaken.correct(one, 70.0)  # not better
        if k % 10 == 0:
            mistaken.void(one, "mistyped")
        if k % 5 == 0:
            mistaken.correct(one, reward)
        if k % 7 == 0:  # it was right, until somebody corrects it
            mistaken.correct(one, 60.0)
            mistaken.void(one, "that was wrong")
            mistaken.correct(one, 61.0)
            mistaken.void(one, "that, too")
            mistaken.correct(one, reward)
        clean.tell(two, reward)
    for study in (mistaken, clean):
        for k in range(30):
            study.tell(study.ask(), k / 30)
    assert mistaken.trials_dataframe()["arm"].tolist() == clean.trials_dataframe()["arm"].tolist()
    choice = db.EmpiricalIMED(upper=1.0)  # its order of rewards does not matter
    assert mistaken.estimate(choice).ips == pytest.approx(clean.estimate(choice).ips)
    assert mistaken.replay().same
    journal = Journal(within=(0.0, 1.0))
    for event in mistaken.storage.read("s", data=True):
        journal.apply([event])
        assert all(0.0 <= reward <= 1.0 for reward in journal.told.rewards)
    told = [dict(zip(one.told.trials, one.told.rewards, strict=True)) for one in (journal, local_of(clean).journal())]
    assert told[0] == told[1]


def test_what_is_left_of_a_damaged_study_can_be_exported(tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    study = db.create_study("s", arms=["a", "b"], storage=url, seed=0)
    study.tell_many(range(4), [float(trial.id) for trial in study.ask(4)])
    study.void(0, "one")
    study.correct(1, 5.0)
    study.void(2, "=two")
    with study.storage._engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM bandit_events WHERE kind = 3 AND trial < 2")
    db.load_study("s", url).export(tmp_path / "log.csv")
    log = pd.read_csv(tmp_path / "log.csv")
    assert log["status"].tolist() == ["abandoned", "told", "voided", "told"]
    assert log["reward"].dropna().tolist() == [5.0, 3.0]
    assert log["reason"][2] == "'=two"


def test_an_abandoned_trial_is_reopened_and_takes_a_reward():
    study = db.create_study("s", arms=["a", "b"], seed=1)
    first, second = study.ask(2)
    study.tell(second, 1.0)
    study.abandon(first)
    study.reopen(first, token="again")
    study.reopen(first, token="again")  # sent twice
    study.reopen(first)  # pending already
    assert [trial.id for trial in study.pending] == [first.id]
    study.tell(first, 0.0)
    assert study.replay().same
    assert study.trials_dataframe()["status"].tolist() == ["told", "told"]
    with pytest.raises(db.ConflictError, match="was not abandoned"):
        study.reopen(second)
