"""Propensities of NPTS from tables of densities, against those from distribution functions and closed forms."""

import numpy as np
import pytest
from scipy import integrate, stats

import dirichlet_bandits as db
from dirichlet_bandits.policies.npts.rule import TabulatedIndices, from_distribution_functions, write_chances

SHAPES = {
    "beta": lambda rng, n, arm: rng.beta(2.0 + 0.2 * arm, 3.0, n),
    "gamma": lambda rng, n, arm: np.minimum(rng.gamma(2.0, 1.0 + 0.02 * arm, n), 40.0) / 40.0,
    "pareto": lambda rng, n, arm: np.minimum(rng.pareto(2.5, n) * (1.0 + 0.1 * arm), 40.0) / 40.0,
    "coins": lambda rng, n, arm: (rng.random(n) < 0.3 + 0.02 * arm) * 1.0,
    "three values": lambda rng, n, arm: 0.99 * rng.choice([0.0, 0.5, 1.0], n),
    "rare sales": lambda rng, n, arm: np.where(rng.random(n) < 0.05, rng.random(n), 0.0),
    "one value, and a few others": lambda rng, n, arm: np.where(np.arange(n) < 5, rng.random(n), 0.5),
}
RESISTS = ("one value, and a few others", (250, 8, 2000))  # a break that is not looked for among so many rewards
SIZES = [(1, 1, 1), (2, 3, 9), (15, 17, 40), (25, 60, 30), (100, 190, 195), (250, 8, 2000)]


def told(policy, histories):
    """The state after these rewards."""
    state, rng = policy.init(len(histories)), np.random.default_rng(0)
    for arm, x in enumerate(histories):
        for reward in x:
            state = policy.update(state, arm, float(reward), rng)
    return state


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_tables_and_distribution_functions_agree(shape, sizes):
    rng, policy = np.random.default_rng(sum(sizes)), db.NPTS(upper=1.0)
    state = told(policy, [SHAPES[shape](rng, n, arm) for arm, n in enumerate(sizes)])
    want, indices = from_distribution_functions(state, 1.0), TabulatedIndices(policy, 3)
    assert write_chances(indices._means, state, 1.0, np.empty(3)) == ((shape, sizes) != RESISTS)
    np.testing.assert_allclose(indices.propensities(state), want, rtol=1e-9, atol=1e-26)


@pytest.mark.parametrize(("sizes", "shape"), [((500, 500), 2.5), ((1000, 1000), 2.5), ((4000, 8000), 3.5)], ids=str)
def test_many_rewards_with_a_heavy_tail_have_tables(sizes, shape):
    """No contour is accurate far out in the tail, where errors do not matter."""
    rng, policy = np.random.default_rng(3), db.NPTS(upper=1.0)
    state = told(policy, [np.minimum(0.05 * rng.pareto(shape, n), 0.99) for n in sizes])
    chances = np.empty(2)
    assert write_chances(TabulatedIndices(policy, 2)._means, state, 1.0, chances)
    np.testing.assert_allclose(chances, from_distribution_functions(state, 1.0), rtol=1e-9)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.0), (2.0, 5.0), (-3.0, 1e6)])
@pytest.mark.parametrize("counts", [((3, 5), (4, 4)), ((30, 50), (45, 35)), ((300, 500), (380, 400)), ((9, 2), (1, 7))])
def test_two_values_have_beta_variables(lower, upper, counts):
    """With s rewards at the bound and f others, the bound has the weight Beta(s + 1, f)."""
    histories = [[upper] * s + [lower] * f for s, f in counts]
    (one, other) = (stats.beta(s + 1, f) for s, f in counts)
    want = integrate.quad(lambda v: one.pdf(v) * other.cdf(v), 0.0, 1.0, epsabs=1e-13, epsrel=1e-11, limit=200)[0]
    assert db.propensities(db.NPTS(upper), histories) == pytest.approx([want, 1.0 - want], rel=1e-9)


def test_arms_that_always_pay_the_bound_share_the_decision():
    chances = db.propensities(db.NPTS(upper=1.0), [[1.0, 1.0], [0.0, 1.0], [1.0]])
    assert chances.tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("n", [20, 90, 400])
def test_small_probabilities_keep_their_digits(n):
    """Arms whose densities hardly overlap: tables reach farther than at first."""
    rng, policy = np.random.default_rng(n), db.NPTS(upper=1.0)
    state = told(policy, [0.3 + 0.1 * rng.random(n), 0.6 + 0.1 * rng.random(n)])
    chances, want = TabulatedIndices(policy, 2).propensities(state), from_distribution_functions(state, 1.0)
    assert want[0] < 1e-5
    np.testing.assert_allclose(chances, want, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e9])
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_units_and_origin_do_not_matter(scale, shift):
    rng = np.random.default_rng(3)
    histories = [rng.beta(2.0 + 0.3 * arm, 3.0, 30).round(6) for arm in range(3)]
    want = db.propensities(db.NPTS(upper=1.0), histories)
    moved = [scale * (x + shift) for x in histories]
    np.testing.assert_allclose(db.propensities(db.NPTS(scale * (1.0 + shift)), moved), want, rtol=1e-8)


def test_a_layer_that_no_panel_may_overlook():
    """Rewards that nearly agree: just above the smallest one, each density rises in a millionth of its width."""
    rng, policy = np.random.default_rng(5), db.NPTS(upper=1.0)
    for sizes in ((25, 25), (15, 40), (60, 190)):
        state = told(policy, [0.9 + 1e-6 * rng.random(n) for n in sizes])
        want = from_distribution_functions(state, 1.0)
        np.testing.assert_allclose(TabulatedIndices(policy, 2).propensities(state), want, rtol=1e-9)
