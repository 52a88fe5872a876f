import math
import warnings

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

import dirichlet_bandits as db
from dirichlet_bandits.theory.lower_bounds import evident_lower_bound
from tests import naive


def kinf_by_quadrature(density, target: float, upper: float, ends=()) -> float:
    """Integration over a density on [0, 1], a bounded search over lam: no code shared. `ends`: (value, mass)."""

    def dual(lam: float) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", integrate.IntegrationWarning)  # a density may be infinite at an end
            body = integrate.quad(lambda x: density(x) * math.log1p(-lam * (x - target)), 0, 1, limit=400)[0]
        return -(body + sum(mass * math.log1p(-lam * (value - target)) for value, mass in ends))

    right = (1 - 1e-13) / (upper - target)
    found = optimize.minimize_scalar(dual, bounds=(0, right), method="bounded", options={"xatol": 1e-10 * right})
    return max(-found.fun, -dual(right))


def test_closed_forms_of_the_four_families() -> None:
    gaussian = db.lower_bound(db.Bandit([db.Gaussian(0, 2), db.Gaussian(1, 2), db.Gaussian(0.5, 2)]), "gaussian")
    np.testing.assert_allclose(gaussian.terms, [8.0, 0.0, 16.0], rtol=1e-14)
    assert (gaussian.constant, gaussian.family) == (24.0, "gaussian")
    p, q = 0.3, 0.6
    d = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    assert db.lower_bound([db.Bernoulli(p), db.Bernoulli(q)], "bernoulli").constant == pytest.approx(0.3 / d)
    d = 2 / 3 - 1 - math.log(2 / 3)
    assert db.lower_bound([db.Exponential(2), db.Exponential(3)], "exponential").constant == pytest.approx(1 / d)
    d = 3 - 2 + 2 * math.log(2 / 3)
    assert db.lower_bound([db.Poisson(2), stats.poisson(3)], "poisson").constant == pytest.approx(1 / d)


def test_laws_of_scipy_and_data_belong_too() -> None:
    ours = db.lower_bound([db.Exponential(2), db.Exponential(3)], "exponential").constant
    assert db.lower_bound([stats.expon(scale=2), stats.expon(scale=3)], "exponential").constant == ours
    assert db.lower_bound([stats.norm(0, 1), db.Gaussian(1, 1)], "gaussian").constant == 2.0
    assert db.lower_bound([db.Gaussian(0, 1), db.Gaussian(1, 2)], "gaussian", sigma=3).constant == 18.0
    coins = db.lower_bound([db.Empirical([0, 0, 1, 0]), db.Bernoulli(0.5)], "bernoulli")
    assert coins.constant == pytest.approx(db.lower_bound([db.Bernoulli(0.25), db.Bernoulli(0.5)], "bounded").constant)


def test_bounded_and_discrete_is_exact() -> None:
    data = [0.0, 0.25, 0.25, 0.7, 0.9]
    bound = db.lower_bound([db.Empirical(data), db.Bernoulli(0.8)], "bounded", upper=1.5)
    assert bound.kinf[0] == pytest.approx(float(naive.kinf(data, 0.8, 1.5)), rel=1e-12)
    assert bound.terms[0] == pytest.approx((0.8 - 0.42) / bound.kinf[0], rel=1e-12)
    heads = [math.comb(5, k) * 0.2**k * 0.8 ** (5 - k) for k in range(6)]
    bound = db.lower_bound([stats.binom(5, 0.2), db.Empirical([2.0])], "bounded", upper=6)
    assert bound.kinf[0] == pytest.approx(float(naive.kinf(range(6), 2.0, 6.0, heads)), rel=1e-10)


@pytest.mark.parametrize("target", [0.55, 0.8, 0.97])
@pytest.mark.parametrize("upper", [1.0, 1.5])
def test_bounded_and_continuous_by_quadrature(target: float, upper: float) -> None:
    best = db.Empirical([target])
    for law, density in (
        (db.Uniform(0.0, 1.0), lambda x: 1.0),
        (db.Beta(2, 3), lambda x: 12 * x * (1 - x) ** 2),
        (stats.beta(0.7, 0.9), lambda x: x**-0.3 * (1 - x) ** -0.1 / special.beta(0.7, 0.9)),
    ):
        got = db.lower_bound([law, best], "bounded", upper=upper).kinf[0]
        assert got == pytest.approx(kinf_by_quadrature(density, target, upper), rel=1e-6)


@pytest.mark.parametrize("target", [0.55, 0.8])
def test_a_clipped_gaussian_has_atoms_at_its_ends(target: float) -> None:
    law = db.ClippedGaussian(0.3, 0.4, 0.0, 1.0)
    below, above = stats.norm.cdf(-0.3 / 0.4), stats.norm.sf(0.7 / 0.4)

    def inside(x: float) -> float:
        return math.exp(-((x - 0.3) ** 2) / 0.32) / (0.4 * math.sqrt(2 * math.pi))

    got = db.lower_bound([law, db.Empirical([target])], "bounded", upper=1.2).kinf[0]
    assert got == pytest.approx(kinf_by_quadrature(inside, target, 1.2, [(0.0, below), (1.0, above)]), rel=1e-6)


@pytest.mark.parametrize(
    "law",
    [db.Gaussian(1, 2), db.Exponential(3), db.Uniform(-1, 2), db.Beta(2, 0.5), db.ClippedGaussian(0, 1, -1, 0.5)],
    ids=repr,
)
def test_quantiles_of_our_laws(law) -> None:
    q = np.linspace(0.01, 0.99, 25)
    x = law.ppf(q)
    inside = (x > law.support()[0]) & (x < law.support()[1])
    np.testing.assert_allclose(law.cdf(x)[inside], q[inside], rtol=1e-12)
    sample = law.rvs(100_000, random_state=1)
    for level in (0.1, 0.35, 0.6):  # five standard errors
        share = np.mean(sample <= law.ppf(level))
        assert abs(share - law.cdf(law.ppf(level))) <= 5 * math.sqrt(0.25 / 100_000)


def test_equal_means_and_unreachable_ones() -> None:
    assert db.lower_bound([db.Poisson(2), db.Poisson(2)], "poisson").constant == 0.0
    assert db.lower_bound([db.Bernoulli(0.5), db.Bernoulli(1.0)], "bernoulli").constant == 0.0
    assert db.lower_bound([db.Bernoulli(0.5), db.Bernoulli(1.0)], "bounded").constant == 0.0


def test_our_own_laws_in_the_conditions() -> None:
    for ours, peer in ((db.Exponential(2), stats.expon(scale=2)), (db.Gaussian(0, 1), stats.norm(0, 1))):
        np.testing.assert_allclose(db.qds_condition(ours, 3, 8, 0.05), db.qds_condition(peer, 3, 8, 0.05), rtol=1e-9)
        assert db.necessary_bonus(ours, 3) == pytest.approx(db.necessary_bonus(peer, 3), rel=1e-9)


def test_errors_name_the_argument() -> None:
    coins = [db.Bernoulli(0.4), db.Bernoulli(0.5)]
    for call, message in (
        (lambda: db.lower_bound(coins, "cauchy"), "'family' must be one of 'bernoulli'.*'bounded'"),
        (lambda: db.lower_bound(coins, "poisson"), r"'arms\[0\]' must be a law of the family 'poisson'"),
        (lambda: db.lower_bound([stats.expon(loc=1)] * 2, "exponential"), r"'arms\[0\]'"),
        (lambda: db.lower_bound([db.Gaussian(0, 1), db.Gaussian(1, 2)], "gaussian"), "'sigma' must be given when"),
        (lambda: db.lower_bound(coins, "bernoulli", sigma=1), "'sigma' must be left out"),
        (lambda: db.lower_bound(coins, "bernoulli", upper=1), "'upper' must be left out"),
        (lambda: db.lower_bound(coins, "bounded", upper=0.7), r"'arms\[0\]' must be a law whose rewards"),
        (lambda: db.lower_bound([db.Gaussian(0, 1)] * 2, "bounded"), "'upper' must be given, or else every"),
        (lambda: db.lower_bound([], "bounded"), "'bandit' must be a Bandit, or a non-empty sequence of laws"),
        (lambda: db.lower_bound([0.4, 0.5], "bernoulli"), "'bandit' must be a Bandit"),
        (lambda: db.qds_condition(db.Poisson(1), 3, 8, 0.05), "'law' must be a continuous law"),
        (lambda: db.necessary_bonus(3.0, 3), "'law' must be a continuous law"),
    ):
        with pytest.raises(db.ArgumentError, match=message):
            call()


def test_evident_families() -> None:
    assert evident_lower_bound([db.Bernoulli(0.4), stats.bernoulli(0.5)]) == pytest.approx(4.966350, rel=1e-6)
    assert evident_lower_bound([db.Gaussian(0, 1), db.Gaussian(1, 2)]) is None
    assert evident_lower_bound([db.Uniform(0, 1), db.Uniform(0, 2)]) is None
    assert evident_lower_bound([db.Exponential(1), db.Poisson(2)]) is None
