"""Policies for late rewards: the queue's inner game is the undelayed one, bit for bit; pending pulls count."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.live.description import described, restore
from dirichlet_bandits.policies.written import parse_policy
from dirichlet_bandits.seeding import generator, replication_seeds, root_sequence
from tests.live.reporting import report_some
from tests.naive import environments as naive

HORIZON, SEED = 150, 7
BANDIT = db.Bandit([db.Uniform(0.0, 0.8), db.Uniform(0.1, 1.0), db.Uniform(0.0, 1.0)])
FEEDBACK = {
    "at once": {"batch": [1] * HORIZON},
    "constant": {"delay": 7},
    "one per arm": {"delay": [0, 30, 3]},
    "geometric": {"delay": db.Geometric(0.1)},
    "heavy": {"delay": db.Pareto(0.7)},
    "bad news comes late": {"delay": lambda rewards: 40.0 * (1.0 - rewards)},
    "batches": {"batch": 12, "delay": db.Geometric(0.2)},
    "lost after a window": {"delay": db.Pareto(0.7), "window": 10},
    "zero after a window": {"delay": db.Pareto(0.7), "window": 10, "late": 0.0},
}
IN_ORDER = list(FEEDBACK)[:7]  # every reward arrives as it is


class SpyParams(NamedTuple):
    inner: Any
    log: Any  # the number of rewards, then arm and reward of each


@dataclass(frozen=True)
class Spy(db.Policy):
    """Another policy, whose arms and rewards are written down."""

    policy: db.Policy
    log: Any = field(compare=False, default_factory=lambda: np.zeros((HORIZON + 1, 2)))

    @property
    def params(self):
        return SpyParams(self.policy.params, self.log)

    @property
    def reward_bounds(self):
        return self.policy.reward_bounds

    @property
    def seen(self):
        return [(int(arm), reward) for arm, reward in self.log[1 : int(self.log[0, 0]) + 1].tolist()]


@verbs.implements(verbs.init, SpyParams)
def begin(policy, n_arms):
    policy.log[0, 0] = 0.0
    return verbs.init(policy.inner, n_arms)


@verbs.implements(verbs.select, SpyParams)
def decide(policy, state, rng):
    return as_round(verbs.select(policy.inner, state, rng), np.empty(1, np.int64))


@verbs.implements(verbs.update, SpyParams)
def write_down(policy, state, arm, reward, rng):
    policy.log[0, 0] += 1.0
    row = int(policy.log[0, 0])
    policy.log[row, 0], policy.log[row, 1] = arm, reward
    return verbs.update(policy.inner, state, arm, reward, rng)


INNER = {
    "BinarizedTS": db.BinarizedTS(0.0, 1.0),  # draws in its updates
    "RDS": db.RDS(),
    "UCB1": db.UCB1(0.5),
    "NPTS": db.NPTS(1.0),
    "LBSDA": db.LBSDA(),  # decides in rounds
}
QUICK = ["BinarizedTS", "LBSDA"]
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in INNER if name not in QUICK]


def simulated(policy, **feedback):
    return db.simulate(BANDIT, policy, horizon=HORIZON, replications=1, seed=SEED, fast=False, **feedback)


def naive_game(policy, ask, fewest=2, delay=0, window=np.inf, late=None, batch=1, tape=None):
    seeds = replication_seeds(root_sequence(SEED), 0, 1, 5)[0]
    drawn, spare = BANDIT.rewards(seeds, HORIZON), generator(seeds[4])
    tape = drawn if tape is None else tape
    each = delay if isinstance(delay, list) else [delay] * 3
    delays = []
    for arm, one in enumerate(each):
        drawn = one.rvs(HORIZON, spare) if hasattr(one, "rvs") else one(tape[arm]) if callable(one) else one
        delays.append(np.ceil(np.broadcast_to(drawn, HORIZON)))
    starts = range(0, HORIZON, batch) if isinstance(batch, int) else range(HORIZON)
    return naive.play(
        policy,
        lambda arm, t, j: tape[arm, j],
        np.tile(BANDIT.gaps, (HORIZON, 1)),
        HORIZON,
        seeds[3],
        spare,
        delay_of=lambda arm, t, j: delays[arm][j],
        window=window,
        late=late,
        batches=starts,
        ask=ask,
        fewest=fewest,
    )


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_the_inner_game_is_the_undelayed_one_bit_for_bit(name):
    """Whatever the delays: the compiled engine and the naive loop both give the inner policy the undelayed game."""
    spy = Spy(INNER[name])
    simulated(spy)
    undelayed = spy.seen
    assert len(undelayed) == HORIZON
    for called, feedback in FEEDBACK.items():
        policy = db.Queued(spy)
        result = simulated(policy, **feedback)
        seen, queue = spy.seen, naive.Queue()
        pulls, _ = naive_game(db.Queued(INNER[name]), queue, fewest=3, **feedback)
        assert seen == queue.seen, called
        assert result.pulls.values[0, 0].tolist() == pulls.tolist(), called
        if called in IN_ORDER:
            assert seen == undelayed[: len(seen)], called
            assert len(seen) > (100 if called in ("at once", "constant") else 20), called


def test_in_a_plain_simulation_a_queue_changes_nothing():
    plain, queued = (simulated(policy).pulls.values for policy in (db.UCB1(0.5), db.Queued(db.UCB1(0.5))))
    assert plain.tolist() == queued.tolist()


@pytest.mark.parametrize("name", ["constant", "geometric", "heavy", "batches", "lost after a window"])
def test_by_arrival_the_inner_game_is_that_of_the_rewards_in_the_order_of_their_arrival(name):
    spy, queue = Spy(INNER["BinarizedTS"]), naive.Queue()
    policy = db.Queued(spy, order="arrival")
    result = simulated(policy, **FEEDBACK[name])
    seen = spy.seen
    pulls, _ = naive_game(db.Queued(INNER["BinarizedTS"], order="arrival"), queue, fewest=3, **FEEDBACK[name])
    assert seen == queue.seen
    assert result.pulls.values[0, 0].tolist() == pulls.tolist()
    # The same policy without delays, on rewards that come in the order in which they arrived here.
    tape = np.full((3, HORIZON), np.nan)
    for arm in range(3):
        rewards = [x for a, x in seen if a == arm]
        tape[arm, : len(rewards)] = rewards
    other = naive.Queue()
    naive_game(db.Queued(INNER["BinarizedTS"]), other, fewest=3, batch=[1] * HORIZON, tape=np.nan_to_num(tape, nan=0.5))
    assert other.seen[: len(seen)] == seen


@pytest.mark.parametrize("name", FEEDBACK)
def test_pending_pulls_count(name):
    policy = db.CountPending(db.UCB1(0.5))
    pulls, _ = naive_game(policy, naive.asked_with_pending, **FEEDBACK[name])
    assert simulated(policy, **FEEDBACK[name]).pulls.values[0, 0].tolist() == pulls.tolist()
    if name == "at once":
        assert pulls.tolist() == simulated(db.UCB1(0.5)).pulls.values[0, 0].tolist()


@pytest.mark.parametrize(
    "inner",
    [db.UCB1(0.5), *(pytest.param(kind("bernoulli"), marks=pytest.mark.slow) for kind in (db.IMED, db.KLUCB))],
    ids=repr,
)
def test_a_batch_is_spread_over_the_arms(inner):
    """Without it, a deterministic policy repeats one arm; the first batch opens with each arm."""
    settings = {"horizon": 60, "replications": 20, "seed": 1, "record": [20, 60], "batch": [20, 40]}
    arms = db.Bandit([db.Uniform(0.0, 1.0)] * 4)
    plain, spread = (db.simulate(arms, x, **settings).pulls.values[0] for x in (inner, db.CountPending(inner)))
    assert (plain.max(axis=1) >= 45).all()  # 5 in the first batch, 40 in the second
    assert (spread.max(axis=1) < 45).all()
    assert (spread.min(axis=1) > 5).mean() > 0.5


def test_pending_trials_of_a_study_count():
    """Propensities are those of the inner policy with the pending trials counted; abandoned ones are not."""
    policy = db.CountPending(db.UCB1(0.5))
    study, rng = db.create_study("s", arms=["a", "b", "c"], policy=policy, seed=3), np.random.default_rng(1)
    waiting, repeated = [], 0
    for step in range(60):
        frame = study.trials_dataframe()
        known = frame[frame["status"] == "told"]["arm"].unique() if len(frame) else []
        if len(known) == 3:
            counts = frame[frame["status"].isin(["told", "pending"])].groupby("arm").size()
            means = frame[frame["status"] == "told"].groupby("arm")["reward"].mean()
            indices = means + 0.5 * np.sqrt(2 * np.log(counts.sum()) / counts)
            assert study.propensities() == {arm: float(arm == indices.idxmax()) for arm in study.arms}
            repeated += counts.sum() > len(known)
        waiting += study.ask(1 + step % 3)
        report_some(study, waiting, rng, 6, 0.2, lambda: float(rng.random()))
    assert repeated > 20
    assert study.replay().same
    frame = study.trials_dataframe()
    assert (frame["propensity"] == 1.0).all()


def test_a_study_that_is_opened_again_counts_the_same(tmp_path):
    storage, policy = f"sqlite:///{tmp_path}/s.db", db.CountPending(db.UCB1(0.5))
    study = db.create_study("s", arms=["a", "b", "c"], policy=policy, storage=storage, seed=2)
    rng = np.random.default_rng(3)
    for step in range(8):
        for trial in study.ask(5)[:3]:
            study.tell(trial.id, float(rng.random()))
        other = db.load_study("s", storage=storage)
        assert other.propensities() == study.propensities()
        study = other if step % 2 else study
    assert study.replay().same


@pytest.mark.slow  # compiles a game of its own for half a minute
def test_a_floor_leaves_the_counting_to_the_inner_policy():
    """With a tiny floor nothing is forced, so the decisions are the same."""
    inner = db.CountPending(db.UCB1(0.5))
    floored, plain = (simulated(policy, batch=12).pulls.values for policy in (db.Floored(inner, 1e-9), inner))
    assert floored.tolist() == plain.tolist()


def test_live_studies_refuse_queues():
    reason = "'policy' must be a policy with exact propensities: Queued draws a decision once"
    with pytest.raises(db.ArgumentError, match=reason):
        db.create_study("s", arms=["a", "b"], policy=db.Queued(db.UCB1(0.5)), seed=0)


@pytest.mark.parametrize("policy", [db.Queued(db.UCB1(0.5)), db.CountPending(db.UCB1(0.5))], ids=repr)
def test_they_are_sound_and_can_be_stored_and_written(policy):
    db.testing.check_policy(policy)
    assert parse_policy(repr(policy)) == policy
    assert restore(described(policy), None) == policy


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.Queued("UCB1"), r"'policy' must be a policy with compiled verbs.* \(got 'UCB1'\)"),
        (lambda: db.Queued(db.UCB1), "'policy' must be a policy with compiled verbs"),
        (lambda: db.Queued(db.UCB1(1.0), "fifo"), r"'order' must be one of 'pulls', 'arrival' \(got 'fifo'\)"),
        (lambda: db.CountPending(db.RDS()), "'policy' must be a policy of the class UCB1, KLUCB, .* or IMED"),
        (lambda: db.CountPending(db.CountPending(db.UCB1(1.0))), "'policy' must be a policy of the class"),
        (lambda: db.Restarting(db.CountPending(db.KLUCB("bernoulli"))), "'policy' must be one that neither forgets"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(db.ArgumentError, match=message):
        make()
