"""Which policies are tried on which arms: every registered one has its place, or a reason."""

import math
from dataclasses import dataclass

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments.applicable import NotApplicableError, all_applicable, applicable, reward_facts
from dirichlet_bandits.policies.registry import all_policies


def arms(*values, objective=None):
    return db.Bandit([db.Empirical(x) for x in values], objective=objective)


COINS = arms([0, 1, 0], [0, 1])
COUNTS = arms([0, 3], [1, 2])
TIMES = arms([0.5, 3], [1, 2])
REAL = arms([-0.5, 3], [1, 2])
MANY = arms(range(30), [0.5, 40])
BELLS = db.Bandit([db.Gaussian(0, 1), db.Gaussian(1, 1)])
RISKY = arms([0, 3], [1, 2], objective=db.CVaR(0.2))

CASES = {
    "coins": (COINS, {}),
    "counts": (COUNTS, {"bounds": (-math.inf, 9)}),
    "times, all told": (TIMES, {"bounds": (0, 9), "sigma": 1.5, "ordered": True}),
    "real": (REAL, {}),
    "real, all told": (REAL, {"bounds": (-1, 9), "sigma": 1.5}),
    "bells": (BELLS, {"sigma": 1}),
    "CVaR": (RISKY, {"bounds": (-math.inf, 9)}),
    "CVaR, many values": (arms(range(30), [1, 2], objective=db.CVaR(0.2)), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_policy_is_tried_or_left_out_with_a_reason(case):
    bandit, given = CASES[case]
    known = reward_facts(bandit, horizon=100, **given)
    tried, left_out = all_applicable(list(all_policies()), known, bandit.objective)
    classes = {type(policy).__name__ for policy in tried.values()}
    assert classes | set(left_out) == set(all_policies())
    assert classes & set(left_out) == set()
    assert all(left_out.values())
    for policy in tried.values():
        low, high = policy.reward_bounds
        assert low <= known.bounds[0] <= known.bounds[1] <= high


def test_with_everything_told_only_those_for_another_objective_are_left_out():
    bandit, given = CASES["times, all told"]
    _, left_out = all_applicable(list(all_policies()), reward_facts(bandit, horizon=100, **given), bandit.objective)
    forgetting = {name: left_out.pop(name) for name in ("Floored", "SlidingWindow", "Discounted", "SWLBSDA")}
    assert all("which rewards do not determine" in reason for reason in forgetting.values())  # such as a floor
    for name, reason in {
        "Restarting": "a value for 'policy'",
        "Queued": "a value for 'policy'",
        "CountPending": "a value for 'policy'",
        "MUCB": "a value for 'window'",
        "CUSUMUCB": "the number of changes",
        "GLRKLUCB": "expects rewards in [0, 1]",
        "EXP3S": "expects rewards in [0, 1]",
    }.items():
        assert reason in left_out.pop(name)
    assert all("CVaR as the objective" in reason for reason in left_out.values())
    assert {"BCVTS", "MCVTS", "UUCB", "CVaRUCB"} <= set(left_out)


def test_with_nothing_told_nothing_is_guessed():
    tried, _ = all_applicable(list(all_policies()), reward_facts(REAL, horizon=100), REAL.objective)
    for policy in tried.values():
        assert not {"lower", "upper", "sigma", "family"} & set(vars(policy))
    assert {"RDS", "QDS", "RBSDA", "RUCBLT"} <= set(tried)


@pytest.mark.parametrize(
    ("bandit", "given", "families"),
    [
        (COINS, {}, ("bernoulli",)),
        (COINS, {"bounds": (-math.inf, 2)}, ("poisson",)),
        (COUNTS, {}, ("poisson",)),
        (COUNTS, {"sigma": 1}, ("poisson", "gaussian")),
        (TIMES, {}, ("exponential",)),
        (arms([0, 0.5], [1, 2]), {}, ()),
        (REAL, {}, ()),
        (db.Bandit([db.Bernoulli(0.2), db.Poisson(3)]), {}, ("poisson",)),
        (db.Bandit([db.Exponential(1), db.Uniform(0, 2)]), {}, ("exponential",)),
        (db.Bandit([db.ClippedGaussian(0.1, 1, 0, 2), db.Uniform(0, 2)]), {}, ()),
        (BELLS, {}, ()),
        (BELLS, {"sigma": 1}, ("gaussian",)),
    ],
)
def test_families(bandit, given, families):
    assert reward_facts(bandit, horizon=10, **given).facts["family"] == families


def test_parameters_are_what_is_known():
    known = reward_facts(TIMES, horizon=70, bounds=(0, 9), sigma=1.5)
    assert applicable(db.NPTS, known) == {"NPTS": db.NPTS(upper=9.0)}
    assert applicable(db.GIRO, known) == {"GIRO": db.GIRO(lower=0.0, upper=9.0)}
    assert applicable(db.KLUCBSwitch, known) == {"KLUCBSwitch": db.KLUCBSwitch(9.0, horizon=70)}
    assert applicable(db.MED, known) == {
        "MED upper 9": db.MED(upper=9.0),
        "MED exponential": db.MED("exponential"),
        "MED gaussian": db.MED("gaussian", sigma=1.5),
    }


@pytest.mark.parametrize(
    ("policy", "bandit", "reason"),
    [
        (db.NPTS, REAL, "needs an upper bound of the rewards (bounds)"),
        (db.BDS, REAL, "needs an upper bound of the rewards (bounds)"),
        (db.UCB1, REAL, "needs the standard deviation of the rewards (sigma)"),
        (db.IMED, REAL, "needs a family (rewards 0 and 1, counts, positive numbers, or a bell curve of known sigma)"),
        (db.UnimodalIMED, COINS, "needs arms in an order along which the means rise and then fall (ordered)"),
        (db.Floored, COINS, "needs a value for 'policy' and for 'floor', which rewards do not determine"),
        (db.Queued, COINS, "needs a value for 'policy', which rewards do not determine"),
        (db.BCVTS, COINS, "needs a CVaR as the objective (level)"),
        (db.QDS, RISKY, "looks for the best mean, but the objective is CVaR at 20 %"),
        (
            db.MCVTS,
            arms(range(30), [1, 2], objective=db.CVaR(0.2)),
            "needs rewards with at most 20 different values (support)",
        ),
    ],
)
def test_reasons(policy, bandit, reason):
    with pytest.raises(NotApplicableError) as refusal:
        applicable(policy, reward_facts(bandit, horizon=10), bandit.objective)
    assert str(refusal.value) == reason


def test_rewards_that_a_policy_does_not_take():
    bandit = arms([-1, 3], [1, 2], objective=db.CVaR(0.2))
    with pytest.raises(NotApplicableError, match=r"expects rewards in \[0, 9\], but these lie in \[-1, 3\]"):
        applicable(db.UUCB, reward_facts(bandit, horizon=10, bounds=(-math.inf, 9)), bandit.objective)


def test_a_parameter_that_nobody_knows_is_a_reason():
    @dataclass(frozen=True)
    class Greedy(db.Policy):
        epsilon: float

    with pytest.raises(NotApplicableError, match="needs a value for 'epsilon', which rewards do not determine"):
        applicable(Greedy, reward_facts(REAL, horizon=10))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": (-1, 2)}, "'bounds' must be around all rewards, from -0.5 to 3 (got (-1, 2))"),
        ({"bounds": (0, math.inf)}, "'bounds' must be around all rewards, from -0.5 to 3 (got (0, inf))"),
        ({"bounds": (-1, math.nan)}, "'bounds[1]' must be a finite number (got nan)"),
        ({"bounds": 3}, "'bounds' must be two numbers between which all rewards lie (got 3)"),
        ({"sigma": 0}, "'sigma' must be a positive number (got 0)"),
    ],
)
def test_facts_that_the_rewards_contradict(given, message):
    with pytest.raises(db.ArgumentError) as refusal:
        reward_facts(REAL, horizon=10, **given)
    assert str(refusal.value) == message


def test_what_a_class_refuses_is_the_reason():
    bandit = arms([-4, -3], [-2, -1], objective=db.CVaR(0.2))
    with pytest.raises(NotApplicableError, match="cannot be created: 'upper' must be a positive number"):
        applicable(db.UUCB, reward_facts(bandit, horizon=10, bounds=(-math.inf, -1)), bandit.objective)
