"""RDS for CVaR: the law of its duels, what it is at level 1, its place among other policies, and in live studies."""

import math

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.environments import Mean
from dirichlet_bandits.policies.dirichlet.rule import offsets_with_bonus
from tests import naive
from tests.policies.test_policies import told

ALARM = 1e-6


def test_the_bonus_stands_in_its_place():
    x = np.array([1.0, 2.0, 2.0, 5.0])
    for b in (0.5, 2.0, 3.0, 7.0):
        np.testing.assert_array_equal(offsets_with_bonus(x, b, 1.5), np.sort([*x, b]) - 1.5)


@pytest.mark.parametrize("level", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("n", [1, 4, 20])
def test_propensities_are_those_of_the_definition(level, n):
    """Against 80 digits, from the rewards alone: the bonus among them, the leader's CVaR as the threshold."""
    rng = np.random.default_rng(n)
    challenger, leader = list(rng.gamma(2.0, 1.0, n)), list(3.0 + rng.gamma(2.0, 1.0, n + 5))
    m = db.cvar(leader, level)
    assert db.cvar(challenger, level) < m
    bonus = m + math.sqrt(math.log(1 + n)) * float(np.mean(np.maximum(m - np.array(challenger), 0.0)))
    win = float(naive.cvar_crossing([*challenger, bonus], m, level))
    chances = db.propensities(db.RDS(level=level), [challenger, leader])
    np.testing.assert_allclose(chances, [win, 1.0 - win], rtol=1e-10)


def test_duels_have_that_law():
    rng = np.random.default_rng(3)
    histories = [list(rng.gamma(2.0, 1.0, 12).round(1)), list(rng.gamma(2.0, 1.1, 30).round(1))]
    policy = db.RDS(level=0.3)
    state = told(policy, histories)
    p = db.state_propensities(policy, state)[0]
    assert 0.01 < p < 0.99
    wins = sum(policy.select(state, rng) == [0] for _ in range(4000))
    assert stats.binomtest(wins, 4000, p).pvalue > ALARM


def test_level_one_is_rds():
    assert db.RDS("log", level=1.0).params == db.RDS("log").params
    assert db.RDS().objective == Mean()
    assert db.RDS(level=0.2).objective == db.CVaR(0.2)


def test_ties_between_leaders_go_by_the_cvar():
    """Equally many rewards; the second arm has the better mean, the first the better half of the worst."""
    bold, safe, new = [0.0, 9.0, 0.0, 9.0], [1.0, 2.0, 1.0, 2.0], [0.5]
    chances = db.propensities(db.RDS(level=0.5), [safe, bold, new])
    assert chances[1] == 0.0
    assert chances[0] == pytest.approx(1.0 - chances[2])


def test_it_finds_the_safe_arm_without_a_bound():
    """On the planting dates it loses a fraction of what pulling at random loses; where UCBs want the bound."""
    bandit = db.crops.maize_planting("spring", objective=db.CVaR(0.2))
    result = db.simulate(bandit, db.RDS(level=0.2), horizon=3000, replications=10, seed=1, workers=1)
    assert result.final_regret(result.policies[0]).mean() < 0.3 * 3000 * bandit.gaps.mean()


@pytest.mark.parametrize("level", [0, 1.5, "half"])
def test_bad_levels_are_named(level):
    with pytest.raises(db.ArgumentError, match="'level' must be"):
        db.RDS(level=level)


def test_studies_of_before_are_still_the_same(tmp_path):
    """A study that knows nothing of levels, and one with a level: stored, decided, and decided again."""
    storage = f"sqlite:///{tmp_path / 'maize.db'}"
    rng = np.random.default_rng(4)
    for name, policy in (("mean", db.RDS()), ("risk", db.RDS(level=0.25))):
        study = db.create_study(name, arms=["early", "late"], policy=policy, storage=storage, seed=3)
        for _ in range(20):
            trial = study.ask()
            study.tell(trial.id, float(rng.normal(trial.arm == "late", 1.0)))
        again = db.load_study(name, storage=storage)
        assert again.policy == policy
        assert again.replay().same
    assert again.summary().attrs["objective"] == "CVaR at 25 %"


def test_comparisons_on_a_cvar_leave_the_mean_out():
    bandit = db.Bandit([db.Beta(2, 3), db.Beta(3, 3)], objective=db.CVaR(0.2))
    settings = {"horizon": 30, "replications": 3, "seed": 0, "workers": 1}
    assert list(db.compare_policies(bandit, policies=["RDS"], **settings).result.policies) == ["RDS"]
    assert db.compare_policies(bandit, policies=["RDS"], **settings).best == db.RDS(level=0.2)
