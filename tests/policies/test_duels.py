"""Duels without a draw for each reward, against the probability to win."""

import numpy as np
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.compiler import jit
from dirichlet_bandits.policies.dirichlet.fast import duel_by_probability, new_challengers
from dirichlet_bandits.policies.dirichlet.probability import crossing_win

N_DUELS = 20_000
SAMPLES = {
    "bounds that decide": lambda rng: rng.beta(2, 2, size=1500),
    "bounds that are wide": lambda rng: rng.pareto(2.1, size=300),
    "few values, bounds that are wide": lambda rng: np.arange(1200) % 50 == 0,
    "few values, no bounds": lambda rng: np.arange(300) % 100 == 0,
}


@jit
def count_wins(policy, state, challengers, leader, ceilings, rng):
    """How many of N_DUELS each arm wins, given that its clock rang."""
    wins = np.zeros(ceilings.size)
    for arm in range(ceilings.size):
        for _ in range(N_DUELS):
            wins[arm] += duel_by_probability(policy, state, challengers, arm, leader, ceilings[arm], rng)
    return wins


def test_duels_are_won_with_their_probability():
    """By whatever means, with and without a clock that rang. One seed in a million fails."""
    policy, rng = db.BDS(rho=4, gamma=0.5), np.random.default_rng(7)
    samples = [np.asarray(make(rng), float) for make in SAMPLES.values()]
    samples = [(x - x.mean()) / x.std() * np.sqrt(x.size) for x in samples]  # their indices have a deviation of 1
    state = policy.init(len(samples) + 1)
    for arm, x in enumerate([*samples, np.full(1600, 0.8)]):
        for reward in x:
            state = policy.update(state, arm, reward, rng)
    leader, n_arms = len(samples), len(samples)
    p = np.array([crossing_win(policy.params, state, arm, leader) for arm in range(n_arms)])
    assert np.all((p > 0.03) & (p < 0.4))
    for ceilings in (np.ones(n_arms), 1.3 * p):
        wins = count_wins(policy.params, state, new_challengers(n_arms + 1), leader, ceilings, rng)
        for k, chance in zip(wins, p / ceilings, strict=True):
            assert stats.binomtest(int(k), N_DUELS, chance).pvalue > 1e-6 / (4 * n_arms)
