"""The unit of the rewards and the place of their zero change numbers in that unit, and nothing else."""

import dataclasses
import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments.ranking import Ranking

ARMS = ["a", "b", "c"]
UNITS = [(8.0, 0.0), (2.0**-10, -4.0), (10.0, -3.0)]
CASES = [("maximize", True), ("minimize", True), ("maximize", False)]


def played(unit: float, shift: float, direction: str, bounded: bool, policy: str, n: int = 500) -> db.Study:
    """A study with a third arm that gets better halfway, and rewards of 64ths of the unit."""
    bounds = (unit * shift, unit * (1.0 + shift)) if bounded else None
    study = db.create_study(
        "s", arms=ARMS, policy=policy, bounds=bounds, direction=direction, control="a", floor=0.25, seed=3
    )
    rng = np.random.default_rng(1)
    for step in range(n):
        trial = study.ask()
        mean = {"a": 0.4, "b": 0.7, "c": 0.05 if step < n // 2 else 0.95}[trial.arm]
        study.tell(trial, unit * (round(64 * float(rng.beta(4 * mean, 4 - 4 * mean))) / 64 + shift))
    return study


@pytest.mark.parametrize(("unit", "shift"), UNITS)
@pytest.mark.parametrize(("direction", "bounded"), CASES)
def test_summaries_and_winners(unit: float, shift: float, direction: str, bounded: bool) -> None:
    one, other = (played(*scale, direction, bounded, "EpsilonGreedy(0.3)") for scale in ((1.0, 0.0), (unit, shift)))
    assert [trial.arm for trial in one.ask(20)] == [trial.arm for trial in other.ask(20)]
    before, after = one.summary(), other.summary()
    means, spreads = ["mean", "low", "high"], ["std", "lift", "lift_low", "lift_high"]
    assert after[means].to_numpy() == pytest.approx(unit * (before[means].to_numpy() + shift), rel=1e-6)
    assert after[spreads].to_numpy() == pytest.approx(unit * before[spreads].to_numpy(), rel=1e-6)
    assert after["probability_best"].to_numpy() == pytest.approx(before["probability_best"].to_numpy(), abs=1e-9)
    for said in ("drift", "best_arm", "best_arm_reason", "interval"):
        assert after.attrs[said] == before.attrs[said]
    assert (before.attrs["drift"] == ["c"]) == bounded
    for delta, margin in ((0.05, 0.0), (0.05, 0.05), (0.4, 0.15), (0.05, -0.02)):
        first, second = one.winner(delta, margin), other.winner(delta, unit * margin)
        lengths = ("lead", "low", "high")
        for rival, moved in zip(first.rivals, second.rivals, strict=True):
            scaled = dataclasses.replace(rival, **{length: unit * getattr(rival, length) for length in lengths})
            assert moved.arm == scaled.arm
            assert dataclasses.astuple(moved)[1:] == pytest.approx(dataclasses.astuple(scaled)[1:], rel=1e-6)
        same = dataclasses.replace(second, rivals=first.rivals, margin=margin)
        assert same == first  # the forecasts, too


@pytest.mark.parametrize(("unit", "shift"), UNITS)
@pytest.mark.parametrize("policy", ["EpsilonGreedy(0.3)", "RDS"])
def test_estimates(unit: float, shift: float, policy: str) -> None:
    one, other = (played(*scale, "maximize", True, policy) for scale in ((1.0, 0.0), (unit, shift)))
    for choice in ("a", {"b": 0.5, "c": 0.5}):
        before, after = one.estimate(choice), other.estimate(choice)
        level = unit * (np.array([before.self_normalized, before.low, before.high]) + shift)
        assert [after.self_normalized, after.low, after.high] == pytest.approx(level.tolist(), rel=1e-6)
        assert after.self_normalized_error == pytest.approx(unit * before.self_normalized_error, rel=1e-6)
        if shift == 0.0:  # IPS divides by the number of rounds, so its error depends on the zero
            assert [after.ips, after.ips_error] == pytest.approx([unit * before.ips, unit * before.ips_error])
        risks = [study.estimate(choice, objective=db.CVaR(0.3)) for study in (one, other)]
        ends = [[risk.value, risk.low, risk.high] for risk in risks]
        assert ends[1] == pytest.approx((unit * (np.array(ends[0]) + shift)).tolist(), rel=1e-6)
    if shift == 0.0:
        pairs = [study.estimate_difference("a", "b") for study in (one, other)]
        ends = [[pair.value, pair.low, pair.high] for pair in pairs]
        assert ends[1] == pytest.approx([unit * end for end in ends[0]])


def ranked(unit: float, shift: float, policies: list[object] | None) -> Ranking:
    rng = np.random.default_rng(0)
    past = {arm: np.clip(rng.normal(mean, 0.15, 40), 0, 1) for arm, mean in zip(ARMS, (0.3, 0.5, 0.45), strict=True)}
    return db.compare_policies(
        db.Bandit({arm: unit * (np.round(64 * x) / 64 + shift) for arm, x in past.items()}),
        horizon=100,
        replications=4,
        policies=policies,
        bounds=(unit * shift, unit * (1.0 + shift)),
        sigma=0.5 * unit,
        seed=1,
        workers=1,
    )


FEW = ["UCB1", "KLUCB", "EmpiricalIMED", "NPTS", "RDS", "QDS", "MED", "BinarizedTS", "TopTwo", "LBSDA", "MBE", "GIRO"]


@pytest.mark.parametrize("policies", [FEW, pytest.param(None, marks=pytest.mark.slow)], ids=["few", "all"])
@pytest.mark.parametrize(("unit", "shift"), [(8.0, 0.0), (8.0, -4.0)])
def test_rankings(unit: float, shift: float, policies: list[object] | None) -> None:
    """Powers of two, so that sums are exact. Policies for rewards in [0, 1] are left out of the second ranking."""
    means = [
        {place.policy.partition(" upper")[0]: place.mean / scale for place in ranked(scale, move, policies).places}
        for scale, move in ((1.0, 0.0), (unit, shift))
    ]
    for name in means[1].keys() - {"RUCBLT"}:  # its scale is in the unit of the rewards, and 1 by default
        assert means[1][name] == pytest.approx(means[0][name]), name
    own = [ranked(scale, move, [db.RUCBLT(scale=scale)]).places[0] for scale, move in ((1.0, 0.0), (unit, shift))]
    assert own[1].mean == pytest.approx(unit * own[0].mean)
    assert means[0].keys() - means[1].keys() <= {"EXP3S", "GLRKLUCB", "MUCB", "CUSUMUCB"}
    assert not math.isnan(sum(means[1].values()))
