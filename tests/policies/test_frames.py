"""Indices of NPTS from a normal variable, and pairs of them: the bounds that come with them hold."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.numerics.draws import normal_above
from dirichlet_bandits.numerics.expansion import expanded_crossing, expansion_error
from dirichlet_bandits.policies.npts.challengers import INSIDE, RATE
from dirichlet_bandits.policies.npts.frames import (
    BOX,
    DEVIATION,
    FLOOR,
    REACH,
    SIDE,
    TOP,
    UNIT,
    add_rewards,
    chance_below,
    index_bounds,
    learn_frame,
    make_frames,
    make_window,
    pulls_within,
)
from dirichlet_bandits.policies.npts.pairs import draw_pair, pair_rate

LAWS = {
    "bell": lambda rng, n: rng.beta(2, 2, n),
    "skewed": lambda rng, n: rng.beta(0.5, 3, n),
    "coins": lambda rng, n: (rng.random(n) < 0.3).astype(float),
}


@pytest.mark.parametrize("law", LAWS)
def test_an_index_lies_between_its_bounds(law):
    """However the rewards came; at many quantiles of its law."""
    rng = np.random.default_rng(5)
    x, frames, looked = LAWS[law](rng, 4000), make_frames(1), 0
    for n in (90, 250, 260, 700, 1100, 4000):
        learn_frame(frames, 0, x[:n], x[:n].min(), 1.0)
        if frames[0, REACH] > 0.0:
            for z in np.linspace(-4.0, 4.0, 9):
                for finely in (False, True):
                    low, high = index_bounds(frames[0], z, x[:n].min() - 1.0, finely)
                    above, below = (crossing_probability(np.append(x[:n], 1.0), 1.0 + v) for v in (low, high))
                    assert 1.0 - above <= ndtr(z) + 1e-12
                    assert 1.0 - below >= ndtr(z) - 1e-12
                    looked += 1
    assert looked >= 36


def test_the_polynomial_agrees_with_the_expansion():
    """Within half the bound of the expansion's error, for all skewness, kurtosis and numbers of rewards."""
    rng, z, looked = np.random.default_rng(6), np.linspace(-3.6, 3.6, 41), 0
    for _ in range(1500):
        n = math.exp(rng.uniform(math.log(100.0), math.log(1e6)))
        skew = rng.choice([0.1, 1.0, 3.0]) * rng.uniform(-1.0, 1.0)
        kurtosis = 1.0 + skew**2 + rng.choice([0.0, 1.0, 3.0]) * rng.exponential(2.0)
        c1 = skew * math.sqrt(n + 1.0) / (3.0 * (n + 2.0))
        c2 = ((6.0 * kurtosis + 3.0 * n) * (n + 1.0) / ((n + 2.0) * (n + 3.0)) - 3.0) / 24.0
        t = (z + c1 * (z**2 - 1.0) + c2 * (z**3 - 3.0 * z) - c1**2 * (2.0 * z**3 - 5.0 * z)) / math.sqrt(n + 1.0)
        far, largest = np.abs(t).max(), math.sqrt(kurtosis)  # no sample of this kurtosis has all values nearer
        h3 = (abs(skew) + 3.0 * far + far**3) / (3.0 * math.sqrt(n))
        h4 = (kurtosis + 4.0 * far * abs(skew) + 6.0 * far**2 + far**4) / (4.0 * n)
        error = expansion_error(h3, h4, 0.8 * (largest + far) * h4 / math.sqrt(n))
        if error < 0.02:
            for j in range(z.size):  # sums of powers of n values of mean 0 and variance 1, less t
                s = t[j]
                sums = (-s, 1.0 + s**2, skew - 3.0 * s - s**3, kurtosis - 4.0 * s * skew + 6.0 * s**2 + s**4)
                p, _ = expanded_crossing(*(n * each for each in sums), largest + far, np.full(4, np.nan))
                assert abs(p - ndtr(-z[j])) <= 0.5 * error
            looked += 1
    assert looked > 500


@pytest.mark.parametrize("law", LAWS)
def test_distribution_functions_lie_within_their_error(law):
    """Near the mean and far from it, with few rewards and with many."""
    rng = np.random.default_rng(7)
    x, frames = LAWS[law](rng, 3000), make_frames(1)
    for n in (90, 300, 3000):
        learn_frame(frames, 0, x[:n], x[:n].min(), 1.0)
        for z in np.linspace(-8.0, 8.0, 17):
            v = x[:n].mean() + z * x[:n].std() / math.sqrt(n)
            if x[:n].min() < v < 1.0:
                p, error = chance_below(frames[0], v, x[:n].min(), 1.0)
                assert abs(1.0 - crossing_probability(np.append(x[:n], 1.0), v) - p) <= error + 1e-12


@pytest.mark.parametrize("law", LAWS)
def test_lines_bound_the_indices_as_long_as_the_window_holds(law):
    """That above an arm's index, and that below a leader's, while rewards come."""
    rng, looked = np.random.default_rng(8), 0
    x = LAWS[law](rng, 3000)
    for start in (500, 1000, 2500):
        frames, low = make_frames(1), x[:start].min()
        learn_frame(frames, 0, x[:start], low, 1.0)
        make_window(frames[-1], frames[0], low, 1.0)
        if not frames[-1, SIDE] > 0.0:
            continue
        n = start
        while pulls_within(frames[-1], frames[0], x[:0], x[:n].min()) >= 0:
            values = np.append(x[:n], 1.0)
            for share in (-1.0, -0.5, 0.0, 0.5, 1.0):
                z = share * frames[-1, SIDE]
                floor = 1.0 + frames[-1, FLOOR] + frames[-1, UNIT] * z
                assert 1.0 - crossing_probability(values, floor) <= ndtr(z) + 1e-12
                if n == start:
                    z = share * frames[0, BOX]
                    top = 1.0 + frames[0, TOP] + frames[0, DEVIATION] * z
                    assert 1.0 - crossing_probability(values, top) >= ndtr(z) - 1e-12
            looked += 1
            n += 1
            add_rewards(frames, 0, x[:n])
        assert n > start
    assert looked >= 10


def test_pairs_come_from_the_half_plane_and_from_beyond_the_box():
    """A ring's rate times the share of pairs in a region is the region's probability. One test in a million fails."""
    rng = np.random.default_rng(9)
    frames, tangents = make_frames(2), np.zeros((INSIDE + 1, 2))
    for arm, n in ((0, 4000), (1, 600)):
        x = rng.beta(2, 2, n) - 0.01 * arm
        learn_frame(frames, arm, x, x.min(), 1.0)
    make_window(frames[-1], frames[0], 0.0, 1.0)
    assert pair_rate(frames, tangents, 1)
    rate = tangents[RATE, 1]
    pairs = np.array([draw_pair(frames, tangents, 1, rng) for _ in range(100_000)])
    regions = {
        "half-plane": lambda mine, other: (
            frames[1, DEVIATION] * mine - frames[-1, UNIT] * other > frames[-1, FLOOR] - frames[1, TOP]
        ),
        "high arm": lambda mine, other: mine > frames[1, BOX],
        "low arm": lambda mine, other: mine < -frames[1, BOX],
        "low leader": lambda mine, other: other < -frames[-1, SIDE],
        "both": lambda mine, other: (mine > frames[1, BOX]) & (other < -0.5),
    }
    free = rng.standard_normal((4_000_000, 2))
    for region in regions.values():
        drawn, all_of_it = region(pairs[:, 0], pairs[:, 1]), region(free[:, 0], free[:, 1])
        p, q = drawn.mean(), all_of_it.mean()
        deviation = math.hypot(rate * math.sqrt(p * (1 - p) / drawn.size), math.sqrt(q * (1 - q) / all_of_it.size))
        assert abs(rate * p - q) < 5.3 * deviation


@pytest.mark.parametrize("h", [-1.0, 0.3, 0.7, 3.0])
def test_normal_variables_above_a_number(h):
    """By Kolmogorov and Smirnov: one test in a million fails."""
    rng = np.random.default_rng(10)
    drawn = [normal_above(h, rng) for _ in range(20_000)]
    assert stats.kstest(drawn, lambda z: -np.expm1(stats.norm.logsf(z) - stats.norm.logsf(h))).pvalue > 1e-6
