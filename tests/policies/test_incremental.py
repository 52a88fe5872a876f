"""Kept propensities against those computed anew, in histories that grow as in a study."""

import math

import numpy as np
import pytest
from scipy import special

import dirichlet_bandits as db
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.policies.min_divergence import exact_value
from dirichlet_bandits.policies.npts.rule import log_ceiling, resampled_index
from dirichlet_bandits.policies.propensity import IncrementalPropensities, update_all

TOP = 40.0
DUELS = [db.RDS(), db.RDS("log2"), db.BDS(upper=TOP), db.BDS(rho=4, gamma=0.5), db.RBSDA(), db.QDS(), db.QDS(2, 0.4)]
DUELS += [db.RBSDA("sqrt-log"), db.LBSDA("cbrt-log"), db.LDSSDA(), db.SSMC()]
DUELS += [db.LBSDA(memory="log2")]
INDICES = [db.EmpiricalIMED(TOP), db.EmpiricalKLUCB(TOP)]
WEIGHTS = [db.MED(upper=TOP)]
SHAPES = {
    "gamma": lambda rng, arm: float(min(rng.gamma(2.0, 1.0 + 0.02 * arm), TOP)),
    "coin": lambda rng, arm: TOP * float(rng.random() < 0.5 + 0.02 * arm),  # rewards at the bound, many ties
    "heavy": lambda rng, arm: float(min(rng.pareto(2.5) * (1.0 + 0.1 * arm), TOP)),
}


def agree(keeper, policy, state):
    kept, anew = keeper.propensities(state), db.state_propensities(policy, state)
    np.testing.assert_allclose(kept, anew, rtol=1e-9, atol=1e-300)


def grown(policy, reward, steps, share=(0.15, 0.25, 0.6), seed=1):
    """States that grow by a reward each, with near ties: leaders change, contours and dual points move."""
    rng = np.random.default_rng(seed)
    state = policy.init(3)
    for step in range(steps):
        arm = step % 3 if step < 6 else int(rng.choice(3, p=share))
        state = policy.update(state, arm, reward(rng, arm), rng)
        yield step, state


@pytest.mark.parametrize("policy", [*DUELS, *INDICES, *WEIGHTS, db.NPTS(TOP)], ids=repr)
@pytest.mark.parametrize("shape", SHAPES)
def test_kept_are_those_computed_anew(policy, shape):
    keeper, npts = IncrementalPropensities(policy, 3), isinstance(policy, db.NPTS)
    for step, state in grown(policy, SHAPES[shape], 1500):
        if step % (97 if npts else 7) == 0 or step <= (10 if npts else 40):
            agree(keeper, policy, state)


@pytest.mark.parametrize(
    "policy", [db.RDS(), db.QDS(), db.RBSDA(), db.SSMC(), *INDICES, *WEIGHTS, db.NPTS(TOP)], ids=repr
)
def test_a_leader_that_changes(policy):
    """What was kept of arms that led for a while, and blocks of another leader."""
    rng = np.random.default_rng(2)
    state, keeper = policy.init(2), IncrementalPropensities(policy, 2)
    for step in range(1200):
        arm = (step // 150) % 2
        state = policy.update(state, arm, float(min(rng.normal(arm, 3.0), TOP)), rng)
        if step % (100 if isinstance(policy, db.NPTS) else 10) == 0:
            agree(keeper, policy, state)


def write_exact_values(policy, state, values):
    """The numbers of all arms from all rewards; an entry point."""
    total, best_mean = overview(state)
    for arm in range(values.size):
        values[arm] = exact_value(policy, state.history, arm, total, best_mean)


@pytest.mark.parametrize("policy", INDICES, ids=repr)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
def test_kept_indices_are_those_of_all_rewards(policy, shape, unit):
    """Not only the largest; and their sums do follow the rewards, at every scale."""
    policy = type(policy)(TOP * unit)
    exact, followed = np.empty(3), 0
    for step, state in grown(policy, lambda rng, arm: unit * SHAPES[shape](rng, arm), 900):
        if step > 1 and step % 3 == 0:
            specialized(write_exact_values, policy.params)(policy.params, state, exact)
            atol = 1e-12 * TOP * unit if isinstance(policy, db.EmpiricalKLUCB) else 1e-10
            np.testing.assert_allclose(state.values, exact, rtol=1e-11, atol=atol)
            kept = state.expansions
            followed += ((kept["known"] == state.pulls) & (kept["limit"] < 2 * state.pulls)).sum()
    assert followed > 50


@pytest.mark.parametrize("policy", [db.QDS(), db.RDS(), *INDICES, *WEIGHTS, db.NPTS(TOP)], ids=repr)
def test_many_rewards(policy):
    """A near tie of large arms that goes on."""
    rng = np.random.default_rng(3)
    state, keeper = policy.init(2), IncrementalPropensities(policy, 2)
    tell = specialized(update_all, policy.params)
    for arm, n in enumerate((9_000, 12_000)):
        state = tell(policy.params, state, arm, np.minimum(rng.gamma(2.0, 1.0 + 0.01 * arm, n), TOP), rng)
    for step in range(60):
        if step % 20 == 0:
            agree(keeper, policy, state)
        else:
            keeper.propensities(state)
        for _ in range(10):
            arm = int(rng.random() < 0.5)
            state = policy.update(state, arm, float(min(rng.gamma(2.0, 1.0 + 0.01 * arm), TOP)), rng)


@pytest.mark.parametrize("policy", [*INDICES, *WEIGHTS, db.NPTS(TOP), db.QDS()], ids=repr)
@pytest.mark.parametrize("reward", [1.0, TOP])
def test_equal_rewards_and_exact_ties(policy, reward):
    rng = np.random.default_rng(4)
    state, keeper = policy.init(3), IncrementalPropensities(policy, 3)
    for step in range(150):
        state = policy.update(state, step % 3, reward, rng)
        if step > 1:
            agree(keeper, policy, state)
    assert keeper.propensities(state).min() > 0.3  # 50 rewards each: nothing tells the arms apart


@pytest.mark.parametrize("policy", INDICES, ids=repr)
def test_what_is_certain_is_what_select_says(policy):
    """A study does not ask ``select`` when one arm has all of the probability."""
    keeper, rng, certain = IncrementalPropensities(policy, 3), np.random.default_rng(5), 0
    for step, state in grown(policy, SHAPES["gamma"], 600):
        if step > 1:
            chances = keeper.propensities(state)
            assert chances[policy.select(state, rng)].min() > 0.0
            certain += np.count_nonzero(chances) == 1
    assert certain > 500


def test_tables_depend_on_the_rewards_alone():
    """Not on when they were made, up to rounding: a replay finds the same propensities."""
    policy, rng = db.NPTS(TOP), np.random.default_rng(7)
    often, state = IncrementalPropensities(policy, 2), policy.init(2)
    for step in range(900):
        state = policy.update(state, step % 2, SHAPES["gamma"](rng, step % 2), rng)
        if step % 13 == 1:
            np.testing.assert_allclose(
                often.propensities(state), IncrementalPropensities(policy, 2).propensities(state), rtol=1e-10
            )


def test_a_compressed_sample_of_coins_is_a_beta_law():
    """The index of n coins and the bound 1, itself a head."""
    coins = (np.random.default_rng(8).random(100_000) < 0.3).astype(float)
    v = np.array([[0.29], [0.2985], [0.3], [0.303], [0.31]])
    below, above = resampled_index(*compress(coins, np.empty(0)), 1.0).tails(v)
    heads = coins.sum() + 1
    np.testing.assert_allclose(below[:, 0], special.betainc(heads, coins.size + 1 - heads, v[:, 0]), rtol=1e-9)
    np.testing.assert_allclose(above[:, 0], special.betaincc(heads, coins.size + 1 - heads, v[:, 0]), rtol=1e-9)


def test_the_ceiling_lies_above_the_probability():
    rng = np.random.default_rng(9)
    for _ in range(200):
        x, weights = rng.gamma(1.0, 1.0, 20), rng.gamma(1.0, 30.0, 20)
        m = rng.uniform(x.min() - 1.0, x.max() + 1.0)
        log_p = db.crossing_probability(x, m, weights, log=True)
        assert log_ceiling(x - m, weights) >= log_p
        if -math.inf < log_p < -20.0:
            assert log_ceiling(x - m, weights) < 0.7 * log_p  # and not far
