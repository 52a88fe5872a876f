"""Binomial draws have their distribution; a correct program fails once in a million seeds."""

import numpy as np
import pytest
from scipy import stats

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.draws import binomial_from, next_peak

ALARM = 1e-6


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
