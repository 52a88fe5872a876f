"""Certificates of Dirichlet Sampling are computed where they pay: work is counted, not timed."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.history import reserve
from dirichlet_bandits.engine.loop import opening
from dirichlet_bandits.engine.run import Setup, ended, start
from dirichlet_bandits.environments.sampler import compiled
from dirichlet_bandits.policies.dirichlet.fast import Position, new_challengers, play_rounds
from dirichlet_bandits.seeding import new_stream, replication_seeds, root_sequence

POLICIES = [db.RDS(), db.QDS(2, 0.5)]


@jit
def play(policy, setup, table, seeds, reward_rng, reward_words, rng, control):
    """Play one game, and return what is known of the challengers in the end."""
    run = start(setup, table, seeds, reward_rng, reward_words, control)
    state = opening(policy, verbs.init(policy, table.kinds.size), run, rng)
    challengers, position = new_challengers(table.kinds.size), Position(0, 0, True)
    while not ended(run.progress):
        position, n_pulled = play_rounds(policy, state, run, challengers, position, rng)
        for arm in challengers.winners[:n_pulled]:
            state = reserve(state, arm, 1)
    return challengers.notes


def notes_after(policy, arms, horizon):
    bandit = db.Bandit(arms)
    setup = Setup(horizon, np.array([horizon]), bandit.gaps_over(1), -1e100, 1e100)
    seeds = replication_seeds(root_sequence(3), 0, 1, len(arms) + 1)[0]
    control = np.zeros(2, np.int64)
    rng = np.random.default_rng(1)
    return play(policy.params, setup, compiled(bandit.table), seeds, *new_stream(), rng, control)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_arms_that_do_not_settle_get_few_certificates(policy):
    """Fifty equal arms, twenty pulls each: a certificate would end before it has spared as many duels as it costs."""
    notes = notes_after(policy, [db.Beta(2, 2)] * 50, 1000)
    assert (notes["width"] > 0).sum() <= 5


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_arms_that_settle_get_certificates(policy):
    notes = notes_after(policy, [db.Beta(2, 8), db.Beta(2, 4), db.Beta(6, 2)], 5000)
    assert (notes["width"] > 0).sum() >= 2
