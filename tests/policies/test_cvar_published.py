"""Regrets of the experiments of Baudry, Gautron, Kaufmann and Maillard (2021), in size and ranking.

Reference values come from independent programs written from the definitions: mean, standard error, and standard
deviation of a run. Within 4.9 standard errors, theirs and ours: one false alarm in a million seeds each.
"""

import math

import numpy as np
import pytest

import dirichlet_bandits as db


def table(text):
    """Mean regret, its error and its deviation by level and policy."""
    rows = (line.split() for line in text.strip().splitlines())
    return {(float(level), policy): tuple(map(float, numbers)) for level, policy, *numbers in rows}


# t/ha after 10 000 seasons on the four planting dates of spring
MAIZE = table("""
    0.05 B-CVTS 177 9 91
    0.05 CVaR-UCB 792.5 3.7 105
    0.05 U-UCB 3423.4 0.3 7
    0.8 B-CVTS 237 16 98
    0.8 CVaR-UCB 850 14 86
    0.8 U-UCB 1343 12 89
""")

# five arms, probabilities uniform on the simplex over 0, 0.1, ..., 1
MULTINOMIAL = table("""
    0.1 M-CVTS 35.4 1.7 34
    0.1 B-CVTS 38.6 1.2 24
    0.1 CVaR-UCB 218 7 136
    0.1 U-UCB 683 16 325
    0.9 M-CVTS 36.7 1.4 28
    0.9 B-CVTS 42.6 1.1 22
    0.9 CVaR-UCB 166 2 41
    0.9 U-UCB 189 2 36
""")
HORIZON = 10_000
GRID = np.arange(11) / 10


def policies(upper, level):
    return {
        "B-CVTS": db.BCVTS(upper, level),
        "CVaR-UCB": db.CVaRUCB(upper, level, horizon=HORIZON),
        "U-UCB": db.UUCB(upper, level),
    }


def agrees(regrets, expected):
    mean, error, deviation = expected
    ours = max(regrets.std(ddof=1), deviation) / math.sqrt(regrets.size)
    assert abs(regrets.mean() - mean) <= 4.9 * math.hypot(ours, error)


def maize(level, replications):
    bandit = db.crops.maize_planting("spring", objective=db.CVaR(level))
    result = db.simulate(
        bandit, policies(10_000, level), horizon=HORIZON, replications=replications, seed=3, record=1, workers=1
    )
    regrets = {name: result.final_regret(name) / 1000 for name in result.policies}
    for name, found in regrets.items():
        agrees(found, MAIZE[level, name])
    assert 2 * regrets["B-CVTS"].mean() < regrets["CVaR-UCB"].mean() < regrets["U-UCB"].mean() / 1.3


def multinomial(level, problems):
    """One run on each random problem; probabilities are rounded to 1/5000, gaps are those of the rounded ones."""
    rng = np.random.default_rng(8)
    regrets = {"M-CVTS": [], "B-CVTS": [], "CVaR-UCB": [], "U-UCB": []}
    for problem in range(problems):
        chances = rng.dirichlet(np.ones(GRID.size), 5)
        laws = [
            db.Empirical(np.repeat(GRID, np.diff(np.round(5000 * np.cumsum([0, *p])).astype(int)))) for p in chances
        ]
        bandit = db.Bandit(laws, objective=db.CVaR(level))
        chosen = {"M-CVTS": db.MCVTS(GRID, level), **policies(1.0, level)}
        result = db.simulate(bandit, chosen, horizon=HORIZON, replications=1, seed=problem, record=1, workers=1)
        for name, found in regrets.items():
            found.append(float(result.final_regret(name)[0]))
    for name, found in regrets.items():
        agrees(np.array(found), MULTINOMIAL[level, name])
    means = {name: np.mean(found) for name, found in regrets.items()}
    assert max(means["M-CVTS"], means["B-CVTS"]) < means["CVaR-UCB"] < means["U-UCB"]


def test_planting_dates_by_the_worst_years():
    maize(0.05, 12)


def test_random_multinomial_arms():
    multinomial(0.1, 12)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.05, 0.8])
def test_planting_dates_at_full_scale(level):
    maize(level, 200)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.1, 0.9])
def test_random_multinomial_arms_at_full_scale(level):
    multinomial(level, 400)
