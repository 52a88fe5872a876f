"""Subsets by marks have the distribution of subsets by draws; seeds are fixed, and a correct program with other seeds
would fail one comparison in a million.
"""

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.compiler import entry_point
from dirichlet_bandits.engine.history import rewards
from dirichlet_bandits.engine.subsets import mark_subset, marked
from dirichlet_bandits.policies.subsampling.subsets import lead_over_subset
from dirichlet_bandits.seeding import further_words, scrambled
from tests.policies.test_equal_law import ALARM

SEED = np.uint64(17)


@entry_point
def times_marked(x, n, runs, seed):
    """How often each element was marked, and how often so many of the first half were; no mark is beyond the end."""
    element, half = np.zeros(x.size, np.int64), np.zeros(n + 1, np.int64)
    marks = np.empty((x.size + 63) // 64, np.uint64)
    for run in range(runs):
        total = mark_subset(x, n, 0.0, marks, scrambled(seed + np.uint64(run)))
        count, first, check = 0, 0, 0.0
        for i in range(64 * marks.size):
            if (marks[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
                count += 1
                first += i < x.size // 2
                check += x[i]
                element[i] += 1
        if count != n or abs(total - check) > 1e-9 or abs(marked(x, n, marks).sum() - check) > 1e-9:
            raise ValueError("not n marks, or not their sum")
        half[first] += 1
    return element, half


@pytest.mark.parametrize(("size", "n"), [(64, 32), (64, 1), (70, 20), (127, 60), (128, 40), (200, 60)])
def test_all_subsets_are_equally_probable(size, n):
    x, runs = np.random.default_rng(0).random(size), 40_000
    element, half = times_marked(x, n, runs, SEED)
    # Counts of the elements have covariance -v / (size - 1), so their squares divided by v add up to size / (size - 1)
    # times a chi-square variable with size - 1 degrees of freedom.
    share = n / size
    squares = np.sum((element - runs * share) ** 2) / (runs * share * (1 - share)) * (size - 1) / size
    assert stats.chi2.sf(squares, size - 1) > ALARM
    assert stats.chi2.cdf(squares, size - 1) > ALARM
    expected = runs * stats.hypergeom(size, size // 2, n).pmf(np.arange(n + 1))
    frequent = expected > 5
    rare = runs - expected[frequent].sum()
    observed = np.append(half[frequent], runs - half[frequent].sum())
    kept = np.append(expected[frequent], rare)
    assert stats.chisquare(observed[kept > 1e-6], kept[kept > 1e-6]).pvalue > ALARM


@entry_point
def duels(state, runs, by_marks, rng):
    """How many duels of arm 0 with arm 1 were lost, tied and won."""
    words, found = further_words(rng), np.zeros(3, np.int64)
    for _ in range(runs):
        lead = lead_over_subset(state, 0, 1, rewards(state, 1).copy(), words, by_marks)
        found[1 + (lead > 0.0) - (lead < 0.0)] += 1
    return found


def history(*arms):
    """The state of two arms with these rewards."""
    policy, rng = db.WRSDA(), np.random.default_rng(0)
    state = policy.init(len(arms))
    for arm, values in enumerate(arms):
        for value in values:
            state = policy.update(state, arm, float(value), rng)
    return state


VALUES = {
    "coins": [0.0, 1.0],
    "tenths, whose sums are rounded": [0.1, 0.3, 0.7],
    "two values, whose sums are rounded": [0.0, 0.1],
    "tenths near a billion": [1e9 + 0.1, 1e9 + 0.3, 1e9 + 0.7],
    "a heavy tail": np.exp(np.linspace(-4.0, 6.0, 40)),
}


@pytest.mark.parametrize("n", [200, 261])  # of 420: fewer than half, and more
@pytest.mark.parametrize("name", VALUES)
def test_duels_by_marks_have_the_law_of_duels_by_draws(name, n):
    rng, runs = np.random.default_rng(3), 100_000
    few, many = np.sort(rng.choice(VALUES[name], 420)), rng.choice(VALUES[name], 420)
    state = history(few[(np.arange(n) * 420) // n], many)  # nearly equal means, so no outcome is rare
    found = np.array([duels(state, runs, by_marks, np.random.default_rng(by_marks)) for by_marks in (True, False)])
    found = found[:, found.sum(0) > 0]
    assert found.shape[1] > 1
    assert stats.chi2_contingency(found).pvalue > ALARM
