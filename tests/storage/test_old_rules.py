"""Studies that were decided by version 3 of the rules, which read some events wrongly.

Units counted again after their arm was retired, segments did not know which trials were reopened, and a reopened trial
of a returning unit was pending for ever. Now all of this is read rightly, and the old decisions still come out again.
"""

import shutil
from pathlib import Path

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.export import read_rounds
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.summary import shares_of_segments
from tests.live.test_lateness import Clock, clock  # noqa: F401

NAMES = ["units", "units in segments", "held units", "reopened", "reopened repeat"]


@pytest.fixture
def study(request, tmp_path):
    shutil.copy(Path(__file__).with_name("decider3.db"), tmp_path / "old.db")
    return db.load_study(request.param, f"sqlite:///{tmp_path}/old.db")


@pytest.mark.parametrize("study", NAMES, indirect=True)
def test_old_and_new_decisions_come_out_again(study):
    place = {"segment": study.segments[0]} if study.segments else {}
    trials = len(study)
    for _ in range(3):
        assert study.replay().same, str(study.replay())
        study.tell(study.ask(**place), 0.5)
    study.add_arm("new")
    for unit in ("u1", "u2", "u3"):
        study.ask(**place, unit=unit)
    replay = study.replay()
    assert replay.same, str(replay)
    assert replay.trials == len(study) >= trials + 3


@pytest.mark.parametrize("study", NAMES, indirect=True)
def test_only_first_trials_of_units_count(study):
    log = study.trials_dataframe()
    first = log["unit"].isna() | ~log.duplicated("unit")
    assert "told" not in set(log[~first]["status"])
    told = log[first & (log["status"] == "told")]
    expected = told["arm"].value_counts().reindex(study.summary().index, fill_value=0)
    assert study.summary()["told"].to_dict() == expected.to_dict()
    for segment in study.segments:
        part = local_of(study).journal().of(segment)
        assert sorted(part.told.rewards) == sorted(told[told["segment"] == segment]["reward"])
        waiting = log[first & (log["segment"] == segment) & log["status"].isin(["pending", "held"])]
        assert sum(part.n_pending) == len(waiting)
    assert sum(local_of(study).journal().n_pending) == (first & log["status"].isin(["pending", "held"])).sum()


@pytest.mark.parametrize(
    ("study", "trials"), [("units", 10), ("units in segments", 14), ("held units", 4)], indirect=["study"]
)
def test_the_studies_hold_trials_that_used_to_count_again(study, trials):
    """Such a trial has a propensity of its own round, not that of the unit's first trial."""
    log = study.trials_dataframe()
    first = ~log.duplicated("unit")
    again = log["unit"].notna() & ~log.duplicated(["unit", "round"]) & ~first
    assert again.sum() >= trials
    _, rounds = read_rounds(local_of(study).rows())
    assert not rounds.complete[rounds.row[log.index[again]]].any()  # estimates leave them out
    assert rounds.complete.any()  # and others do not: later ones wait
    if study.segments:
        mine = log[~again & (first | log["unit"].isna())]["segment"]
        assert shares_of_segments(local_of(study).journal()) == pytest.approx(
            mine.value_counts(normalize=True).to_dict()
        )


@pytest.mark.parametrize("study", ["reopened"], indirect=True)
def test_a_trial_that_a_segment_had_lost_takes_its_reward(study, clock):  # noqa: F811
    part = local_of(study).journal().of("x")
    assert sorted(part.told.rewards) == [0.0, 0.0, 1.0]  # one of them was reopened and then late
    assert study.pending[0].id == 10
    clock.now = local_of(study).journal().records.trial(10).asked_at + 1.0
    study.tell(10, 0.75)
    study.void(10, "mistyped")
    study.correct(10, 0.5)
    clock.now += 100.0
    assert study.settle() == []
    assert sorted(local_of(study).journal().of("x").told.rewards) == [0.0, 0.0, *[0.5] * 5, 1.0]
    assert study.replay().same


@pytest.mark.parametrize("study", ["reopened repeat"], indirect=True)
def test_an_arm_that_starved_is_tried_again(study):
    assert study.summary().loc["y", ["told", "pending"]].tolist() == [0, 0]
    assert study.ask().arm == "y"
