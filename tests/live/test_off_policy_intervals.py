"""Intervals from recorded propensities, for another choice and for the difference of two arms, that survive drift."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.export import read_rounds
from dirichlet_bandits.live.local import local_of

THETAS = [2.0**k for k in range(-12, 12)]


def naive_difference(study: db.Study, a: str, b: str, confidence: float) -> tuple[float, float, float]:
    """Value and ends by loops over rounds, for rewards in [0, 1] none of which is missing."""
    journal, log = read_rounds(local_of(study).rows())
    one, two = journal.names.index(a), journal.names.index(b)
    up, down, most = [], [], 0.0
    for row, p in enumerate(log.propensities):
        if not log.complete[row] or p[one] <= 0.0 or p[two] <= 0.0:
            continue
        u = v = 0.0
        for trial in np.flatnonzero(log.row == row):
            x, arm = journal.records.trial(int(trial)).reward, journal.arm_of[int(trial)]
            u += (x if arm == one else 1 - x) / p[arm] if arm in (one, two) else 0.0
            v += (1 - x if arm == one else x) / p[arm] if arm in (one, two) else 0.0
        up.append(u)
        down.append(v)
        weights = 1 / p[one], 1 / p[two]
        most = max(most, max(weights) if p.sum() <= 1 + 1e-9 else sum(weights))
    n, price = len(up), math.log(4 * len(THETAS) / (1 - confidence))

    def lower(y: list[float]) -> float:
        return max((sum(y) - t / 2 * sum(v * v for v in y) - price / t) / n for t in THETAS)

    def upper(y: list[float]) -> float:
        fits = [t for t in THETAS if t * most < 1]
        psi = {t: -math.log(1 - t * most) - t * most for t in fits}
        return min((sum(y) + psi[t] / t / most**2 * sum(v * v for v in y) + price / t) / n for t in fits)

    low, high = max(lower(up), 2 - upper(down), 0), min(upper(up), 2 - lower(down), 2)
    return sum(up) / n - 1, low - 1, high - 1


def played(policy: str, n: int, seed: int, bounds: tuple[float, float] | None = (0.0, 1.0)) -> tuple[db.Study, float]:
    """A study whose arms exchange their means halfway, and the average difference of a and b over its trials."""
    study = db.create_study("drift", arms=["a", "b"], policy=policy, bounds=bounds, seed=seed)
    rng, truth = np.random.default_rng([seed, 1]), []
    for start in range(0, n, 50):
        trials = study.ask(50)
        means = {"a": 0.9, "b": 0.5} if start < n // 4 else {"a": 0.2, "b": 0.6}
        study.tell_many(trials, [float(rng.random() < means[trial.arm]) for trial in trials])
        truth += [means["a"] - means["b"]] * 50
    return study, float(np.mean(truth))


@pytest.mark.parametrize("policy", ["EpsilonGreedy(0.3)", "RDS"])
def test_the_difference_is_that_of_loops_over_rounds(policy: str) -> None:
    study, _ = played(policy, 200, 3)
    found = study.estimate_difference("a", "b", confidence=0.9)
    value, low, high = naive_difference(study, "a", "b", 0.9)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert (found.a, found.b, found.missing) == ("a", "b", 0)
    if policy != "RDS":  # rounds of one arm: the loop's x/p(b) and (1 - x)/p(b) agree in the mean only
        assert found.value == pytest.approx(value, abs=0.4)
    turned = study.estimate_difference("b", "a", confidence=0.9)
    assert (turned.value, turned.low, turned.high) == pytest.approx((-found.value, -found.high, -found.low))


def test_differences_cover_though_the_arms_change() -> None:
    """Of 60 intervals of level 80%, more than 26 miss with probability 3e-5; here, both arms change."""
    missed, widths = 0, []
    for seed in range(60):
        study, truth = played("EqualSplit", 200, seed)
        found = study.estimate_difference("a", "b", confidence=0.8)
        missed += not found.low <= truth <= found.high
        widths.append(found.high - found.low)
    assert missed <= 26
    assert np.mean(widths) < 1.0  # of a range of 2


def test_estimates_have_intervals_where_rewards_have_bounds() -> None:
    study, _ = played("EqualSplit", 1000, 1)
    found = study.estimate("a")
    assert 0.0 <= found.low < found.ips < found.high <= 1.0
    assert (found.confidence, found.high - found.low < 0.4) == (0.95, True)
    mixed = study.estimate({"a": 0.5, "b": 0.5}, confidence=0.5)
    assert mixed.low < mixed.ips < mixed.high
    wide = study.estimate({"a": 0.5, "b": 0.5}, confidence=0.999)
    assert wide.low < mixed.low < mixed.high < wide.high
    assert study.estimate(db.EqualSplit()).low == pytest.approx(study.estimate({"a": 0.5, "b": 0.5}).low, abs=0.01)
    free, _ = played("EqualSplit", 100, 1, None)
    assert np.isnan([free.estimate("a").low, free.estimate("a").high]).all()
    given = free.estimate("a", bounds=(0, 1))
    assert 0.0 <= given.low < given.high <= 1.0
    with pytest.raises(db.ArgumentError, match="'bounds' must be two finite numbers"):
        free.estimate_difference("a", "b")
    with pytest.raises(db.NotFoundError, match="no arm 'x'"):
        study.estimate_difference("a", "x")
    with pytest.raises(db.ArgumentError, match="'b' must be another arm"):
        study.estimate_difference("a", "a")


def test_missing_rewards_count_as_the_worst_they_could_be() -> None:
    study, _ = played("EqualSplit", 400, 2)
    before = study.estimate_difference("a", "b")
    for trial in range(0, 400, 4):
        study.void(trial, "lost")
    after = study.estimate_difference("a", "b")
    assert after.missing == 100
    assert after.low < before.low < before.high < after.high
    assert after.value == pytest.approx(before.value, abs=0.3)
