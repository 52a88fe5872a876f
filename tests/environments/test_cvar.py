"""CVaR as what makes an arm good: exact values for every law, the shipped seasons, lower bounds, shortcuts."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

import dirichlet_bandits as db
from tests.environments.test_laws import LAWS
from tests.policies.twins import PAIRS

LEVELS = (0.001, 0.05, 0.2, 0.5, 0.8, 0.999)
PEERS = [
    (db.Gaussian(-1.0, 2.0), stats.norm(-1.0, 2.0)),
    (db.Exponential(2.5), stats.expon(scale=2.5)),
    (db.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    (db.Beta(0.5, 2.0), stats.beta(0.5, 2.0)),
    (db.Beta(30.0, 2.0), stats.beta(30.0, 2.0)),
    (db.Poisson(3.7), stats.poisson(3.7)),
    (db.Poisson(400.0), stats.poisson(400.0)),
    (db.Bernoulli(0.3), stats.bernoulli(0.3)),
]


@pytest.mark.parametrize(
    ("law", "peer"), PEERS, ids=lambda law: repr(law) if isinstance(law, db.environments.Law) else ""
)
@pytest.mark.parametrize("level", LEVELS)
def test_closed_forms_are_the_quadrature_of_scipys_laws(law, peer, level):
    ours, theirs = db.CVaR(level).value(law), db.CVaR(level).value(peer)
    assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_closed_forms_are_integrals_of_the_quantile_function_in_high_precision(level):
    with mp.workdps(40):
        a = mp.mpf(level)
        exponential = 2.5 * mp.quad(lambda u: -mp.log(1 - u), [0, a]) / a
        z = mp.sqrt(2) * mp.erfinv(2 * a - 1)
        gaussian = -1 - 2 * mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi) / a
    assert db.CVaR(level).value(db.Exponential(2.5)) == pytest.approx(float(exponential), rel=1e-13)
    assert db.CVaR(level).value(db.Gaussian(-1.0, 2.0)) == pytest.approx(float(gaussian), rel=1e-12)


@pytest.mark.parametrize("law", LAWS[6:9], ids=repr)
@pytest.mark.parametrize("level", LEVELS)
def test_clipped_and_mixed_gaussians_have_the_tail_of_their_distribution_function(law, level):
    """q - 1/a * integral of F below q, at the best q of a search that knows F alone."""
    if isinstance(law, db.GaussianMixture):

        def cdf(x):
            return float(law.weights @ stats.norm.cdf((x - law.means) / law.stds))

        low = -30.0
    else:
        cdf, low = lambda x: float(law.cdf(x)), law.support()[0]
    ends = [low, *sorted(law.means if isinstance(law, db.GaussianMixture) else []), 10.0]
    at = np.linspace(low - 1e-9, 4.0, 4001)
    quantile = min(at[np.searchsorted([cdf(x) for x in at], level)], law.support()[1])
    points = [x for x in ends if low < x < quantile]
    below = (
        integrate.quad(cdf, low, quantile, points=points or None, epsabs=1e-13, limit=500)[0] if quantile > low else 0
    )
    # The grid's quantile is off by 1e-3 at most, and the CVaR by no more than that times the chance in between.
    slack = (at[1] - at[0]) * (cdf(quantile) - cdf(quantile - (at[1] - at[0]))) / level
    found = quantile - below / level
    assert found - 1e-9 <= db.CVaR(level).value(law) <= found + slack + 1e-9


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_values_are_those_of_large_samples_and_level_one_is_the_mean(law):
    """Five standard errors: a correct law fails less than once in a million."""
    assert db.CVaR(1).value(law) == law.mean()
    sample = law.rvs(200_000, random_state=1)
    for level in (0.05, 0.5):
        worst = np.sort(sample)[: int(level * sample.size)]
        error = math.hypot(worst.std(), worst.max() - worst.mean()) / math.sqrt(worst.size)
        assert abs(db.CVaR(level).value(law) - worst.mean()) <= 5 * error + 1e-12
    values = [db.CVaR(level).value(law) for level in (*LEVELS, 1.0)]
    assert values == sorted(values)  # the worst are worst


def test_laws_of_scipy_that_are_discrete_heavy_or_bent():
    assert db.CVaR(0.3).value(stats.skellam(2.0, 5.0)) == pytest.approx(
        float(np.sort(stats.skellam(2.0, 5.0).rvs(400_000, random_state=0))[:120_000].mean()), abs=0.03
    )
    heavy = stats.t(1.5)
    assert db.CVaR(0.1).value(heavy) == pytest.approx(integrate.quad(heavy.ppf, 0, 0.1, limit=500)[0] / 0.1, rel=1e-6)
    bent = stats.rv_histogram((np.array([1.0, 3.0]), np.array([0.0, 1.0, 2.0])))
    assert db.CVaR(0.5).value(bent) == pytest.approx((0.25 * 0.5 + 0.25 * (1 + 1 / 6)) / 0.5, rel=1e-10)
    with pytest.raises(db.ArgumentError, match=r"'arms\[1\]' must be a law with a finite"):
        db.Bandit([stats.norm(), stats.cauchy()], objective=db.CVaR(0.5))


def test_a_law_that_only_draws_has_no_cvar():
    class Drawn:
        def rvs(self, size, random_state):
            return np.zeros(size)

        def mean(self):
            return 0.0

    with pytest.raises(db.ArgumentError, match="laws with atoms"):
        db.Bandit([Drawn(), Drawn()], objective=db.CVaR(0.5))


@pytest.mark.parametrize(
    ("level", "values"),
    [
        (0.05, [0, 57, 298, 587]),
        (0.2, [454, 655, 1065, 1538]),
        (0.8, [2253, 2598, 3040, 3078]),
        (1.0, [3025, 3289, 3586, 3536]),
    ],
)
def test_the_shipped_seasons(level, values):
    bandit = db.crops.maize_planting("spring", objective=db.CVaR(level))
    np.testing.assert_array_equal(bandit.values.round(), values)
    assert bandit.best == ("28 Mar" if level == 1.0 else "12 Apr")
    np.testing.assert_array_equal(bandit.gaps, bandit.values.max() - bandit.values)


def test_bandits_say_what_they_are_about():
    bandit = db.Bandit([db.Gaussian(0, 1), db.Gaussian(0.5, 3)], objective=db.CVaR(0.07))
    assert (bandit.objective.name, bandit.objective.label) == ("CVaR at 7 %", "CVaR regret at 7 %")
    assert bandit.best == "arm 0"
    for bad in (0, 1.5, math.nan, "0.2"):
        with pytest.raises(db.ArgumentError, match="'level' must be a"):
            db.CVaR(bad)


def test_bounds_of_cvar_regret():
    coins = [db.Bernoulli(0.4), db.Bernoulli(0.5)]
    # CVaR of a coin is 1 - (1 - p)/a; its Kinf the plain divergence of coins.
    bound = db.lower_bound(coins, "bounded", objective=db.CVaR(0.8))
    assert bound.kinf[0] == pytest.approx(0.4 * math.log(0.4 / 0.5) + 0.6 * math.log(0.6 / 0.5), rel=1e-12)
    assert bound.constant == pytest.approx(0.1 / 0.8 / bound.kinf[0], rel=1e-12)
    bandit = db.Bandit(coins, objective=db.CVaR(0.8))
    assert db.lower_bound(bandit, "bounded").constant == bound.constant  # the bandit's own objective
    mean = db.lower_bound(coins, "bounded")
    assert db.lower_bound(coins, "bounded", objective=db.CVaR(1.0)).constant == pytest.approx(mean.constant, rel=1e-12)
    with pytest.raises(db.ArgumentError, match="'family' must be 'bounded' where the objective is a CVaR"):
        db.lower_bound(coins, "bernoulli", objective=db.CVaR(0.8))
    with pytest.raises(db.ArgumentError, match=r"'objective' must be Mean\(\) or CVaR\(level\)"):
        db.lower_bound(coins, "bounded", objective="CVaR")


@pytest.mark.parametrize(
    "law", [db.Beta(2.0, 3.0), db.Uniform(0.0, 1.0), db.ClippedGaussian(0.4, 0.3, 0.0, 1.0)], ids=repr
)
@pytest.mark.parametrize("level", [0.2, 0.7])
def test_kinf_of_continuous_laws_is_the_limit_of_their_quantiles(law, level):
    better = db.Beta(4.0, 2.0)
    kinf = db.lower_bound([law, better], "bounded", objective=db.CVaR(level)).kinf[0]
    sample = law.ppf((np.arange(4000) + 0.5) / 4000)
    assert kinf == pytest.approx(db.cvar_kinf(sample, db.CVaR(level).value(better), level, 1.0).value, rel=2e-3)


@pytest.mark.parametrize("name", ["RDS sqrt-log", "NPTS", "UCB1", "TS bernoulli"])
def test_what_makes_an_arm_good_changes_no_pull_of_a_policy_that_does_not_know_it(name):
    """Shortcuts included: their proofs are about pulls, and none of them looks at gaps."""
    arms = [db.Bernoulli(0.4), db.Bernoulli(0.6)]
    policy = PAIRS[name].policy
    run = {"horizon": 300, "replications": 3, "seed": 1, "workers": 1}
    mean = db.simulate(db.Bandit(arms), policy, **run)
    risk = db.simulate(db.Bandit(arms, objective=db.CVaR(0.8)), policy, **run)
    np.testing.assert_array_equal(mean.pulls, risk.pulls)
    np.testing.assert_allclose(risk.regret, mean.regret / 0.8, rtol=1e-9)
    assert (risk.objective, risk.regret_label) == ("CVaR at 80 %", "CVaR regret at 80 %")
    assert risk.lower_bound is None
