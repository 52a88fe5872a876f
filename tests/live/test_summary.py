"""What a summary says, and what it does not: intervals, the best arm, lift over a control, costs."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.inference.differences import lifts
from dirichlet_bandits.inference.intervals import asymptotic, empirical_bernstein
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.summary import Summarized, best

ARMS = ["a", "b", "c"]


def told(rewards, **settings):
    """A study whose arms were told these rewards: before the first one, all arms are handed out alike."""
    study = db.create_study("s", arms=list(rewards), seed=1, **settings)
    left = {arm: list(values) for arm, values in rewards.items()}
    for trial in study.ask(len(left) * max(map(len, left.values()))):
        study.tell(trial, left[trial.arm].pop(0)) if left[trial.arm] else study.abandon(trial)
    return study


@pytest.mark.parametrize("count", [1, 4, 9, 10, 200])
@pytest.mark.parametrize("value", [1.0, 0.1, -3e7, 0.0, 5e-324])
def test_equal_rewards_never_give_an_interval_without_width(count, value):
    assert asymptotic(np.full(count, value), 0.95) == (-math.inf, math.inf)
    low, high = empirical_bernstein(np.full(count, value), -1e8, 1e8, 0.95)
    assert low < value < high or (low < high and value == 1e8)


def test_rewards_equal_up_to_rounding_are_equal():
    x = np.array([0.3, 0.1 + 0.2] * 20)
    assert x.std() > 0
    assert asymptotic(x, 0.95) == (-math.inf, math.inf)


def test_the_summary_says_why_there_is_no_interval():
    summary = told({"a": [1.0] * 4, "b": [1.0] * 12, "c": [0.0, 1.0] * 6}).summary()
    assert summary["no_interval"].fillna("").to_dict() == {
        "a": "fewer than 10 rewards",
        "b": "all rewards are equal",
        "c": "",
    }
    assert np.isfinite(summary[["low", "high"]]).all(axis=1).to_dict() == {"a": False, "b": False, "c": True}
    bounded = told({"a": [1.0] * 4, "b": [0.0]}, policy="BinarizedTS(0, 1)").summary()
    assert bounded["no_interval"].isna().all()
    assert ((bounded["low"] >= 0) & (bounded["high"] <= 1) & (bounded["low"] < bounded["high"])).all()
    below = told({"a": [0.9, 1.0] * 6, "b": [0.0]}, policy="NPTS(upper=1)").summary()
    assert below["high"].max() <= 1.0


def test_the_best_arm_is_named_when_there_is_something_to_say():
    few, more = [1.0, 2.0], [1.0, 2.0] * 6
    cases = {
        "no reward yet": {"a": [], "b": []},
        "'a' alone has rewards": {"a": more, "b": []},
        "2 arms are equally good, 'a' and 'b' among them": {"a": more, "b": more, "c": [0.0]},
        "'b' leads with 2 rewards: fewer than 10 say little": {"a": [1.0, 1.5] * 6, "b": few},
    }
    for reason, rewards in cases.items():
        study = told(rewards) if any(rewards.values()) else db.create_study("s", arms=list(rewards))
        assert study.best_arm is None
        assert study.summary().attrs["best_arm_reason"].startswith(reason)
    close = told({"a": more, "b": few[:1]})
    assert (close.best_arm, "intervals overlap" in close.summary().attrs["best_arm_reason"]) == ("a", True)
    clear = told({"a": [5.0, 5.1] * 6, "b": [1.0, 1.1] * 6})
    assert (clear.best_arm, "apart" in clear.summary().attrs["best_arm_reason"]) == ("a", True)
    clear.retire_arm("a")
    assert clear.best_arm is None


def test_lift_over_a_control():
    rng = np.random.default_rng(5)
    rewards = {"old": rng.normal(1, 1, 60), "new": rng.normal(3, 1, 60), "few": [2.0]}
    study = told({arm: list(x) for arm, x in rewards.items()}, control="old")
    summary = study.summary(0.9)
    assert (study.control, summary.attrs["control"]) == ("old", "old")
    assert summary["lift"].tolist() == pytest.approx([np.mean(x) - np.mean(rewards["old"]) for x in rewards.values()])
    # Two arms share nine tenths of the error; each end has half, and the mixtures cost log(1 + n/50)/2 per arm.
    price = math.log(2.0 / (0.1 * 0.45)) + math.log(1.0 + 60.0 / 50.0)
    # The variance of each arm counts as at least that of both arms' rewards together.
    spread = 2.0 * np.var(np.append(rewards["old"], rewards["new"]), ddof=1) * (60.0 + 50.0) / 60.0**2
    radius, lift = math.sqrt(2.0 * price * spread), summary["lift"]["new"]
    assert summary.loc["new", ["lift_low", "lift_high"]].tolist() == pytest.approx([lift - radius, lift + radius])
    assert summary.loc["old", ["lift_low", "lift_high"]].tolist() == [0.0, 0.0]
    assert not np.isfinite(summary.loc["few", ["lift_low", "lift_high"]].astype(float)).any()
    assert "lift" not in told({"a": [1.0], "b": [2.0]}).summary()


def test_lift_covers():
    """Two coins, at many sample sizes; more than 17 % of 300 misses at 10 % would be a false alarm of 1e-4."""
    rng = np.random.default_rng(6)
    for bounds in ((0.0, 1.0), (-math.inf, math.inf)):
        missed = 0
        for _ in range(300):
            one, two = ((rng.random(200) < p).astype(float) for p in (0.4, 0.5))
            seen = [lifts([two[:n], one[:n]], bounds, [0, 0], 0, 1.0 - 0.1 / 0.9)[1] for n in (10, 30, 90, 200)]
            missed += not all(low <= -0.1 <= high for low, high in seen)
        assert missed / 300 < 0.17


MIRRORED = {
    "RDS": (db.RDS(), lambda cost: -cost),
    "UCB1": (db.UCB1(sigma=1.0), lambda cost: -cost),
    "BinarizedTS": (db.BinarizedTS(1.0, 9.0), lambda cost: 10.0 - cost),
    "GIRO": (db.GIRO(binary=True), lambda cost: 1.0 - cost),
}


@pytest.mark.parametrize("name", MIRRORED)
def test_costs_are_decided_as_their_rewards_would_be(name, tmp_path):
    policy, mirror = MIRRORED[name]
    url = f"sqlite:///{tmp_path}/s.db"
    costs = db.create_study("s", arms=ARMS, policy=policy, storage=url, seed=2, direction="minimize")
    rewards = db.create_study("s", arms=ARMS, policy=policy, seed=2)
    rng = np.random.default_rng(3)
    for step in range(60):
        one, two = costs.ask(), rewards.ask()
        assert one[:3] == two[:3]
        cost = float(rng.integers(2)) if name == "GIRO" else float(rng.integers(1, 10))
        costs.tell(one, cost)
        rewards.tell(two, mirror(cost))
        if step % 9 == 5:
            costs.correct(one, 1.0)
            rewards.correct(two, mirror(1.0))
    assert costs.replay().same
    again = db.load_study("s", url)
    assert (again.direction, again.replay().same, again.propensities()) == ("minimize", True, rewards.propensities())
    mine, theirs = costs.summary(), rewards.summary()
    assert mine["mean"].to_numpy() == pytest.approx(mirror(theirs["mean"].to_numpy()))
    assert mine["low"].to_numpy() == pytest.approx(mirror(theirs["high"].to_numpy()))
    assert costs.best_arm == rewards.best_arm
    assert costs.estimate("a").ips == pytest.approx(mirror(rewards.estimate("a").ips), abs=5.0)
    assert costs.estimate(policy).effective_rounds == pytest.approx(rewards.estimate(policy).effective_rounds)
    with pytest.raises(db.ConflictError, match="was created with direction minimize"):
        db.create_study("s", arms=ARMS, policy=policy, storage=url, load_if_exists=True)


def test_the_worst_costs_are_the_large_ones():
    costs = {"a": [1.0, 1.0, 1.0, 9.0] * 3, "b": [4.0, 4.0, 4.0, 5.0] * 3}
    study = told(costs, policy=db.MCVTS([0.0, 1.0, 9.0, 10.0], 0.25), direction="minimize")
    assert study.summary()["value"].to_dict() == pytest.approx({"a": 9.0, "b": 5.0})
    assert study.best_arm == "b"


def test_policies_in_words():
    study = db.create_study("s", arms=ARMS, policy="QDS(rho=4, alpha=0.05)", seed=1)
    assert study.policy == db.QDS(rho=4, alpha=0.05)
    assert db.load_study("s", study.storage, policy="QDS(rho=4, alpha=0.05)").policy == study.policy


def test_propensities_keep_the_names():
    chances = db.propensities(db.RDS(), {"north": [3.1, 4.4, 4.6], "south": [3.9]})
    assert list(chances) == ["north", "south"]
    assert list(chances.values()) == db.propensities(db.RDS(), [[3.1, 4.4, 4.6], [3.9]]).tolist()


@pytest.mark.parametrize(
    ("policy", "direction"),
    [(db.UCB1(sigma=1.0), "maximize"), (db.UCB1(sigma=1.0), "minimize"), (db.BCVTS(upper=9.0, level=0.2), "maximize")],
)
def test_the_best_arm_without_the_table_is_that_of_the_table(policy, direction):
    rng, named = np.random.default_rng(5), 0
    for k in range(12):
        study = db.create_study("s", arms=["a", "b", "c"], policy=policy, direction=direction, seed=k)
        arms = rng.choice(["a", "b", "c"][: 1 + k % 3], 5 * k)
        study.add_trials({"arm": arms.tolist(), "reward": rng.integers(0, 9, 5 * k)})
        if k == 11:
            study.retire_arm("a")
        assert study.best_arm == study.summary().attrs["best_arm"]
        named += study.best_arm is not None
    assert 0 < named < 12


def test_the_best_arm_without_the_table_is_judged_by_the_intervals_of_the_table():
    """They hold together: arms that one interval alone would tell apart may overlap."""
    reasons, differ, rng = set(), 0, np.random.default_rng(1)
    rewards = {"a": rng.normal(2.0, 1.0, 100), "b": rng.normal(0.0, 1.0, 100)}
    for n in range(10, 100, 5):
        study = db.create_study("s", arms=["a", "b", "c", "d"], policy=db.UCB1(sigma=1.0))
        study.add_trials({"arm": ["a"] * n + ["b"] * n, "reward": [*rewards["a"][:n], *rewards["b"][:n]]})
        attrs = study.summary().attrs
        read = Summarized(
            local_of(study).journal(), study.policy, 0.95, study.settings.sign, study.control, study.settings.limits
        )
        found = best(read)
        assert found == (attrs["best_arm"], attrs["best_arm_reason"])
        reasons.add(found.reason)
        alone = asymptotic(rewards["a"][:n], 0.95).low > asymptotic(rewards["b"][:n], 0.95).high
        differ += alone != ("apart" in found.reason)
    assert len(reasons) == 2
    assert differ


@pytest.mark.parametrize("settings", [{}, {"control": "a"}, {"policy": db.BCVTS(upper=9e9, level=0.2)}])
def test_a_printed_summary_fits_80_columns(settings):
    summary = told(
        {"a": [1e9, 2e9] * 6, "b": [-3.5, 1e-7] * 6, "a name of thirty characters...": [1.0]}, **settings
    ).summary()
    lines = str(summary).splitlines()
    assert max(map(len, lines)) <= 80
    below = " ".join(lines[5:]).partition(" earned ")[0]
    shown, hidden = lines[0].split(), below.removeprefix("not shown: ").split(", ")
    assert {"told", "mean", "low", "high"} <= set(shown)
    assert sorted([*shown, *hidden]) == sorted(summary.columns)
    assert "told" in str(summary[["told"]])  # what is taken from it is a plain table
