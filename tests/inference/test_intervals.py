"""How often confidence sequences miss, at any sample size at which they are shown.

The experiment behind ``inference/intervals.py``. At level 95% a sequence is to miss in at most 6% of the runs. False
alarms: if the rate is the 3.4% measured in 10,000 runs for the worst law here, more than 6% of 1,200 runs miss with
probability 3e-6. The seeds are fixed.
"""

import math

import numpy as np
import pytest

from dirichlet_bandits.inference.intervals import (
    FEWEST,
    _bets,
    _log_factors,
    asymptotic,
    empirical_bernstein,
    few_determine,
    shares,
    why_none,
)

LAWS = {
    "normal": (lambda rng, size: rng.normal(0.0, 1.0, size), 0.0),
    "fair coin": (lambda rng, size: rng.integers(2, size=size).astype(float), 0.5),
    "exponential": (lambda rng, size: rng.exponential(1.0, size), 1.0),
    "gamma(1/2)": (lambda rng, size: rng.gamma(0.5, 1.0, size), 0.5),
    "lognormal": (lambda rng, size: rng.lognormal(0.0, 1.0, size), math.exp(0.5)),
}
SKEWED = "too few rewards for such a skewed sample"
LENGTH = 1000


def shown(x):
    """At which sample sizes each run shows an interval: the rule of ``why_none``, from running sums."""
    n = np.arange(1, x.shape[1] + 1)
    one, two, three = (np.cumsum(x**power, axis=1) / n for power in (1, 2, 3))
    variance = two - one**2
    third = three - 3.0 * one * two + 2.0 * one**3
    positive = variance > 1e-12
    return (n >= FEWEST) & positive & (n * np.where(positive, variance, 1.0) ** 3 >= 5.0 * third**2)


def missed(x, mean, level):
    """Which runs miss the mean below and which above, at some sample size at which they show an interval."""
    log_odds = math.log(2.0 / (1.0 - level))
    visible, sides = shown(x), []
    for sign in (1.0, -1.0):
        wealth = np.cumsum(_log_factors(sign * x, _bets(sign * x, log_odds), sign * mean), axis=1)
        sides.append((visible & (wealth >= log_odds)).any(axis=1))
    return sides


def share_missed(name, runs, level=0.95):
    draw, mean = LAWS[name]
    rng, count = np.random.default_rng(29), 0
    for size in np.diff([*range(0, runs, 1000), runs]):
        high, low = missed(draw(rng, (size, LENGTH)), mean, level)
        count += int((high | low).sum())
    return count / runs


@pytest.mark.parametrize("name", LAWS)
def test_the_asymptotic_sequence_covers_from_the_first_interval_on(name):
    assert share_missed(name, 1200) <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.9, 0.95, 0.985, 0.9955])  # the last two: one of three arms, one of ten
@pytest.mark.parametrize("name", LAWS)
def test_the_asymptotic_sequence_covers_at_full_scale(name, level):
    assert share_missed(name, 10_000, level) <= 1.2 * (1.0 - level)


@pytest.mark.parametrize("name", LAWS)
def test_the_experiment_is_about_the_intervals_that_users_see(name):
    """Whether wealth exceeds its limit at the mean, and whether the interval leaves the mean out, are one question."""
    draw, mean = LAWS[name]
    x = draw(np.random.default_rng(1), (3, 400))
    visible = shown(x)
    for run, off in ((run, off) for run in range(3) for off in (0.0, 0.2, -0.2)):
        high, low = (
            np.cumsum(_log_factors(sign * x[run], _bets(sign * x[run], math.log(4.0)), sign * (mean + off)))
            >= math.log(4.0)
            for sign in (1.0, -1.0)
        )
        for n in (8, 10, 11, 30, 100, 399, 400):
            interval = asymptotic(x[run, :n], 0.5)
            assert visible[run, n - 1] == math.isfinite(interval.low) == math.isfinite(interval.high)
            if visible[run, n - 1]:
                assert (interval.high < mean + off, interval.low > mean + off) == (high[n - 1], low[n - 1])


def test_intervals_are_as_narrow_as_a_normal_approximation_allows():
    """At a single size the normal approximation reaches 1.96 s/sqrt(n); 2.2 times that serves all sizes together."""
    x = np.random.default_rng(2).normal(10.0, 3.0, 1000)
    for n in (100, 300, 1000):
        low, high = asymptotic(x[:n], 0.95)
        assert (high - low) / 2.0 < 2.2 * 1.96 * 3.0 / math.sqrt(n)
    skewed = np.random.default_rng(2).lognormal(0.0, 1.0, 100)
    low, high = asymptotic(skewed, 0.95)
    assert high - skewed.mean() > 1.3 * (skewed.mean() - low)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e99])
def test_intervals_do_not_depend_on_the_unit(scale):
    x = np.random.default_rng(3).exponential(1.0, 60)
    assert np.divide(asymptotic(x * scale, 0.95), scale) == pytest.approx(asymptotic(x, 0.95), rel=1e-9)


def test_one_outlier_does_not_keep_the_interval_open():
    x = np.random.default_rng(4).normal(0.0, 1.0, 3000)
    x[40] = 60.0
    assert why_none(x[:200]) == SKEWED
    low, high = asymptotic(x, 0.95)
    assert -0.2 < low < 0.0 < high < 0.4


@pytest.mark.parametrize("name", LAWS)
def test_no_warning_about_ordinary_rewards(name):
    draw, _ = LAWS[name]
    assert not few_determine(draw(np.random.default_rng(6), 1000))


def test_shares_never_exceed_the_whole():
    for since in ([0], [0, 0], [0] * 40, [0, 0, 5, 5, 9, *range(10, 500)], [3, 4]):
        assert 0.0 < shares(since).min() <= shares(since).sum() <= 1.0
    assert shares([0, 0, 7]).tolist()[:2] == shares([0, 0]).tolist()  # a later arm changes nothing for the others


def adaptive_misses(runs, n_arms, looks, rewards_of, level):
    """Studies of arms with equal means 0, pulled greedily two times out of three: how often the page is ever wrong.

    Greedy pulls stop sampling an arm when it looks bad: the choice that makes plain means and intervals fail. Returns
    the shares of studies with a wrong winner, a wrong lift over the first arm, and an interval without 0.
    """
    rng = np.random.default_rng(7)
    wrong = np.zeros(3)
    errors = (1.0 - level) * shares([0] * n_arms)
    for _ in range(runs):
        rewards = [rewards_of(rng, looks * 10 + FEWEST) for _ in range(n_arms)]
        pulls = np.full(n_arms, FEWEST)
        seen = np.zeros(3, bool)
        for _ in range(looks):
            for step in range(10):
                means = [x[:n].mean() for x, n in zip(rewards, pulls, strict=True)]
                pulls[rng.integers(n_arms) if step % 3 == 0 else int(np.argmax(means))] += 1
            ends = [asymptotic(x[:n], 1.0 - error) for x, n, error in zip(rewards, pulls, errors, strict=True)]
            lows, highs = np.array(ends).T
            seen[0] |= any(lows[k] > np.delete(highs, k).max() for k in range(n_arms))
            seen[1] |= bool(((lows[1:] > highs[0]) | (highs[1:] < lows[0])).any())
            seen[2] |= bool(((lows > 0.0) | (highs < 0.0)).any())
        wrong += seen
    return wrong / runs


@pytest.mark.parametrize("name", ["normal", "lognormal"])
def test_statements_about_adaptive_studies_hold_for_all_arms_together(name):
    """At level 80%: the rates measured are at most 2%, and with 2% more than 15 of 150 have a probability of 1e-7."""
    draw, mean = LAWS[name]
    winner, lift, interval = adaptive_misses(150, 3, 12, lambda rng, size: draw(rng, size) - mean, 0.8)
    assert max(winner, lift) <= interval
    assert interval <= 15 / 150


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_statements_about_adaptive_studies_at_full_scale(name):
    """At level 95%, 6% allowed; at a rate of 3% more than 6% of 500 studies would be wrong with probability 2e-4.

    Of 200 studies 0 to 2 were wrong: looks are rarer than rewards, and the sequences allow for more of both.
    """
    draw, mean = LAWS[name]
    assert (adaptive_misses(500, 3, 30, lambda rng, size: draw(rng, size) - mean, 0.95) <= 0.06).all()


def naive_bernstein(x, level):
    """The formula of the paper, one reward after the other."""
    low, high, bets, centre, radius = 0.0, 1.0, 0.0, 0.0, math.log(2 / (1 - level))
    mean, spread = 0.5, 0.25
    for t, value in enumerate(x, start=1):
        bet = min(math.sqrt(2 * math.log(2 / (1 - level)) / (spread * t * math.log(1 + t))), 0.5)
        bets += bet
        centre += bet * value
        radius += 4 * (value - mean) ** 2 * (-math.log(1 - bet) - bet) / 4
        low, high = max(low, (centre - radius) / bets), min(high, (centre + radius) / bets)
        mean = (0.5 + sum(x[:t])) / (t + 1)
        seen = [(x[i] - (0.5 + sum(x[: i + 1])) / (i + 2)) ** 2 for i in range(t)]
        spread = (0.25 + sum(seen)) / (t + 1)
    return low, high


def test_bernstein_is_the_formula():
    x = np.random.default_rng(0).beta(2, 5, 40)
    assert empirical_bernstein(3 + 2 * x, 3.0, 5.0, 0.9) == pytest.approx([3 + 2 * v for v in naive_bernstein(x, 0.9)])


@pytest.mark.parametrize("p", [0.02, 0.5])
def test_bounded_intervals_cover_at_all_times(p):
    """They may miss in 10 % of the runs; more than 17 % of 400 would be a false alarm of 1e-5."""
    rng, runs = np.random.default_rng(3), 400
    missed = 0
    for _ in range(runs):
        low, high = empirical_bernstein((rng.random(300) < p).astype(float), 0.0, 1.0, 0.9)  # of all times so far
        missed += not low <= p <= high
    assert missed / runs < 0.17


def test_asymptotic_intervals_cover_at_all_later_times():
    """Exponential rewards, sample sizes from 30 to 1000 in steps of a tenth; nominal 10 %, bound as above."""
    rng, runs = np.random.default_rng(4), 300
    sizes = np.unique(np.geomspace(30, 1000, 38).astype(int))
    missed = 0
    for _ in range(runs):
        x = rng.exponential(2.0, 1000)
        missed += not all(low <= 2.0 <= high for low, high in (asymptotic(x[:n], 0.9) for n in sizes))
    assert missed / runs < 0.18
