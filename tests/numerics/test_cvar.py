"""CVaR, its crossing probability and its Kinf, against exact fractions, 80 digits, draws and a general solver."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, stats

import dirichlet_bandits as db
from dirichlet_bandits.numerics.argmax import log_binomial
from dirichlet_bandits.numerics.cvar import ordered_cvar
from dirichlet_bandits.numerics.cvar_crossing import log_cvar_tails, new_scratch
from tests import naive

LEVELS = (0.05, 0.2, 0.5, 0.9, 0.999)


def samples(m, rng):
    """Continuous, heavy, tied, and with a bound far away."""
    return {
        "normal": rng.normal(size=m),
        "pareto": rng.pareto(1.0, m),
        "ties": rng.integers(0, 4, m).astype(float),
        "far bound": np.append(rng.random(m - 1), 1000.0),
    }


@pytest.mark.parametrize("level", [*LEVELS, 0.3, 1.0, 1e-9])
def test_cvar_is_that_of_exact_fractions(level):
    rng = np.random.default_rng(1)
    for m in (1, 2, 3, 10, 50):
        for x in samples(m, rng).values():
            close = {"rel": 1e-14, "abs": 1e-15 * max(1.0, np.abs(x).max())}  # where an atom begins is rounded too
            assert db.cvar(x, level) == pytest.approx(float(naive.cvar(x, level)), **close)
            assert ordered_cvar(np.sort(x), level) == pytest.approx(float(naive.cvar(x, level)), rel=1e-11, abs=1e-12)
            w = rng.random(m) + 1e-3
            assert db.cvar(x, level, w) == pytest.approx(float(naive.cvar(x, level, w)), **close)


def test_cvar_by_hand():
    assert db.cvar([4, 1, 3, 2], 0.25) == 1.0
    assert db.cvar([4, 1, 3, 2], 1) == 2.5
    assert db.cvar([3, 3, 3], 0.123) == 3.0
    assert db.cvar([0, 0, 0, 8], 0.875) == pytest.approx(8 / 7)  # half of the last atom
    assert db.cvar([1e9, 1e9 + 2], 0.75) == pytest.approx(1e9 + 2 / 3, rel=1e-15)


@pytest.mark.parametrize("m", [1, 2, 3, 8, 24])
def test_crossing_is_the_mixture_in_high_precision(m):
    rng = np.random.default_rng(m)
    for x in samples(m, rng).values():
        for level, share in itertools.product(LEVELS, (-0.1, 0.0, 0.02, 0.3, 0.7, 0.99, 1.0)):
            threshold = float(x.min() + share * (x.max() - x.min()))
            want, got = (
                naive.cvar_crossing(x, threshold, level),
                db.cvar_crossing_probability(x, threshold, level, True),
            )
            if want == 0:
                assert got == -math.inf
            else:
                with mp.workdps(40):
                    assert abs(mp.expm1(mp.mpf(got) - mp.log(want))) < 1e-10, (level, threshold)
                assert db.cvar_crossing_probability(x, threshold, level) == pytest.approx(float(want), rel=1e-10)


@pytest.mark.parametrize("level", [0.05, 0.3, 0.8])
def test_three_hundred_values_far_in_both_tails(level):
    """Each term from ``crossing_probability``, which has its own tests in high precision."""
    x = np.sort(np.random.default_rng(0).gamma(2.0, 1.0, 300))
    chances = stats.binom(299, level).logpmf(np.arange(300))
    for factor in (0.3, 0.8, 1.0, 1.2, 2.0, 4.0):
        threshold = factor * db.cvar(x, level)
        terms = [chances[n] + db.crossing_probability(x[: n + 1], threshold, log=True) for n in range(300)]
        want = float(np.logaddexp.reduce(terms))
        got = db.cvar_crossing_probability(x, threshold, level, log=True)
        # The terms sum to one less something small where the threshold is low.
        assert got == pytest.approx(want, rel=1e-10, abs=1e-11)


def coins(zeros, ones, threshold, level):
    """log P(CVaR < threshold) and log P(CVaR >= threshold) of reweighted coins, in 60 digits: a mixture of beta laws,
    whose distribution functions are those of binomial ones."""
    with mp.workdps(60):
        a, c, last = mp.mpf(level), mp.mpf(threshold), zeros + ones - 1
        below = above = mp.mpf(0)
        for n in range(last + 1):
            chance = mp.binomial(last, n) * a**n * (1 - a) ** (last - n)
            if n < zeros:
                below += chance
                continue
            # Of n tosses at most n - zeros: few terms on one side or on the other.
            few = n - zeros < zeros
            heads = range(n - zeros + 1) if few else range(n - zeros + 1, n + 1)
            part = mp.fsum(mp.binomial(n, j) * c**j * (1 - c) ** (n - j) for j in heads)
            above += chance * (part if few else 1 - part)
            below += chance * (1 - part if few else part)
        return mp.log(below), mp.log(above)


@pytest.mark.parametrize(
    ("zeros", "ones", "threshold", "level"),
    [
        (500, 20, 0.5, 0.3),  # log p = -880: all weight up to the level must be found among few ones
        (900, 20, 0.99, 0.95),
        (100, 60, 0.9, 0.4),
        (3, 400, 0.5, 0.9),  # the other side is the rare one
        (1, 500, 1e-3, 0.05),
    ],
)
def test_hundreds_of_coins_far_beyond_what_a_float_can_hold(zeros, ones, threshold, level):
    x = np.repeat([0.0, 1.0], [zeros, ones])
    log_below, log_above = coins(zeros, ones, threshold, level)
    found = log_cvar_tails(x - threshold, log_binomial(x.size - 1, level), -math.inf, new_scratch(x.size))
    for got, want in zip(found, (log_below, log_above), strict=True):
        assert abs(mp.expm1(mp.mpf(got) - want)) < 1e-10
    assert db.cvar_crossing_probability(x, threshold, level, log=True) == found[1]


@pytest.mark.parametrize("share", [0.9, 1 - 1e-4, 1 - 1e-8])
def test_just_below_the_largest_value(share):
    """Logarithms down to -750 and beyond; levels at which all values but the smallest hardly ever count."""
    rng = np.random.default_rng(7)
    for x in (rng.normal(size=30), rng.pareto(1.0, 30), np.append(rng.normal(0.0, 1e-3, 29), 1.0)):
        threshold = float(x.min() + share * (x.max() - x.min()))
        for level in (1e-6, 0.05, 0.9):
            got = db.cvar_crossing_probability(x, threshold, level, log=True)
            with mp.workdps(40):
                assert abs(mp.expm1(mp.mpf(got) - mp.log(naive.cvar_crossing(x, threshold, level)))) < 1e-10


def test_the_complement_keeps_its_digits():
    x = np.arange(40.0)
    log_p = db.cvar_crossing_probability(x, 1.0, 0.5, log=True)
    with mp.workdps(400):
        want = mp.log(naive.cvar_crossing(x, 1.0, 0.5))
        assert abs(mp.mpf(log_p) / want - 1) < 1e-10
    assert -1e-6 < log_p < 0.0


def test_crossing_is_that_of_draws():
    """One false alarm in a million seeds."""
    x = np.random.default_rng(3).gamma(2.0, 1.0, 18)
    for level in (0.05, 0.4, 0.8):
        for threshold in (0.7 * db.cvar(x, level), 1.2 * db.cvar(x, level)):
            p = db.cvar_crossing_probability(x, threshold, level)
            seen = naive.cvar_crossing_draws(x, threshold, level, 20_000, seed=4)
            assert abs(seen - p) <= 4.9 * math.sqrt(p * (1 - p) / 20_000)


def test_level_one_is_the_mean():
    rng = np.random.default_rng(2)
    for x in samples(17, rng).values():
        t, upper = float(x.mean() + 0.3 * (x.max() - x.mean())), float(x.max() + 1)
        assert db.cvar_crossing_probability(x, t, 1.0) == db.crossing_probability(np.sort(x), t)
        assert db.cvar_kinf(x, t, 1.0, upper).value == db.kinf(x, t, upper).value
        assert db.cvar(x, 1.0) == pytest.approx(x.mean(), rel=1e-14)


def test_the_law_of_the_number_of_values():
    for n, level in ((0, 0.3), (1, 0.5), (200, 0.05), (20_000, 0.2)):
        want = stats.binom(n, level).logpmf(np.arange(n + 1))
        np.testing.assert_allclose(log_binomial(n, level), want, rtol=1e-10, atol=1e-10)


def nearest_by_solver(x, p, target, level, upper, rng):
    """The least divergence that a general solver finds from many starts: laws on the values and the bound."""
    support, least = np.append(x, upper), math.inf

    def law(z):
        w = np.exp(z - z.max())
        return w / w.sum() + 1e-300

    for _ in range(15):
        found = optimize.minimize(
            lambda z: float(p @ (np.log(p) - np.log(law(z)[:-1]))),
            rng.normal(size=x.size + 1) * 2,
            constraints=[{"type": "ineq", "fun": lambda z: db.cvar(support, level, law(z)) - target}],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        if db.cvar(support, level, law(found.x)) > target - 1e-7:
            least = min(least, found.fun)
    return least


@pytest.mark.parametrize("seed", range(6))
def test_kinf_is_what_a_general_solver_finds(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 7))
    x, p, level, upper = np.sort(rng.random(m)), rng.dirichlet(np.ones(m)), float(rng.choice([0.1, 0.3, 0.8])), 1.2
    now = db.cvar(x, level, p)
    target = now + (upper - now) * rng.uniform(0.05, 0.8)
    result = db.cvar_kinf(x, target, level, upper, p)
    assert result.converged
    # No law is nearer, and one is as near: the mean of g_q is moved as Kinf says, what is left goes to the bound.
    assert result.value <= nearest_by_solver(x, p, target, level, upper, rng) + 1e-6
    q = result.quantile
    moved = p / (1.0 - result.multiplier * (q - np.maximum(q - x, 0.0) / level - target))
    nearest = np.append(moved, max(1.0 - moved.sum(), 1e-300))
    assert db.cvar(np.append(x, upper), level, nearest) >= target - 1e-9
    assert p @ np.log(p / moved) == pytest.approx(result.value, rel=1e-9)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_kinf_is_the_least_over_all_quantiles(level):
    """Not only over the values: nothing between them is nearer."""
    rng = np.random.default_rng(9)
    x, upper = rng.gamma(2.0, 1.0, 60), 12.0
    target = 1.3 * db.cvar(x, level)
    got = db.cvar_kinf(x, target, level, upper)
    grid = [db.kinf(q - np.maximum(q - x, 0) / level, target, q).value for q in np.linspace(target, upper, 2000)[1:]]
    at_values = [db.kinf(q - np.maximum(q - x, 0) / level, target, q).value for q in x[x > target]]
    assert got.value == pytest.approx(min(at_values), rel=1e-13)
    assert got.value <= min(grid) * (1 + 1e-13)


def test_kinf_at_the_ends():
    assert db.cvar_kinf([0, 1], 0.0, 0.5, 2).value == 0.0  # reached
    assert db.cvar_kinf([0, 1], 2.0, 0.5, 2).value == math.inf  # out of reach
    assert db.cvar_kinf([0.0], 0.5, 0.5, 1.0).value == pytest.approx(-math.log(0.25))  # 3/4 must move to the bound
    with pytest.raises(db.ArgumentError, match="'values' must be at most upper"):
        db.cvar_kinf([0, 3], 1.0, 0.5, 2)


@pytest.mark.parametrize("bad", [0, -0.1, 1.1, math.nan, "x", None, True])
def test_bad_levels_are_named(bad):
    for call in (
        lambda: db.cvar([1.0], bad),
        lambda: db.cvar_crossing_probability([1.0], 0.5, bad),
        lambda: db.cvar_kinf([1.0], 0.5, bad, 2.0),
    ):
        with pytest.raises(db.ArgumentError, match="'level' must be"):
            call()


@pytest.mark.parametrize("start", [0.0, 0.3, 1.0, 5.0, 100.0])
def test_where_the_search_for_a_line_starts_does_not_matter(start):
    """Few values, each many times: a slope so bent that Newton's steps alone would run in circles."""
    x = np.repeat([0.0, 0.25, 0.5, 1.0], [56, 51, 118, 1])
    chances = log_binomial(x.size - 1, 0.3)
    for v in (0.10920566007485108, 0.03, 0.2, 0.4):
        terms = [chances[n] + db.crossing_probability(x[: n + 1], v, log=True) for n in range(x.size)]
        work = new_scratch(x.size)
        work.saddles[:] = start
        below, above = log_cvar_tails(x - v, chances, -math.inf, work)
        assert above == pytest.approx(np.logaddexp.reduce(terms), rel=1e-10, abs=1e-12)
        assert math.exp(below) + math.exp(above) == pytest.approx(1.0, abs=1e-14)
