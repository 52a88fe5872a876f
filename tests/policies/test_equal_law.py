"""Each policy has the law of its naive twin.

Pull counts on a small discrete problem with many ties, compared by a two-sample chi-square test. Seeds are
fixed; a correct program with other seeds would fail one comparison in a million.
"""

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from tests.naive import policies as naive
from tests.policies.twins import PAIRS, default

ALARM = 1e-6
PLAYED, SIMULATED = 1200, 12_000  # runs of the twin and of the policy: a leverage of 1.5 times rho is noticed
HORIZON = 13  # no multiple of the number of arms: the last round is cut, so its order shows
VALUES = {
    "unit": ([0.0, 0.0, 0.25, 1.0], [0.0, 0.5, 0.5, 1.0], [0.25, 0.25, 1.0, 1.0]),
    "binary": ([0.0, 0.0, 1.0], [0.0, 1.0], [0.0, 1.0, 1.0]),
    "positive": ([1.0, 1.0, 2.0, 4.0], [1.0, 2.0, 2.0, 4.0], [2.0, 3.0, 3.0, 4.0]),
}


def sampler(values):
    return lambda rng: values[int(rng.integers(len(values)))]


def chi_square(first, second):
    """p-value of equal laws, outcomes expected fewer than about five times lumped together."""
    both = np.concatenate([first, second])
    outcomes = np.ravel_multi_index(tuple(both.T), tuple(both.max(axis=0) + 1))  # a number for each
    samples = np.split(np.unique(outcomes, return_inverse=True)[1], [len(first)])
    table = np.stack([np.bincount(sample, minlength=max(map(np.max, samples)) + 1) for sample in samples])
    expected = table.sum(axis=0) * table.sum(axis=1).min() / table.sum()
    rare = expected < 5
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return 1.0 if table.shape[1] == 1 else stats.chi2_contingency(table, correction=False).pvalue


def pull_counts(policy, values, horizon, replications, fast):
    bandit = db.Bandit([db.Empirical(v) for v in values])
    result = db.simulate(bandit, policy, horizon=horizon, replications=replications, seed=1, fast=fast, record=1)
    return result.pulls.values[0]


def naive_counts(pair, values, horizon, replications):
    rng = np.random.default_rng(2)
    return [naive.play(pair.twin, [sampler(v) for v in values], horizon, rng, pair.toss) for _ in range(replications)]


@pytest.mark.parametrize("name", default(PAIRS))
def test_pull_counts_have_the_law_of_the_twin(name):
    pair = PAIRS[name]
    values = VALUES[pair.rewards]
    slow_index = name.startswith("Empirical")  # their twins solve an optimization for each arm at each step
    expected = naive_counts(pair, values, HORIZON, 400 if slow_index else PLAYED)
    assert chi_square(expected, pull_counts(pair.policy, values, HORIZON, SIMULATED, fast=True)) > ALARM


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_pull_counts_have_the_law_of_the_twin_at_full_scale(name):
    pair = PAIRS[name]
    values = VALUES[pair.rewards]
    expected = naive_counts(pair, values, 25, 4000 if name.startswith("Empirical") else 50_000)
    for fast in (True, False):
        assert chi_square(expected, pull_counts(pair.policy, values, 25, 200_000, fast)) > ALARM


def test_the_comparison_notices_a_wrong_leverage():
    """The test above would catch an RDS whose leverage is half as large again: it can fail."""
    values = VALUES["unit"]

    def wrong(histories, rng):
        return naive.dirichlet_sampling(
            histories, rng, lambda x, m: naive.bonus_of_excess(x, m, 1.5 * naive.RHO["sqrt-log"](len(x)))
        )

    expected = naive_counts(PAIRS["RDS sqrt-log"]._replace(twin=wrong), values, HORIZON, PLAYED)
    assert chi_square(expected, pull_counts(db.RDS(), values, HORIZON, SIMULATED, fast=True)) < ALARM


@pytest.mark.parametrize(
    "name", ["BDS detectable", "RDS sqrt-log", "QDS", "NPTS", "RBSDA", "BinarizedTS", "TS gaussian"]
)
def test_regret_moments_are_those_of_the_twin(name):
    """Continuous rewards at horizon 200: distribution, mean and second moment of the regret."""
    pair = PAIRS[name]
    shapes = ((2.0, 3.0), (3.0, 3.0))
    rng = np.random.default_rng(7)
    draws = [lambda rng, a=a, b=b: float(rng.beta(a, b)) for a, b in shapes]
    gaps = np.array([0.1, 0.0])
    expected = np.array([naive.play(pair.twin, draws, 200, rng, pair.toss) for _ in range(250)]) @ gaps
    bandit = db.Bandit([db.Beta(a, b) for a, b in shapes])
    found = db.simulate(bandit, pair.policy, horizon=200, replications=4000, seed=8, record=1).regret.values[0, :, -1]
    assert stats.ks_2samp(np.round(found, 9), np.round(expected, 9)).pvalue > ALARM
    # The second moment of RB-SDA hangs on rare, very bad runs: 250 of them say little about it.
    for power in (1,) if name == "RBSDA" else (1, 2):
        x, y = found**power, expected**power
        # If the laws are equal so are the variances, and the larger sample has met the rare bad runs.
        spread = np.sqrt(x.var(ddof=1) * (1 / x.size + 1 / y.size))
        assert abs(x.mean() - y.mean()) <= 4.9 * spread  # two-sided one in a million
