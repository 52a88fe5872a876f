"""Every policy through the same door: parameters, verbs, edge cases."""

import math
from pathlib import Path

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.engine.history import append, new_history, rewards
from dirichlet_bandits.engine.tally import count, new_tally
from dirichlet_bandits.engine.verbs import implements, index
from dirichlet_bandits.policies.interface import GUARANTEES
from dirichlet_bandits.policies.registry import all_policies
from dirichlet_bandits.policies.ucb import UCB1Params
from tests.policies.twins import PAIRS


def told(policy, histories, seed=0):
    """State after these rewards."""
    rng = np.random.default_rng(seed)
    state = policy.init(len(histories))
    for arm, history in enumerate(histories):
        for reward in history:
            state = policy.update(state, arm, reward, rng)
    return state


def test_every_policy_has_a_twin():
    assert {type(pair.policy) for pair in PAIRS.values()} == set(all_policies().values())


@pytest.mark.parametrize("name", all_policies())
def test_every_policy_says_what_is_proved_of_it(name):
    assert all_policies()[name].guarantee in GUARANTEES
    assert all_policies()[name].assumes != db.Policy.assumes
    assert all_policies()[name].reference


@pytest.mark.parametrize("name", ["RDS sqrt-log", "UCB1", "RBSDA", "NPTS"])
def test_arms_never_pulled_come_first_in_random_order(name):
    policy = PAIRS[name].policy
    state = told(policy, [[], [0.5], [], []])
    orders = {tuple(policy.select(state, np.random.default_rng(seed))) for seed in range(60)}
    assert {tuple(sorted(order)) for order in orders} == {(0, 2, 3)}
    assert len(orders) == 6


@pytest.mark.parametrize("name", ["RDS sqrt-log", "QDS", "NPTS", "UCB1", "RBSDA", "LBSDA", "SSMC", "WRSDA", "BESA"])
def test_select_leaves_the_state_alone_and_ties_are_shared(name):
    policy = PAIRS[name].policy
    state = told(policy, [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    before = [np.array(part, copy=True) for part in (state.pulls, state.means)]
    chosen = [policy.select(state, np.random.default_rng(seed)) for seed in range(300)]
    assert np.array_equal(before[0], state.pulls) and np.array_equal(before[1], state.means)  # noqa: PT018
    counts = np.bincount([arm for round_ in chosen for arm in round_], minlength=3)
    assert counts.min() > 60  # 100 expected of each; 60 is five standard deviations below


def test_a_challenger_with_the_leaders_mean_wins_and_tied_sizes_do_not_duel():
    policy = db.RDS()
    rng = np.random.default_rng(0)
    state = told(policy, [[0.3, 0.3, 0.3], [0.3], [0.3, 0.3]])
    assert sorted(policy.select(state, rng)) == [1, 2]
    state = told(policy, [[1.0, 1.0], [0.0, 0.0]])
    assert policy.select(state, rng) == [0]


def test_equal_rewards_give_exactly_equal_means():
    tally = new_tally(2)
    for _ in range(7):
        count(tally, 0, 0.1)
    for _ in range(1000):
        count(tally, 1, 0.1)
    assert tally.means[0] == tally.means[1] == 0.1
    order = np.random.default_rng(0).permutation([0.1, 0.2, 0.7, 1e9, -1e9] * 50)
    tally = new_tally(2)
    for reward in order:
        count(tally, 0, reward)
    for reward in np.sort(order):
        count(tally, 1, reward)
    assert tally.means[0] == tally.means[1]


def test_history_keeps_every_reward_in_order_and_little_else():
    rng = np.random.default_rng(4)
    history = new_history(5)
    kept = [[] for _ in range(5)]
    for arm, reward in zip(rng.integers(0, 5, 3000), rng.normal(size=3000), strict=True):
        history = append(history, arm, reward, reward)
        kept[arm].append(reward)
    for arm in range(5):
        np.testing.assert_array_equal(rewards(history, arm), kept[arm])
    assert history.pool.size <= 8 * 3000


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.RDS(rho="cube"), r"'rho' must be one of 'sqrt-log', 'log', 'log2' \(got 'cube'\)"),
        (lambda: db.BDS(), "'upper' must be given, or else both rho and gamma"),
        (lambda: db.BDS(rho=1.0), "'upper' must be given, or else both rho and gamma"),
        (lambda: db.BDS(upper=1.0, rho=1.0), "'upper' must be given alone"),
        (lambda: db.BDS(upper=np.nan), "'upper' must be a finite number"),
        (lambda: db.BDS(rho=-1, gamma=1), "'rho' must be a positive number"),
        (lambda: db.QDS(alpha=1.0), "'alpha' must be"),
        (lambda: db.QDS(rho=0), "'rho' must be a positive number"),
        (lambda: db.NPTS(upper="high"), "'upper' must be a finite number"),
        (lambda: db.UCB1(sigma=0), "'sigma' must be a positive number"),
        (lambda: db.RUCBLT(f="cube"), "'f' must be one of 'sqrt-log', 'log', 'log2'"),
        (lambda: db.RUCBLT(scale=0.0), "'scale' must be "),
        (lambda: db.KLUCB("cauchy"), "'family' must be one of 'bernoulli'"),
        (lambda: db.KLUCB("gaussian"), "'sigma' must be a finite number"),
        (lambda: db.IMED("poisson", sigma=1.0), "'sigma' must be left out"),
        (lambda: db.RBSDA(forced="log"), r"'forced' must be one of 'sqrt-log', 'cbrt-log' \(got 'log'\)"),
        (lambda: db.LBSDA(memory="log"), "'memory' must be one of 'log2'"),
        (lambda: db.WRSDA(ties="fewer"), "'ties' must be one of 'challenger', 'random'"),
        (lambda: db.BESA(ties="challenger"), "'ties' must be one of 'fewer', 'random'"),
        (lambda: db.SSMC(forced=1), "'forced' must be one of 'sqrt-log', 'cbrt-log'"),
        (lambda: db.BinarizedTS(1.0, 0.0), "'upper' must be greater than lower"),
        (lambda: db.PHE(a=0.0), "'a' must be a positive number"),
        (lambda: db.PHE(upper=-1.0), "'upper' must be greater than lower"),
        (lambda: db.ReBoot(sigma=-1.0), "'sigma' must be a positive number"),
        (lambda: db.MBE(variance=0.0), "'variance' must be a positive number"),
        (lambda: db.GIRO(binary=1), r"'binary' must be True or False \(got 1\)"),
        (lambda: db.BootstrapTS(artificial=0), "'artificial' must be an integer of at least 1"),
        (
            lambda: db.OnlineBootstrapTS(weights="exponential"),
            "'weights' must be one of 'double-or-nothing', 'poisson'",
        ),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(db.ArgumentError, match=message):
        make()


@pytest.mark.parametrize(
    ("policy", "reward"),
    [
        (db.BDS(upper=1), 1.2),
        (db.NPTS(upper=1), 1.2),
        (db.BinarizedTS(0, 1), -0.1),
        (db.PHE(), 1.5),
        (db.GIRO(binary=True), 0.5),
        (db.ThompsonSampling("bernoulli"), 2.0),
        (db.RDS(), np.nan),
        (db.RDS(), np.inf),
    ],
)
def test_bad_rewards_are_refused(policy, reward):
    with pytest.raises(db.RewardError):
        policy.update(policy.init(2), 0, reward, np.random.default_rng(0))


def test_an_arm_out_of_range_is_refused():
    policy = db.UCB1(sigma=1.0)
    with pytest.raises(db.ArgumentError, match="'arm' must be an index below 2"):
        policy.update(policy.init(2), 2, 0.0, np.random.default_rng(0))


def test_a_verb_that_comes_too_late_is_refused():
    """What has been compiled would not know of it."""
    db.UCB1(sigma=1.0).init(2)
    with pytest.raises(TypeError, match="UCB1Params is compiled already: register 'index' before it is used"):
        implements(index, UCB1Params)(lambda policy, state, arm, total, best_mean, rng: 0.0)


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_proved_says_what_it_assumes(name):
    """A bound on one side needs an assumption about the other, and a horizon is a parameter that stays fixed."""
    policy = PAIRS[name].policy
    low, high = policy.reward_bounds
    if policy.guarantee != "none known" and low == -math.inf < high < math.inf:
        assert "above some bound" in policy.assumes or "light lower tail" in policy.assumes
    if policy.guarantee == "linear" and hasattr(policy, "horizon"):
        assert "linear for fixed parameters" in policy.assumes


def test_the_parameters_that_the_theory_requires_are_those_on_the_pages():
    docs = Path(__file__).parents[2] / "docs"
    pages = {page: " ".join((docs / f"{page}.md").read_text("utf-8").split()) for page in ("policies", "howto_choose")}
    near = f"{math.ceil(100.0 * (1.0 - math.exp(-1.0 / 4.0)))}%"  # 4 = -1 / log(1 - p)
    assert f"{1.05 / 0.05**2:g} at alpha = 0.05" in pages["policies"]
    assert f"a rho of 4 is enough for p = {near}" in pages["policies"]
    assert f"at least {near} of the rewards must lie within gamma of the bound" in pages["howto_choose"]
