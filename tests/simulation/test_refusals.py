"""A policy that refuses a reward stops alone: what the others have done is not lost, and the error says who and why."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dirichlet_bandits as db
from tests.simulation.games import Dice, GreedyUCB
from tests.simulation.test_store import assert_same

BANDIT = db.Bandit([Dice(), Dice()])  # rewards 1/6 to 1, which nothing declares
OTHERS = {"split": db.EqualSplit(), "mine": GreedyUCB()}
SETTINGS = {"horizon": 40, "replications": 30, "seed": 5}


class Wary(GreedyUCB):
    """A policy in Python that refuses a six."""

    def update(self, arm, reward):
        if reward == 1.0:
            raise db.RewardError("a six")
        super().update(arm, reward)


REFUSING = [
    (
        db.NPTS(upper=0.9),
        r"policies\['first'\]: arm 'arm [01]': NPTS\(upper=0.9\) expects .* \(got 1.0\); the 'result' of",
    ),
    (Wary(), r"policies\['first'\]: a six; the 'result' of this error has the other policies"),
]


@pytest.fixture(scope="module")
def alone():
    return db.simulate(BANDIT, OTHERS, **SETTINGS)


@pytest.mark.parametrize(("policy", "message"), REFUSING)
@pytest.mark.parametrize("workers", [1, 3, None])
def test_the_others_are_finished_and_in_the_error(alone, policy, message, workers):
    """On threads, or on an executor of the user's."""
    with ThreadPoolExecutor(2) as pool, pytest.raises(db.RewardError, match=message) as caught:
        db.simulate(
            BANDIT, {"first": policy, **OTHERS}, **SETTINGS, workers=workers, executor=None if workers else pool
        )
    assert_same(caught.value.result, alone)


def test_a_store_has_the_others_and_is_not_done_again(alone, tmp_path, monkeypatch):
    place, policies = tmp_path / "runs.zarr", {**OTHERS, "last": db.NPTS(upper=0.9)}
    for _ in range(2):
        with pytest.raises(db.RewardError, match=r"policies\['last'\]") as caught:
            db.simulate(BANDIT, policies, store=place, **SETTINGS)
        assert_same(caught.value.result, alone)
        assert not np.isnan(db.load(place).data.sel(policy=list(OTHERS))["reward"]).any()
        monkeypatch.setattr(GreedyUCB, "select", None)  # the second call plays nothing but the last


def test_all_policies_that_refuse_are_named():
    with pytest.raises(db.RewardError, match=r"policies\['a'\]: .*; policies\['b'\]: a six$") as caught:
        db.simulate(BANDIT, {"a": db.NPTS(upper=0.9), "b": Wary()}, **SETTINGS)
    assert caught.value.result is None


def test_the_result_of_the_others_can_be_saved(alone, tmp_path):
    with pytest.raises(db.RewardError) as caught:
        db.simulate(BANDIT, {"first": Wary(), **OTHERS}, **SETTINGS)
    caught.value.result.save(tmp_path / "others.zarr")
    assert_same(db.load(tmp_path / "others.zarr"), alone)
