"""Every law against its own moments, its support, and NumPy or SciPy."""

import math

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db

LAWS = [
    db.Bernoulli(0.3),
    db.Gaussian(-1.0, 2.0),
    db.Exponential(2.5),
    db.Uniform(-1.0, 3.0),
    db.Beta(0.5, 2.0),
    db.Poisson(3.7),
    db.ClippedGaussian(0.2, 0.5, 0.0, 1.0),
    db.ClippedGaussian(2.0, 0.5, 0.0, 1.0),
    db.GaussianMixture([0.1, 0.8, 0.1], [-1.5, 0.6, 2.5], [0.5, 0.4, 0.3]),
    db.Empirical([0.0, 0.0, 1.5, 7.0]),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_samples_have_the_mean_std_and_support_that_the_law_tells(law):
    """Five standard errors: a correct law fails less than once in a million."""
    n = 200_000
    sample = law.rvs(n, random_state=1)
    spread = (sample - law.mean()) ** 2
    assert abs(sample.mean() - law.mean()) <= 5 * law.std() / math.sqrt(n)
    assert abs(spread.mean() - law.std() ** 2) <= 5 * spread.std() / math.sqrt(n)
    low, high = law.support()
    assert low <= sample.min() <= sample.max() <= high


@pytest.mark.parametrize(
    ("law", "peer"),
    [
        (db.Gaussian(-1.0, 2.0), stats.norm(-1.0, 2.0)),
        (db.Exponential(2.5), stats.expon(scale=2.5)),
        (db.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
        (db.Beta(0.5, 2.0), stats.beta(0.5, 2.0)),
    ],
    ids=["gaussian", "exponential", "uniform", "beta"],
)
def test_continuous_laws_are_those_of_scipy(law, peer):
    assert stats.kstest(law.rvs(50_000, random_state=2), peer.cdf).pvalue > 1e-6
    assert law.mean() == pytest.approx(peer.mean())
    assert law.std() == pytest.approx(peer.std())


def test_empirical_values_are_equally_likely():
    counts = np.unique(db.Empirical([1.0, 2.0, 3.0, 4.0]).rvs(40_000, random_state=3), return_counts=True)[1]
    assert stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.Bernoulli(1.2), r"'p' must be a probability in \[0, 1\] \(got 1.2\)"),
        (lambda: db.Gaussian(math.nan, 1), "'mean' must be a finite number"),
        (lambda: db.Gaussian(0, 0), "'std' must be a positive number"),
        (lambda: db.Exponential(-1), "'mean' must be a positive number"),
        (lambda: db.Uniform(1, 1), "'high' must be greater than low"),
        (lambda: db.Beta(0, 1), "'a' must be a positive number"),
        (lambda: db.Poisson(math.inf), "'mean' must be a finite number"),
        (lambda: db.ClippedGaussian(0, 1, 2, 1), "'high' must be greater than low"),
        (
            lambda: db.GaussianMixture([0.5, 0.6], [0, 1], [1, 1]),
            "'weights' must be non-negative numbers that sum",
        ),
        (lambda: db.GaussianMixture([0.5, 0.5], [0, 1, 2], [1, 1]), "'means' must be of the length of weights"),
        (lambda: db.GaussianMixture([0.5, 0.5], [0, 1], [1, 0]), "'stds' must be positive"),
        (lambda: db.Empirical([]), "'values' must be a non-empty"),
        (lambda: db.Empirical([1.0, math.inf]), "'values' must be finite numbers"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(db.ArgumentError, match=message):
        make()


def test_laws_are_equal_by_their_numbers():
    assert db.Gaussian(0, 1) == db.Gaussian(0.0, 1.0) != db.Gaussian(0, 2)
    assert len({db.Empirical([1, 2]), db.Empirical([1, 2]), db.Bernoulli(0.5)}) == 2
    assert repr(db.Empirical(np.arange(100.0))) == "Empirical(values=<100 values>)"


def test_bandit_knows_its_gaps_names_and_support():
    bandit = db.Bandit([db.Bernoulli(0.5), stats.norm(2.0, 1.0), db.Uniform(0, 1)], names=["x", "y", "z"])
    np.testing.assert_allclose(bandit.gaps, [1.5, 0.0, 1.5])
    assert (bandit.best, len(bandit), bandit.support()) == ("y", 3, (-math.inf, math.inf))
    assert db.Bandit([db.Bernoulli(0.5)] * 2).names == ("arm 0", "arm 1")


@pytest.mark.parametrize(
    ("arms", "names", "message"),
    [
        ([], None, "'arms' must be at least two reward laws"),
        ([db.Bernoulli(0.5)], None, "at least two"),
        ([db.Bernoulli(0.5), 3.0], None, r"'arms\[1\]' must be a law with rvs"),
        ([db.Bernoulli(0.5)] * 2, ["x"], "'names' must be 2 different names"),
        ([db.Bernoulli(0.5)] * 2, ["x", "x"], "'names' must be 2 different names"),
        ([db.Bernoulli(0.5), stats.cauchy()], None, r"'arms\[1\]' must be a law with a finite mean"),
    ],
)
def test_bad_bandits_are_refused(arms, names, message):
    with pytest.raises(db.ArgumentError, match=message):
        db.Bandit(arms, names)
