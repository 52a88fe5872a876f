"""The compiled loop of scripts against the naive one, pull by pull."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.environments.feedback import AT_ONCE
from dirichlet_bandits.seeding import generator, replication_seeds, root_sequence
from dirichlet_bandits.simulation.plan import make_plan
from dirichlet_bandits.simulation.units import units_of
from tests.naive import environments as naive
from tests.simulation.test_hostile import BANDITS as HOSTILE

HORIZON, REPLICATIONS, SEED = 120, 3, 7
ARMS = [db.Bernoulli(0.3), db.Bernoulli(0.6), db.Bernoulli(0.5)]
POLICIES = [db.UCB1(0.5), db.ThompsonSampling("bernoulli"), db.LBSDA(), db.RDS()]
FEEDBACK = {
    "at once": {},
    "constant": {"delay": 5},
    "one per arm": {"delay": [0, 10, 3]},
    "geometric": {"delay": db.Geometric(0.1)},
    "heavy, lost after a window": {"delay": db.Pareto(0.5), "window": 20},
    "heavy, zero after a window": {"delay": db.Pareto(0.5), "window": 20, "late": 0.0},
    "batches": {"batch": 25},
    "batches of several sizes": {"batch": [1, 2, 7, 50, 60]},
    "batches and delays": {"batch": 10, "delay": db.Geometric(0.05)},
}


def simulated(world, policy, **feedback):
    result = db.simulate(
        world,
        policy,
        horizon=HORIZON,
        replications=REPLICATIONS,
        seed=SEED,
        record=np.arange(1, HORIZON + 1),
        **feedback,
    )
    return result.pulls.values[0], result.regret.values[0]


def starts_of(batch):
    if isinstance(batch, int):
        return range(0, HORIZON, batch)
    return [0, *np.cumsum(batch)[:-1]]


# The loop is the same for all policies: one of them meets all delays and batches, the others the hardest.
HARDEST = ("at once", "heavy, lost after a window", "batches and delays")
MEETINGS = [
    pytest.param(name, policy, marks=() if k == 0 or (name in HARDEST and k < len(POLICIES)) else pytest.mark.slow)
    for name in FEEDBACK
    for k, policy in enumerate([*POLICIES, db.NPTS(1.0)])
]


@pytest.mark.parametrize(("name", "policy"), MEETINGS, ids=repr)
def test_delays_and_batches(name, policy):
    feedback = FEEDBACK[name]
    if name == "at once":
        feedback = {"batch": [1] * HORIZON}  # the loop of scripts, with nothing to wait for
    bandit = db.Bandit(ARMS)
    pulls, regret = simulated(bandit, policy, **feedback)
    seeds = replication_seeds(root_sequence(SEED), 0, REPLICATIONS, len(ARMS) + 2)
    delay = feedback.get("delay", 0)
    for row in range(REPLICATIONS):
        tape = bandit.rewards(seeds[row], HORIZON)
        spare = generator(seeds[row, 4])
        delays = np.empty((3, HORIZON))
        for arm in range(3):
            one = delay[arm] if isinstance(delay, list) else delay
            delays[arm] = np.ceil(one.rvs(HORIZON, spare)) if hasattr(one, "rvs") else one
        expected = naive.play_tape(
            policy,
            bandit,
            tape,
            seeds[row, 3],
            spare,
            delay_of=lambda arm, t, j, delays=delays: delays[arm, j],
            window=feedback.get("window", math.inf),
            late=feedback.get("late"),
            batches=starts_of(feedback.get("batch", 1)),
        )
        assert pulls[row].tolist() == expected[0].tolist()
        np.testing.assert_allclose(regret[row], expected[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_nothing_to_wait_for_is_the_plain_simulation(policy):
    bandit = db.Bandit(ARMS)
    plain = simulated(bandit, policy, fast=False)
    played = simulated(bandit, policy, batch=[1] * HORIZON)
    assert (plain[0] == played[0]).all()
    np.testing.assert_allclose(plain[1], played[1], rtol=0, atol=1e-12)
    one_segment = simulated(db.Piecewise({1: ARMS, HORIZON + 1: ARMS[::-1]}), policy, delay=0, batch=1)
    fast = simulated(bandit, policy)
    assert (one_segment[0] == fast[0]).all()
    assert (one_segment[1] == fast[1]).all()


def test_shortcuts_are_used_where_nothing_changes_and_nothing_waits_and_nowhere_else():
    settings = {"horizon": HORIZON, "replications": 1, "seed": 0, "record": 1, "fast": True}
    one, two = db.Piecewise({1: ARMS, HORIZON + 1: ARMS[::-1]}), db.Piecewise({1: ARMS, HORIZON: ARMS[::-1]})
    for world, feedback, holds in (
        (db.Bandit(ARMS), {"delay": 0, "batch": 1}, True),
        (one, {"delay": 0, "batch": 1}, True),
        (one, {"delay": 0, "window": 5, "batch": 1}, True),
        (two, {}, False),
        (one, {"delay": 1}, False),
        (one, {"batch": 2}, False),
    ):
        for policy in POLICIES:
            assert make_plan(world, policy, feedback={**AT_ONCE, **feedback}, **settings).shortcuts == holds


@pytest.mark.parametrize("policy", POLICIES[:3], ids=repr)
def test_segments(policy):
    world = db.Piecewise({1: ARMS, 41: ARMS[::-1], 81: ARMS[1:] + ARMS[:1]})
    pulls, regret = simulated(world, policy)
    seeds = replication_seeds(root_sequence(SEED), 0, REPLICATIONS, 3 * len(ARMS) + 2)
    gaps = np.repeat([bandit.gaps for bandit in world.bandits], 40, axis=0)
    for row in range(REPLICATIONS):
        own = [seeds[row, :3], seeds[row, 5:8], seeds[row, 8:11]]
        tapes = [bandit.rewards(streams, 40) for bandit, streams in zip(world.bandits, own, strict=True)]
        used = np.zeros((3, 3), int)

        def reward_of(arm, t, j, tapes=tapes, used=used):
            segment = t // 40
            used[segment, arm] += 1
            return tapes[segment][arm, used[segment, arm] - 1]

        expected = naive.play(policy, reward_of, gaps, HORIZON, seeds[row, 3], generator(seeds[row, 4]))
        assert pulls[row].tolist() == expected[0].tolist()
        np.testing.assert_allclose(regret[row], expected[1], rtol=0, atol=1e-12)


def test_drifting_means():
    def means(t):
        return [0.0, math.sin(t / 20), math.cos(t / 20)]

    world = db.Drifting(means, noise=db.Uniform(-0.5, 0.5))
    pulls, regret = simulated(world, db.RDS())
    values = np.array([means(t) for t in range(1, HORIZON + 1)])
    seeds = replication_seeds(root_sequence(SEED), 0, REPLICATIONS, 5)
    for row in range(REPLICATIONS):
        tape = db.Bandit([db.Uniform(-0.5, 0.5)] * 3).rewards(seeds[row], HORIZON)
        expected = naive.play(
            db.RDS(),
            lambda arm, t, j, tape=tape: tape[arm, j] + values[t, arm],
            values.max(axis=1, keepdims=True) - values,
            HORIZON,
            seeds[row, 3],
            generator(seeds[row, 4]),
        )
        assert pulls[row].tolist() == expected[0].tolist()
        np.testing.assert_allclose(regret[row], expected[1], rtol=0, atol=1e-12)
    assert (db.Drifting(values, db.Uniform(-0.5, 0.5)).values_over(HORIZON) == world.values_over(HORIZON)).all()


ONE_BY_ONE = {  # a reward with this mean, from the stream of its arm
    "bernoulli": lambda rng, mean: float(rng.random() < mean),
    "exponential": lambda rng, mean: mean * rng.standard_exponential(),
    "poisson": lambda rng, mean: float(rng.poisson(mean)),
    "gaussian": lambda rng, mean: mean + 0.3 * rng.standard_normal(),
}


@pytest.mark.parametrize("feedback", [{}, {"delay": db.Geometric(0.1)}], ids=["at once", "late"])
@pytest.mark.parametrize("law", ONE_BY_ONE)
def test_drifting_laws_pay_by_the_time_of_the_pull(law, feedback):
    values = np.array([[0.5, 0.5 + 0.3 * math.sin(t / 20), 0.4 + t / 400] for t in range(HORIZON)])
    world = db.Drifting(values, law=law, sigma=0.3 if law == "gaussian" else None)
    pulls, regret = simulated(world, db.UCB1(0.5), **feedback)
    in_python, _ = simulated(world, Twin(0.5), **feedback)
    seeds = replication_seeds(root_sequence(SEED), 0, REPLICATIONS, 5)
    for row in range(REPLICATIONS):
        streams, spare = [generator(seed) for seed in seeds[row]], generator(seeds[row, 4])
        tape = [[ONE_BY_ONE[law](streams[arm], mean) for mean in values[:, arm]] for arm in range(3)]
        delays = np.zeros((3, HORIZON))
        if feedback:
            delays[:] = [np.ceil(feedback["delay"].rvs(HORIZON, spare)) for _ in range(3)]
        expected = naive.play(
            db.UCB1(0.5),
            lambda arm, t, j, tape=tape: tape[arm][t],
            values.max(axis=1, keepdims=True) - values,
            HORIZON,
            seeds[row, 3],
            spare,
            delay_of=lambda arm, t, j, delays=delays: delays[arm, t],
        )
        assert pulls[row].tolist() == expected[0].tolist() == in_python[row].tolist()
        np.testing.assert_allclose(regret[row], expected[1], rtol=0, atol=1e-12)


class Twin:
    """UCB1 as a plain Python class; ties are broken as the library does."""

    def __init__(self, sigma):
        self.policy = db.UCB1(sigma)

    def init(self, n_arms):
        self.state = self.policy.init(n_arms)

    def select(self, rng):
        return self.policy.select(self.state, rng)

    def update(self, arm, reward):
        self.state = self.policy.update(self.state, arm, reward, np.random.default_rng(0))


class Greedy:
    """Pulls the arm with the largest mean: a policy that is a plain Python class."""

    def init(self, n_arms):
        self.counts, self.sums = np.zeros(n_arms), np.zeros(n_arms)

    def select(self, rng):
        return int(np.argmax(self.sums / self.counts))

    def update(self, arm, reward):
        self.counts[arm] += 1
        self.sums[arm] += reward


class RoundRobin:
    """Pulls all arms in turn, whatever comes."""

    def init(self, n_arms):
        self.n_arms = n_arms

    def select(self, rng):
        return list(range(self.n_arms))

    def update(self, arm, reward):
        pass


def test_python_policies_play_the_same_worlds():
    world = db.Piecewise({1: ARMS, 61: ARMS[::-1]})
    pulls, regret = simulated(world, RoundRobin(), delay=db.Geometric(0.3), batch=20)
    assert (pulls >= 30).all()
    assert regret[:, -1] == pytest.approx(np.full(REPLICATIONS, (0.3 + 0.1) * 40), abs=2.0)
    late = simulated(db.Bandit(ARMS), Greedy(), delay=HORIZON)
    assert (late[0] == 40).all()  # nothing is ever known, so the arms are tried in turn


class Impatient(RoundRobin):
    """Asks its unit to stop in the middle of a replication."""

    def select(self, rng):
        UNITS[0].cancel()
        return super().select(rng)


UNITS = []


def test_an_interrupted_replication_leaves_nothing():
    settings = {"horizon": HORIZON, "replications": 1, "seed": 0, "record": HORIZON, "fast": True}
    plan = make_plan(db.Bandit(ARMS), Impatient(), feedback={**AT_ONCE, "delay": 1}, **settings)
    UNITS[:] = units_of(plan, None, 1)
    chunk = UNITS[0].run()
    assert np.isnan(chunk.regret).all()
    assert np.isnan(chunk.reward).all()
    assert not chunk.pulls.any()


@pytest.mark.parametrize(
    ("world", "feedback"),
    [
        (db.Piecewise({1: ARMS, 61: ARMS[::-1]}), {}),
        (db.Drifting(np.full((HORIZON, 3), 0.5), noise=db.Uniform(-0.1, 0.1)), {}),
        (db.Bandit(ARMS), {"delay": 1}),
        (db.Bandit(ARMS), {"batch": 2}),
    ],
)
def test_no_shortcut_is_taken_in_a_new_world(world, feedback):
    """The plain loop runs, whatever ``fast`` says; so fast and plain runs are the same pull by pull."""
    policy = db.RDS()
    settings = {"horizon": HORIZON, "replications": 1, "seed": 0, "record": 1, "fast": True}
    assert make_plan(db.Bandit(ARMS), policy, **settings).shortcuts
    assert not make_plan(world, policy, feedback={**AT_ONCE, **feedback}, **settings).shortcuts
    assert (simulated(world, policy, **feedback)[1] == simulated(world, policy, fast=False, **feedback)[1]).all()


@pytest.mark.parametrize("name", HOSTILE)
def test_fast_and_plain_agree_on_hostile_bandits_with_late_rewards(name):
    fast, plain = (simulated(db.Bandit(HOSTILE[name].arms), db.RDS(), delay=3, fast=fast) for fast in (True, False))
    assert (fast[0] == plain[0]).all()
    assert (fast[1] == plain[1]).all()
