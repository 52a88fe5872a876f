"""Draws have the gamma, beta and binomial distributions; a correct program fails once in a million seeds."""

import numpy as np
import pytest
from scipy import stats

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.draws import (
    BETA,
    beta_or_nan,
    binomial_from,
    coins_frame,
    coins_or_nan,
    gamma_frame,
    gamma_or_nan,
    learn_beta,
    next_peak,
    settled_coins,
)

ALARM = 1e-6


@jit
def gammas(shape, normal, exponential):
    d, c = gamma_frame(shape)
    values = np.empty(normal.size)
    for i in range(values.size):
        values[i], _ = gamma_or_nan(d, c, normal[i], exponential[i])
    return values


@jit
def betas(a, b, normal, exponential):
    laws, values = np.zeros(1, BETA), np.empty(normal.size)
    learn_beta(laws[0], a, b)
    for i in range(values.size):
        values[i], _ = beta_or_nan(laws[0], normal[i], exponential[i])
    return values


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    return rng.standard_normal(400_000), rng.standard_exponential(400_000)


@pytest.mark.parametrize("shape", [1.0, 1.5, 4.0, 100.0, 1e6])
def test_gamma(shape, noise):
    values = gammas(shape, *noise)
    accepted = values[~np.isnan(values)]
    assert accepted.size > 0.9 * values.size
    assert stats.kstest(accepted, stats.gamma(shape).cdf).pvalue > ALARM


CENTRAL = [(1.5, 2.0), (2.0, 2.0), (3.0, 5.0), (40.0, 60.0), (1e5, 2.9e5)]
SKEWED = [
    (1.0, 2.0),
    (2.0, 1.0),
    (1.0, 10.0),
    (11.0, 1.0),
    (2.0, 5.0),
    (12.0, 80.0),
    (80.0, 12.0),
    (1e5, 3.1e5),
    (5.0, 1e6),
]


@pytest.mark.parametrize(("a", "b"), CENTRAL + SKEWED)
def test_beta(a, b, noise):
    values = betas(a, b, *noise)
    accepted = values[~np.isnan(values)]
    assert accepted.size > 0.65 * values.size
    assert stats.kstest(accepted, stats.beta(a, b).cdf).pvalue > ALARM


def test_what_is_far_from_normal_is_refused(noise):
    assert np.isnan(gammas(0.5, *noise)).all()


def test_the_comparison_notices_a_wrong_squeeze(noise):
    """Accepting everything would be caught."""
    normal, _ = noise
    everything = np.full(normal.size, np.inf)
    for a, b in [(40.0, 60.0), (12.0, 80.0)]:
        assert stats.kstest(betas(a, b, normal, everything), stats.beta(a, b).cdf).pvalue < ALARM


@jit
def coins(n, draws, rng):
    s, unit = coins_frame(n)
    found, e, open_cases = np.empty(draws), 0.0, 0
    for i in range(draws):
        x = rng.standard_normal()
        if e == 0.0:
            e = rng.standard_exponential()
        found[i], e = coins_or_nan(float(n), s, unit, x, e)
        if np.isnan(found[i]):
            found[i] = settled_coins(float(n), s, unit, x, rng)
            open_cases += 1
    return found, open_cases


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 101, 1000, 30_000])
def test_accepted_heads_are_binomial(n):
    """Chi-square over all numbers of heads that are expected at least ten times; few draws are refused."""
    drawn, open_cases = coins(n, 1_000_000, np.random.default_rng(n))
    assert 1 < open_cases < drawn.size / n**0.8
    found = drawn[~np.isnan(drawn)].astype(int)
    assert found.size > drawn.size * (1.0 - 1.0 / (n + 1.0))
    expected = found.size * stats.binom(n, 0.5).pmf(np.arange(n + 1))
    counts, usual = np.bincount(found, minlength=n + 1), expected >= 10
    table = np.append(counts[usual], counts[~usual].sum()), np.append(expected[usual], expected[~usual].sum())
    table = [column[table[1] > 0] for column in table]
    assert stats.chisquare(*table).pvalue > ALARM


@jit
def heads_from_the_mode(n, p, rng, out):
    """Heads among n coins, after the mode has followed the coins one by one; the mode and its probability."""
    mode, peak = (0, 1.0 - p) if p < 0.5 else (1, p)
    for m in range(2, n + 1):
        mode, peak = next_peak(mode, peak, m, p)
    for i in range(out.size):
        out[i] = binomial_from(mode, peak, n, p, rng)
    return mode, peak


@pytest.mark.parametrize(("n", "p"), [(1, 0.2), (7, 0.5), (60, 0.2), (300, 0.05), (300, 0.9), (40, 1.0 - 1e-9)])
def test_binomial_from_the_mode(n, p):
    heads = np.empty(100_000, np.int64)
    mode, peak = heads_from_the_mode(n, p, np.random.default_rng(4), heads)
    law = stats.binom(n, p)
    assert peak == pytest.approx(law.pmf(mode), rel=1e-10)
    assert peak >= law.pmf(np.arange(n + 1)).max() * (1.0 - 1e-10)
    expected = law.pmf(np.arange(n + 1)) * heads.size
    usual = expected >= 5.0
    counts = np.bincount(heads, minlength=n + 1)
    counts, expected = (np.append(x[usual], max(x[~usual].sum(), 1e-9)) for x in (counts, expected))
    assert stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), usual.sum()) > ALARM
