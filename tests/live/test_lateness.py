"""Windows: when a missing reward is late, what it means then, and when other rewards count."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live import lateness
from dirichlet_bandits.live.events import WindowsClosed
from dirichlet_bandits.live.export import recover
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.local import local_of

ARMS = ["a", "b", "c"]
DAY = 86400.0


class Clock:
    """A clock that tests set."""

    def __init__(self, now=1.7e9):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    stopped = Clock()
    monkeypatch.setattr(lateness, "clock", stopped)
    return stopped


@pytest.fixture(params=["memory", "sqlite"])
def url(request, tmp_path):
    return None if request.param == "memory" else f"sqlite:///{tmp_path}/studies.db"


def naive(trials, window, late, now):
    """Trials that count with their rewards, in order, from (time of the ask, time of the tell or None, reward)."""
    if late == "abandon":
        told = [(at, k, reward) for k, (_, at, reward) in enumerate(trials) if at is not None]
        return [(k, reward) for _, k, reward in sorted(told)]
    return [
        (k, late if at is None else reward) for k, (asked, at, reward) in enumerate(trials) if asked + window <= now
    ]


def test_a_past_trial_has_no_window(clock):
    """Its corrected reward counts at once, as it did when the trial was added."""
    study = db.create_study("s", arms=ARMS, window=100.0, late=0.0, seed=1)
    study.add_trials({"arm": ["a"], "reward": [1.0]})
    study.void(0, "the wrong plot")
    study.correct(0, 0.5)
    assert study.trials_dataframe()["status"].tolist() == ["told"]
    assert study.summary()[["told", "held", "mean"]].iloc[0].tolist() == [1, 0, 0.5]


@pytest.mark.parametrize("late", ["abandon", 0.0])
@pytest.mark.parametrize("seed", range(3))
def test_what_counts_is_what_a_naive_reading_of_the_times_says(clock, url, late, seed):
    rng = np.random.default_rng(seed)
    study = db.create_study("s", arms=ARMS, storage=url, window=100.0, late=late, seed=seed)
    trials, start = [], clock.now
    for _ in range(120):
        clock.now += float(rng.exponential(10.0))
        waiting = [k for k, (asked, at, _) in enumerate(trials) if at is None and asked + 100.0 > clock.now]
        if waiting and rng.random() < 0.4:
            k = int(rng.choice(waiting))
            reward = float(rng.integers(1, 4))
            study.tell(k, reward)
            trials[k] = trials[k][0], clock.now, reward
        else:
            study.ask()
            trials.append((clock.now, None, None))
        journal = local_of(study).journal()
        found = list(zip(journal.told.trials, journal.told.rewards, strict=True))
        assert found == naive(trials, 100.0, late, clock.now)
        missing = [k for k, (asked, at, _) in enumerate(trials) if at is None and asked + 100.0 <= clock.now]
        assert sorted(journal.records.late) == missing
    assert len(journal.records.late) > 10
    assert clock.now > start + 500.0
    assert study.replay().same
    counts = study.summary()[["told", "pending", "abandoned", "held", "late"]].sum()
    log = study.trials_dataframe()
    assert counts["late"] == log["late"].sum() == len(missing)
    assert counts["abandoned"] == (log["status"] == "abandoned").sum() == (len(missing) if late == "abandon" else 0)
    assert counts["told"] == (log["status"] == "told").sum() == len(found)
    assert counts["pending"] == (log["status"] == "pending").sum()
    assert counts["held"] == (log["status"] == "held").sum()


def test_time_alone_changes_nothing_until_the_study_is_changed(clock, url):
    study = db.create_study("s", arms=ARMS, storage=url, window="24h", late=0, seed=1)
    study.ask(3)
    study.tell(1, 1.0)
    clock.now += DAY
    assert study.summary()["told"].sum() == 0
    assert len(study.pending) == 2
    assert study.settle() == [0, 2]
    assert study.settle() == []
    assert study.summary()["told"].sum() == 3
    assert study.pending == []
    assert study.trials_dataframe()["reward"].tolist() == [0.0, 1.0, 0.0]
    assert (study.window, study.late) == (DAY, 0.0)


def test_rewards_that_were_all_told_count_when_their_windows_close(clock):
    study = db.create_study("s", arms=ARMS, window="1d", late=0, seed=1)
    study.ask(3)
    study.tell_many([0, 1, 2], [1.0, 0.0, 1.0])
    assert study.trials_dataframe()["status"].tolist() == ["held"] * 3
    assert sorted(trial.arm for trial in study.ask(3)) == ARMS  # nothing is known yet: every arm once more
    clock.now += DAY
    assert study.settle() == [3, 4, 5]
    assert study.summary()["told"].tolist() == [2, 2, 2]
    assert study.replay().same


def test_a_conversion_study_is_not_biased_by_quick_successes(clock):
    """Successes are reported within seconds, failures never: means over what was told would be 1."""
    study = db.create_study("s", arms=["a", "b"], policy="RDS", window="1h", late=0, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(600):
        clock.now += 30.0
        trial = study.ask()
        if rng.random() < 0.3:
            study.tell(trial, 1.0)
    # 480 trials are older than an hour; 0.3 is missed by 0.11 with a probability below 1e-6 (binomial, five sd)
    told = study.trials_dataframe().query("status == 'told'")["reward"]
    assert abs(told.mean() - 0.3) < 0.11
    assert len(told) == 480


def test_a_reward_after_the_window_is_refused_and_a_correction_is_not(clock, url):
    study = db.create_study("s", arms=ARMS, storage=url, window="24h", late=0, seed=1)
    study.ask(3)
    study.tell(0, 1.0)
    clock.now += DAY
    with pytest.raises(db.ConflictError, match=r"trial 1 is late: its window of 1d has closed, so its reward is 0\.0"):
        study.tell(1, 1.0)
    assert study.pending != []  # nothing was written
    study.tell(0, 1.0)  # as before: no news
    study.tell(2, 0.0)  # what it counts as anyway
    study.correct(1, 1.0, "reported by a batch of the next day")
    log = study.trials_dataframe()
    assert log["reward"].tolist() == [1.0, 1.0, 0.0]
    assert log["original"].tolist()[1] == 0.0
    assert log["late"].tolist() == [False, True, True]
    assert study.replay().same


def test_an_abandoned_late_trial_takes_no_reward(clock):
    study = db.create_study("s", arms=ARMS, window="30min", late="abandon", seed=1)
    study.ask(3)
    study.tell(0, 1.0)
    assert study.summary()["told"].sum() == 1  # at once: the others are missing at random
    clock.now += 1800.0
    for change in (lambda: study.tell(1, 1.0), lambda: study.correct(1, 1.0)):
        with pytest.raises(db.ConflictError, match="trial 1 is late: its window of 30min has closed"):
            change()
    assert study.settle() == [1, 2]
    assert study.late == "abandon"
    estimate = study.estimate(study.trials_dataframe()["arm"][0])
    assert (estimate.ips, estimate.missing) == (1.0, 2)


def test_held_rewards_are_corrected_voided_and_told_again_like_others(clock):
    study = db.create_study("s", arms=ARMS, window="24h", late=0, seed=1)
    study.ask(4)
    study.tell_many([0, 1, 2], [1.0, 1.0, 1.0])
    study.tell(0, 1.0)
    with pytest.raises(db.ConflictError, match=r"was given 1\.0 \(now 2\.0\)"):
        study.tell(0, 2.0)
    with pytest.raises(db.ConflictError, match=r"given 1\.0: it cannot be abandoned"):
        study.abandon(0)
    study.correct(0, 5.0)
    study.void(1, "wrong button")
    study.void(2, "wrong button")
    study.correct(2, 7.0)
    assert study.trials_dataframe()["status"].tolist() == ["held", "voided", "held", "pending"]
    study.abandon(3)
    clock.now += DAY
    study.settle()
    journal = local_of(study).journal()
    assert list(zip(journal.told.trials, journal.told.rewards, strict=True)) == [(0, 5.0), (2, 7.0)]
    assert journal.n_pending == [0, 0, 0]
    study.correct(1, 2.0)
    study.void(0, "wrong again")
    assert study.summary()[["told", "voided", "abandoned"]].sum().tolist() == [2, 1, 1]
    assert study.replay().same


def test_costs_have_late_answers_too(clock):
    study = db.create_study("s", arms=ARMS, policy=db.RDS(), direction="minimize", window=60, late=9.5, seed=1)
    study.ask(3)
    study.tell(0, 1.0)
    clock.now += 60.0
    study.settle()
    assert sorted(study.trials_dataframe()["reward"]) == [1.0, 9.5, 9.5]
    assert study.ask().arm == study.trials_dataframe()["arm"][0]
    assert study.replay().same


def test_other_processes_and_replays_agree(clock, tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    one = db.create_study("s", arms=ARMS, storage=url, window="24h", late=0, seed=1)
    two = db.load_study("s", url)
    one.ask(5)
    two.tell(0, 1.0)
    clock.now += DAY
    assert two.ask().id == 5  # closes the windows
    clock.now -= DAY  # a clock that is behind does not open them again
    assert one.settle() == []
    assert one.summary()["told"].sum() == 5
    with pytest.raises(db.ConflictError, match="is late"):
        one.tell(1, 1.0)
    assert one.replay().same
    assert two.replay().same
    one.export(tmp_path / "log.csv")
    assert (tmp_path / "log.csv").read_text(encoding="utf-8").count("True") == 4


def test_the_answer_without_a_winner_names_the_rewards_that_are_held(clock):
    study = db.create_study("s", arms=["a", "b"], bounds=(0, 1), window="24h", late=0, seed=1)
    assert study.winner().reason == "no reward yet"
    study.tell(study.ask(), 1.0)
    assert study.winner().reason == "no reward yet (1 is held until its window closes)"
    study.tell(study.ask(), 0.0)
    assert study.winner().reason == "no reward yet (2 are held until windows close)"
    clock.now += DAY
    study.settle()
    assert "held" not in study.winner().reason


def test_a_token_is_kept_apart_from_the_events_of_windows(clock):
    study = db.create_study("s", arms=ARMS, window="24h", late=0, seed=1)
    study.ask(3)
    clock.now += DAY
    study.correct(0, 1.0, token="mine")
    study.correct(0, 1.0, token="mine")
    with pytest.raises(db.ConflictError, match="another call"):
        study.correct(0, 2.0, token="mine")
    assert study.ask(2, token="more") == study.ask(2, token="more")


def test_missing_events_leave_an_export(clock):
    study = db.create_study("s", arms=ARMS, window="24h", late=0, seed=1)
    study.ask(3)
    study.tell(1, 1.0)
    clock.now += DAY
    study.settle()
    events = local_of(study).rows()
    gone = [event for event in events if event.number not in (4, 7)]  # the first ask, and the tell
    recovered = recover(gone)
    journal = Journal()
    journal.apply(recovered.events)
    assert list(recovered.ids) == [1, 2]
    assert journal.told.rewards == [0.0]
    assert [event.kind for event in events].count(WindowsClosed.kind) == 3
    whole = Journal(within=(-1.0, 0.5))  # as a policy sees it that refuses the reward 1
    whole.apply(events)
    assert whole.records.trial(1).status == "pending"
    assert whole.told.rewards == [0.0, 0.0]


@pytest.mark.parametrize(
    ("window", "late", "said"),
    [
        ("24h", None, "'late' must be 'abandon', or the reward"),
        (None, 0, "'window' must be given together with late"),
        ("soon", 0, "'window' must be seconds, or a text"),
        (0, 0, "'window' must be"),
        ("0h", 0, "'window' must be longer than 0"),
        (1e12, 0, "no longer than"),
        ("24h", "drop", "'late' must be 'abandon'"),
        ("24h", True, "'late' must be"),
        ("24h", float("nan"), "'late' must be"),
    ],
)
def test_bad_windows_are_refused(window, late, said):
    with pytest.raises(db.ArgumentError, match=said):
        db.create_study("s", arms=ARMS, policy="NPTS(upper=1)", window=window, late=late)


def test_a_late_reward_is_one_that_the_policy_takes():
    with pytest.raises(db.RewardError, match="expects rewards in"):
        db.create_study("s", arms=ARMS, policy="NPTS(upper=1)", window="24h", late=2.0)


def test_a_study_that_exists_has_the_same_window(tmp_path):
    given = {"arms": ARMS, "storage": f"sqlite:///{tmp_path}/s.db", "load_if_exists": True}
    db.create_study("s", **given, window="24h", late=0)
    assert db.create_study("s", **given, window=86400, late=0.0).window == DAY
    for other in ({}, {"window": "24h", "late": "abandon"}, {"window": "7d", "late": 0}):
        with pytest.raises(db.ConflictError, match=r"was created with (window 86400\.0|late 0\.0) \(got"):
            db.create_study("s", **given, **other)
