"""The lottery rule in studies: what it takes from their events."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.inference.differences import Evidence
from dirichlet_bandits.live.local import local_of
from tests.live.test_winner import DELTA, played


def evidence_of(study: db.Study) -> Evidence:
    """The evidence by the recorded propensities of all trials, round by round, from the exported table."""
    frame = local_of(study).trials()
    journal = local_of(study).journal()
    found = Evidence(len(journal.names), (0.0, 1.0))
    for start, trials in frame.groupby("round"):
        chances = np.frombuffer(journal.records.chances_of[int(start)], "<f8")
        arms = [journal.names.index(name) for name in trials["arm"]]
        found.add_rounds(chances[None], np.zeros(len(arms), int), np.array(arms), trials["reward"].to_numpy(float))
    return found


@pytest.mark.parametrize("policy", ["EqualSplit", "EpsilonGreedy", "RDS", "ThompsonSampling('bernoulli')", "TopTwo"])
def test_the_rule_is_the_evidence_of_the_recorded_propensities(policy: str) -> None:
    study = db.create_study("page", arms=["a", "b", "c"], policy=policy, bounds=(0, 1), seed=1)
    for n in (1, 40, 200):
        played(study, n, n, 0.4, 0.8, 0.3)
        found, evidence = study.winner(DELTA), evidence_of(study)
        if found.leader is None:
            continue
        b = study.arms.index(found.leader)
        for rival in found.rivals:
            a = study.arms.index(rival.arm)
            assert rival.statistic == evidence.log_wealth(b, a, 0.0)
            assert rival.threshold == pytest.approx(math.log(3 / (0.9 * DELTA)), rel=1e-12)
            assert rival.beaten == (rival.statistic >= rival.threshold)
            assert -1.0 <= rival.low <= rival.lead <= rival.high <= 1.0
    again = db.load_study("page", study.storage)
    assert again.winner(DELTA) == found
    assert study.replay().same


def test_batches_segments_floors_and_repeated_units_count_as_they_were_drawn() -> None:
    study = db.create_study(
        "page", arms=["a", "b"], policy="RDS", bounds=(0, 1), floor=0.1, segments=["x", "y"], seed=1
    )
    rng = np.random.default_rng(2)
    for k in range(300):
        trial = study.ask(segment="xy"[k % 2], unit=f"unit {k % 270}")  # thirty of them return
        study.tell(trial, float(rng.random() < {"a": 0.2, "b": 0.8}[trial.arm]))
    rivals = [study.winner(segment=segment).rivals[0] for segment in "xy"]
    journal = local_of(study).journal()
    for segment, rival in zip("xy", rivals, strict=True):
        view = journal.of(segment)
        evidence = Evidence(2, (0.0, 1.0))
        for number in range(len(view.arm_of)):
            trial = view.id(number)
            if trial not in journal.repeats and trial == journal.records.trials[trial].round:
                mine = [one for one in range(trial, trial + 20) if one < len(journal.arm_of)]
                mine = [
                    one for one in mine if journal.records.trials[one].round == trial and one not in journal.repeats
                ]
                chances = np.frombuffer(journal.records.chances_of[trial], "<f8")
                assert chances.min() >= 0.1
                arms = [journal.arm_of[one] for one in mine]
                told = [float(journal.records.trials[one].reward or 0.0) for one in mine]
                evidence.add_rounds(chances[None], np.zeros(len(mine), int), np.array(arms), np.array(told))
        assert evidence.log_wealth(1, 0, 0.0) == pytest.approx(rival.statistic, rel=1e-12)
    assert len(journal.repeats) == 30


def test_the_rule_waits_for_the_first_trial_that_is_pending() -> None:
    study = db.create_study("page", arms=["a", "b"], policy="EqualSplit", bounds=(0, 1), seed=1)
    played(study, 50, 1, 0.5, 0.55)
    before = study.winner().rivals[0].lead
    first = study.ask()
    played(study, 100, 2, 0.5, 0.55)
    waits = study.winner()
    assert waits.rivals[0].lead == before
    assert "(100 later rewards wait for trial 50, which is pending)" in waits.reason
    study.abandon(first)
    assert study.winner().rivals[0].lead != before
    assert "later rewards" not in study.winner().reason
    without = study.winner().rivals[0].lead
    study.reopen(first)
    assert study.winner().rivals[0].lead == before
    study.tell(first, 1.0)
    known = study.winner().rivals[0].lead
    assert known not in (before, without)
    study.correct(first, 0.0, "wrong")
    assert study.winner().rivals[0].lead != known
    study.correct(first, 1.0, "right")
    assert study.winner().rivals[0].lead == known
    study.void(first, "typed twice")
    assert study.winner().rivals[0].lead == without
    study.correct(first, 1.0, "it was right")
    assert study.winner().rivals[0].lead == known
    assert db.load_study("page", study.storage).winner() == study.winner()


def test_a_change_of_arms_leaves_the_round_out_that_it_cuts_short() -> None:
    study = db.create_study("page", arms=["a", "b", "c"], policy="EqualSplit", bounds=(0, 1), seed=1)
    study.tell(study.ask(), 1.0)  # of the opening, in which all arms are certain
    study.add_arm("d")
    journal = local_of(study).journal()
    assert journal.records.chances_of == {}
    played(study, 200, 1, 0.2, 0.8, 0.2, 0.2)
    assert all(len(data) == 32 for data in journal.records.chances_of.values())
    assert study.winner(0.2).leader == "b"


def test_a_winner_is_not_misled_by_a_level_that_moves() -> None:
    """Equal arms, epsilon-greedy, a step from .2 to .4: counts name a winner in a third of all studies."""
    wrong = 0
    for seed in range(12):
        study = db.create_study("s", arms=["a", "b"], policy="EpsilonGreedy(0.2)", bounds=(0, 1), seed=seed)
        played(study, 150, seed, 0.2, 0.2, batch=10)
        played(study, 450, 100 + seed, 0.4, 0.4, batch=10)
        wrong += study.winner().arm is not None
    assert wrong <= 4  # of 12 at 5%: more have a probability of 3e-4


@pytest.mark.parametrize(("policy", "pair_bet"), [("UCB1(sigma=2)", True), ("EqualSplit", False)])
def test_a_deterministic_policy_is_judged_by_the_pair_bet(policy: str, pair_bet: bool) -> None:
    study = db.create_study("page", arms=["a", "b"], policy=policy, bounds=(0, 1), seed=1)
    played(study, 1200, 1, 0.2, 0.6)
    found = study.declare_winner()
    assert found.arm == "b"
    assert ("one mean" in found.assumes) == pair_bet
    assert found.method.startswith("pair bet" if pair_bet else "lottery rule")
    assert study.declare_winner().assumes == found.assumes
    assert local_of(study).journal().winners[0].claim == ("pair bet" if pair_bet else "lottery")


def test_the_average_over_the_rounds_is_a_claim_of_its_own() -> None:
    study = db.create_study("page", arms=["a", "b"], policy="EqualSplit", bounds=(0, 1), seed=1)
    played(study, 400, 1, 0.3, 0.6)
    arms, rounds = study.winner(), study.winner(over="rounds")
    assert (arms.arm, rounds.arm) == ("b", "b")
    assert rounds.claim == (
        "the probability of error is at most 5%, on average over the trials so far, whatever has changed"
    )
    assert 0.0 < rounds.rivals[0].statistic < arms.rivals[0].statistic
    assert rounds.rivals[0].low < arms.rivals[0].lead < rounds.rivals[0].high
    study.declare_winner(over="rounds")
    assert [one.claim for one in local_of(study).journal().winners] == ["average"]
    assert study.winner(over="rounds").established_at == 400
    assert study.winner().established_at is None  # the other claim has not been made
    # From now on, b is much worse. The average over the rounds follows, and the stored winner stays.
    played(study, 1500, 2, 0.9, 0.1)
    assert study.winner(0.01, over="rounds").arm == "a"
    assert study.winner(over="rounds").note == "the present rewards would establish a instead"
    free = db.create_study("free", arms=["a", "b"], seed=1)
    with pytest.raises(db.ArgumentError, match="'over' must be 'arms' in a study without bounds"):
        free.winner(over="rounds")
    with pytest.raises(db.ArgumentError, match="'over' must be"):
        study.winner(over="seasons")


@pytest.mark.parametrize("bounds", [(0, 1), None])
def test_past_trials_between_looks_leave_every_handle_with_the_same_bits(bounds: tuple[int, int] | None) -> None:
    study = db.create_study("page", arms=["a", "b"], policy="UCB1(sigma=0.5)", bounds=bounds, seed=1)
    rng = np.random.default_rng(3)
    for k in range(60):
        if k == 30:
            study.set_floor(0.2)
        study.tell(study.ask(), float(rng.random()))
        if k % 5 == 0:
            study.add_trials({"arm": ["a", "b"], "reward": rng.random(2)})
        assert study.winner() == db.load_study("page", study.storage).winner()


def test_a_reward_waits_only_for_what_can_still_come() -> None:
    study = db.create_study("page", arms=["a", "b"], policy="EpsilonGreedy(0.2)", bounds=(0, 1), seed=1)
    study.add_trials({"arm": ["a", "b"], "reward": [0.0, 1.0]})
    played(study, 6, 1, 0.4, 0.6)
    assert "wait" not in study.winner(over="rounds").reason  # past trials say nothing about these rounds
    certain = db.create_study("certain", arms=["a", "b"], policy="UCB1(sigma=0.5)", bounds=(0, 1), seed=1)
    played(certain, 6, 1, 0.4, 0.6)
    assert certain.winner(over="rounds").reason == "no reward of a trial that was drawn by lottery yet"
    cut = db.create_study("cut", arms=["a", "b", "c"], policy="EqualSplit", bounds=(0, 1), seed=1)
    cut.tell(cut.ask(), 1.0)
    assert "(1 later reward waits for a round that is not finished)" in cut.winner().reason
    cut.add_arm("d")
    assert "wait" not in cut.winner().reason
