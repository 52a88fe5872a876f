"""Units: the same one gets the same arm, and counts once."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.engine.verbs import NEVER
from dirichlet_bandits.live.export import recover
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.winner import _rates
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
    assert found.self_normalized == pytest.approx((weight * told["reward"]).sum() / weight.sum(), rel=0.05)
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


@pytest.mark.parametrize("settings", [{}, {"segments": ["x", "y"]}, {"window": 10, "late": 0}])
def test_a_unit_counts_once_although_its_arm_was_retired(url, clock, settings):  # noqa: F811
    """Whatever its trials after the first are told, and whichever arms they have, nothing counts but the first."""
    study = db.create_study("s", arms=ARMS, policy="UCB1(sigma=0.5)", storage=url, seed=3, **settings)
    place = {"segment": "x"} if "segments" in settings else {}
    others = {"segment": "y"} if "segments" in settings else {}  # a unit stays in its first segment
    firsts = [study.ask(unit=f"u{k}", **place) for k in range(6)]
    study.tell_many(firsts, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    clock.now += 10.0
    study.settle()
    known = study.summary(**place)[["told", "mean", "pending"]]
    study.retire_arm("a")
    chances = study.propensities(**place)
    study.add_arm("a")
    for gone, back in (("a", "b"), ("c", "a"), ("b", "c")):
        if back not in study.arms:
            study.add_arm(back)
        study.retire_arm(gone)
        again = [study.ask(unit=f"u{k}", **others) for k in range(6)]
        assert gone not in {trial.arm for trial in again}
        study.tell_many(again, [9.0] * 6)
        clock.now += 10.0
        study.settle()
        study.void(again[0], "a robot")
        study.correct(again[0], 8.0)
        assert {trial.segment for trial in again} == {place.get("segment")}
    study.add_arm("b")
    study.retire_arm("a")
    assert study.trials_dataframe()["status"].value_counts().to_dict() == {"repeated": 18, "told": 6}
    assert study.summary(**place)[["told", "mean", "pending"]].equals(known)
    assert study.propensities(**place) == pytest.approx(chances)
    assert study.replay().same
    other = db.load_study("s", url) if url else study
    assert local_of(other).journal().told.trials == [0, 1, 2, 3, 4, 5]


def test_equal_arms_have_no_winner_because_units_return():
    """Each unit likes everything or nothing, and those that liked the retired arm come back. All means are equal.

    When these came to count again, the new arm was named after rewards of 1 only. One seed, so no chance of an alarm.
    """
    study = db.create_study("s", arms=ARMS, policy="EqualSplit", bounds=(0, 1), seed=0)
    likes = {f"u{k}": float(liking) for k, liking in enumerate(np.random.default_rng(0).random(600) < 0.5)}
    for unit, liking in likes.items():
        study.tell(study.ask(unit=unit), liking)
    study.retire_arm("a")
    study.add_arm("d")
    for unit, liking in likes.items():
        if liking:
            study.tell(study.ask(unit=unit), liking)
    assert (study.summary()["told"]["d"], study.winner().arm) == (0, None)
    log = study.trials_dataframe()
    assert ((log["arm"] == "d") & (log["status"] == "repeated")).sum() > 50


def test_estimates_leave_out_rounds_in_which_units_were_assigned_again():
    study = visited(policy="EqualSplit")
    before = study.estimate("b")
    assert before.rounds > 5
    study.retire_arm("a")
    rounds = len(set(study.trials_dataframe()["round"]))
    for k in range(30):
        trial = study.ask(unit=f"user-{k}")
        study.tell(trial, 100.0)
    log = study.trials_dataframe()
    assert len(set(log["round"])) > rounds + 5
    found, risk = study.estimate("b"), study.estimate("b", objective=db.CVaR(0.5), bounds=(0.0, 100.0))
    assert found.rounds - before.rounds <= 2  # of units that are new
    assert max(found.ips, found.self_normalized) < 1.0
    assert risk.rounds <= found.rounds
    assert study.replay().same


def test_the_round_goes_on_after_a_unit_was_assigned_again():
    study = db.create_study("s", arms=["a", "b", "c", "d"], policy="EqualSplit", seed=3)
    firsts = [study.ask(unit=f"u{k}") for k in range(4)]
    study.retire_arm(firsts[0].arm)
    left = {trial.arm for trial in firsts[1:]}
    begun = study.ask(unit="new")
    again = study.ask(unit="u0")
    assert again.arm in left
    rest = study.ask(2)
    log = study.trials_dataframe()
    assert {begun.arm, *(trial.arm for trial in rest)} == left
    assert log["round"].tolist()[4:] == [4, 5, 4, 4]
    assert study.replay().same


@pytest.mark.parametrize("end", ["abandon", "void"])
def test_a_unit_without_a_first_reward_does_not_count_until_it_has_one(end):
    study = db.create_study("s", arms=ARMS, policy="UCB1(sigma=0.5)", seed=3)
    first = study.ask(unit="u")
    if end == "abandon":
        study.abandon(first)
    else:
        study.tell(first, 1.0)
        study.void(first, "a robot")
    again = study.ask(unit="u")
    assert again.arm == first.arm
    study.tell(again, 5.0)
    assert study.summary()["told"].sum() == 0
    if end == "abandon":
        study.reopen(first)
        assert study.ask(unit="u").id == 2  # the last trial was told
        study.tell(first, 2.0)
    else:
        study.correct(first, 2.0)
    assert local_of(study).journal().told.rewards == [2.0]
    assert study.replay().same


def test_a_retired_arm_is_not_shown_to_those_who_wait_for_it(url, clock):  # noqa: F811
    study = db.create_study(
        "s", arms=ARMS, policy="UCB1(sigma=0.5)", storage=url, seed=3, segments=["x", "y"], window=100, late=0
    )
    firsts = {f"u{k}": study.ask(unit=f"u{k}", segment="xy"[k % 2], token=f"first {k}") for k in range(6)}
    begun = study.ask(segment="x")
    gone = begun.arm
    study.retire_arm(gone)
    waiting = study.pending
    for k, (unit, first) in enumerate(firsts.items()):
        now = study.ask(unit=unit, segment="x", token=f"now {k}")
        assert now.arm != gone
        assert (now == first) == (first.arm != gone)
        assert study.ask(unit=unit, segment="x", token=f"first {k}") == first  # an answer that was given
        assert study.ask(unit=unit, segment="x", token=f"now {k}") == now == study.ask(unit=unit, segment="x")
    assert {trial.arm for trial in study.ask(8, segment="x") + study.ask(8, segment="y")} == set(ARMS) - {gone}
    assert [trial for trial in study.pending if trial.id <= begun.id] == waiting
    mine = [first for first in firsts.values() if first.arm == gone]
    assert len(mine) >= 2
    study.tell(mine[0], 1.0)
    clock.now += 100.0
    study.settle()
    assert local_of(study).journal().records.trial(mine[0].id).reward == 1.0
    assert local_of(study).journal().records.trial(mine[1].id).reward == 0.0  # late, as any other
    assert local_of(study).journal().of(mine[0].segment).n_told[ARMS.index(gone)] >= 1
    study.add_arm(gone)
    kept = study.ask(unit=mine[0].unit, segment="x")
    assert kept.arm != gone  # a unit keeps the arm that it was assigned last
    assert study.replay().same


def outcomes(study, trial):
    """Everything that may be done to a trial, each undone or overruled by what follows."""
    study.abandon(trial)
    study.reopen(trial)
    study.abandon(trial)
    study.reopen(trial)
    study.tell(trial, 5.0)
    study.void(trial, "a robot")
    study.correct(trial, 6.0)
    study.correct(trial, 7.0)


@pytest.mark.parametrize("settings", [{}, {"window": 10, "late": 0}, {"window": 10, "late": "abandon"}])
@pytest.mark.parametrize("segments", [None, ["x", "y"]])
def test_nothing_that_happens_to_a_repeated_trial_changes_what_is_pending(clock, settings, segments):  # noqa: F811
    study = db.create_study("s", arms=ARMS, policy="UCB1(sigma=1)", seed=1, segments=segments, **settings)
    place = {} if segments is None else {"segment": "x"}
    first = study.ask(unit="v", **place)
    study.tell(first, 1.0)
    journal = local_of(study).journal()
    before = list(journal.n_told), list(journal.n_pending)
    outcomes(study, study.ask(unit="v", **place))
    left = study.ask(unit="v", **place)
    study.abandon(left)
    study.reopen(left)
    journal = local_of(study).journal()
    assert (journal.n_told, journal.n_pending) == before
    clock.now += 10.0
    late = study.settle()
    assert late == ([left.id] if settings else [])
    for part in (journal, journal.of(place.get("segment"))):
        assert part.n_pending == [0, 0, 0]
        assert [ARMS[arm] for arm in part.told.arms] == [first.arm]
    for trial in study.ask(2, **place):
        study.tell(trial, 0.1)
    clock.now += 10.0
    study.settle()
    study.void(first, "wrong")
    assert study.ask(**place).arm == first.arm  # the only arm without a reward
    assert study.replay().same


def test_policies_that_count_pending_trials_count_no_repeated_ones():
    study = db.create_study("s", arms=ARMS, policy="CountPending(UCB1(sigma=1))", seed=0)
    for k, trial in enumerate(study.ask(unit=f"u{k}") for k in range(3)):
        study.tell(trial, float(k))
    study.ask(unit="u0")
    other = study.ask()
    study.propensities()
    mine = [arm == other.arm for arm in ARMS]
    earliest = [other.id if pending else NEVER for pending in mine]
    assert local_of(study)._state.decider._waiting == [*map(int, mine), *earliest]


def test_forecasts_count_only_what_counts():
    study = db.create_study("s", arms=ARMS, policy="EqualSplit", bounds=(0, 1), seed=0)
    for k in range(60):
        trial = study.ask(unit=f"u{k}")
        study.tell(trial, 0.5)
        for _ in range(5 if trial.arm == "b" else 0):
            study.tell(study.ask(unit=f"u{k}"), 1.0)
    log = study.trials_dataframe()
    later = log[log["status"] == "told"]["arm"].iloc[30:].value_counts(normalize=True)
    rates = _rates(local_of(study).journal(), study.policy, [0, 1, 2])
    assert rates.trials == 60
    assert dict(zip(ARMS, rates.shares.tolist(), strict=True)) == pytest.approx(later.to_dict())


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
    events = local_of(visited()).rows()
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
