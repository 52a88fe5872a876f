"""Units: the same one gets the same arm, and counts once."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.recovery import recover
from tests.live.test_lateness import clock, url  # noqa: F401

ARMS = ["a", "b", "c"]


def visited(url=None, policy="RDS", visits=150, **settings):  # noqa: F811
    """A study with thirty users who come again and again, and the same without their later visits."""
    rng = np.random.default_rng(2)
    study = db.create_study("s", arms=ARMS, policy=policy, storage=url, seed=3, **settings)
    for _ in range(visits):
        trial = study.ask(unit=f"user-{rng.integers(30)}")
        if rng.random() < 0.8:
            study.tell(trial, float(rng.random()))
    return study


def test_the_same_unit_gets_the_same_arm_with_its_first_propensity(url):  # noqa: F811
    study = visited(url)
    log = study.trials_dataframe()
    assert (log.groupby("unit")["arm"].nunique() == 1).all()
    assert (log.groupby("unit")["propensity"].nunique() == 1).all()
    assert (log.groupby("unit")["round"].nunique() == 1).all()
    assert (log["status"] == "repeated").sum() > 30
    firsts = log.groupby("unit").head(1)
    summary = study.summary()
    assert summary["told"].sum() == (firsts["status"] == "told").sum()
    told = firsts[firsts["status"] == "told"].groupby("arm")["reward"].mean()
    assert summary["mean"].to_dict() == pytest.approx(told.to_dict())
    assert summary[["told", "pending", "abandoned", "voided"]].to_numpy().sum() == len(firsts)
    assert study.replay().same
    assert study.ask().arm in ARMS  # asks without a unit go on
    assert study.replay().same


def test_estimates_are_those_of_the_first_trials():
    study = visited(visits=250)
    for _ in range(60):  # others, so that rounds go on
        study.tell(study.ask(), 0.5)
    log = study.trials_dataframe()
    assert (log["status"] == "repeated").any()
    firsts = log[(log["status"] != "repeated") & ~log.duplicated(["unit"]) | log["unit"].isna()]
    found = study.estimate("a")
    # A round counts where it was completed; all but the last one are.
    assert found.missing <= (firsts["status"] == "pending").sum()
    told = firsts[(firsts["arm"] == "a") & (firsts["status"] == "told")]
    weight = 1.0 / told["propensity"]
    scale = (firsts["arm"] == "a").sum() / len(told)
    assert found.self_normalised == pytest.approx((weight * told["reward"]).sum() / weight.sum(), rel=0.05)
    assert scale >= 1.0
    risk = study.estimate("a", objective=db.CVaR(0.5), bounds=(0.0, 1.0))
    assert risk.missing == found.missing


def test_a_waiting_trial_is_returned_again_and_a_told_one_is_followed_by_another():
    study = db.create_study("s", arms=ARMS, seed=3)
    first = study.ask(unit="u")
    assert study.ask(unit="u") == first
    assert len(study) == 1
    study.tell(first, 1.0)
    second = study.ask(unit="u")
    assert (second.id, second.arm, second.propensity, second.unit) == (1, first.arm, first.propensity, "u")
    study.tell(second, 9.0)
    study.tell(second, 9.0)
    with pytest.raises(db.ConflictError, match=r"was given 9\.0 \(now 8\.0\)"):
        study.tell(second, 8.0)
    study.correct(second, 8.0)
    assert study.trials_dataframe()["reward"].tolist() == [1.0, 8.0]
    study.void(second, "a robot")
    assert study.trials_dataframe()["status"].tolist() == ["told", "voided"]
    study.correct(second, 7.0)
    study.abandon(study.ask(unit="u"))
    assert study.summary()[["told", "pending", "abandoned", "voided"]].sum().tolist() == [1, 0, 0, 0]
    assert sorted(trial.arm for trial in study.ask(2)) == sorted(set(ARMS) - {first.arm})  # the round goes on
    assert study.replay().same


def test_tokens_return_the_same_trial_even_if_it_was_told_since(url):  # noqa: F811
    study = db.create_study("s", arms=ARMS, storage=url, seed=3)
    first = study.ask(unit="u", token="one")
    assert study.ask(unit="u", token="two") == first
    study.tell(first, 1.0)
    for token in ("one", "two"):
        assert study.ask(unit="u", token=token) == first
    with pytest.raises(db.ConflictError, match="another segment or unit"):
        study.ask(unit="v", token="two")
    with pytest.raises(db.ConflictError, match="another segment or unit"):
        study.ask(token="one")
    assert len(study) == 1


def test_a_unit_whose_arm_was_retired_is_assigned_again_and_counts_again():
    study = db.create_study("s", arms=ARMS, seed=3)
    first = study.ask(unit="u")
    study.tell(first, 1.0)
    study.retire_arm(first.arm)
    second = study.ask(unit="u")
    assert second.arm != first.arm
    study.tell(second, 0.5)
    assert study.summary()["told"].sum() == 2
    assert study.ask(unit="u").arm == second.arm
    assert study.replay().same


def test_units_keep_their_arm_in_other_segments_and_windows_close(clock):  # noqa: F811
    study = db.create_study("s", arms=ARMS, seed=3, segments=["x", "y"], window=10, late=0)
    first = study.ask(unit="u", segment="x")
    study.tell(first, 1.0)
    clock.now += 10.0
    again = study.ask(unit="u", segment="y")
    assert (again.arm, again.segment) == (first.arm, "x")
    assert study.ask(unit="v", segment="y").segment == "y"
    clock.now += 10.0
    assert study.settle() == [1, 2]
    assert study.trials_dataframe()["status"].tolist() == ["told", "repeated", "told"]
    assert study.summary()["late"].sum() == 1
    assert study.replay().same


def test_what_is_left_of_damaged_units_can_be_read():
    events = visited()._events()
    for gone in (3, 10, 60):
        journal = Journal()
        journal.apply(recover([event for event in events if event.number != gone]).events)
        assert len(journal.arm_of) >= len([event for event in events if event.kind == 2]) - 1


def test_a_unit_has_one_trial_at_a_time():
    study = db.create_study("s", arms=ARMS, seed=3)
    with pytest.raises(db.ArgumentError, match="'n' must be left out with a unit"):
        study.ask(2, unit="u")
    with pytest.raises(db.ArgumentError, match="'unit' must be a text"):
        study.ask(unit="")
