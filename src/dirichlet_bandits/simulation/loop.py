"""The plain loop, and the compiled runner around it or around a policy's own way to play."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dirichlet_bandits.arms.sampler import ArmTable, Ints
from dirichlet_bandits.numerics.jit import borrowed, jit
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.base import keeper
from dirichlet_bandits.policies.rounds import as_round
from dirichlet_bandits.policies.tally import unpulled
from dirichlet_bandits.seeding import Words, seat
from dirichlet_bandits.simulation.run import (
    RUNNING,
    Outcome,
    Problem,
    Run,
    drained,
    draw,
    ended,
    finish,
    pull,
    record,
    refill,
    start,
    status,
)


@jit
def plain(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """The straight loop: ask the policy, pull the round's arms, tell it the rewards."""
    buffer, stock, times, marks, sums, pulls = run.buffer, run.stock, run.times, run.marks, run.sums, run.pulls
    desk = np.empty(1, np.int64)
    while not ended(marks):
        for arm in as_round(verbs.select(policy, state, rng), desk):
            if ended(marks):
                break
            if drained(stock, arm):
                refill(run, arm)
            reward, due = draw(buffer, stock, times, marks, sums, pulls, arm)
            if due:
                record(run)
            state = verbs.update(policy, state, arm, reward, rng)


verbs.implements(verbs.play)(plain)


@jit
def opening(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> Any:
    """Every arm once, in random order."""
    for arm in unpulled(run.pulls, rng):
        reward = pull(run, arm)
        if status(run) != RUNNING:
            break
        state = verbs.update(policy, state, arm, reward, rng)
    return state


@jit
def play_on(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """The policy's own way to play from here to the horizon."""
    verbs.play(policy, borrowed(state), borrowed(run), borrowed(rng))


@functools.cache
def runner(policy_type: type, fast: bool) -> Callable[..., int]:
    """The compiled chunk of replications for one policy type, with its own ``play`` or the plain loop."""
    stamp = verbs.stamp(policy_type)

    @keeper(policy_type)
    def run_chunk(
        policy: Any,
        problem: Problem,
        table: ArmTable,
        seeds: Words,
        reward_rng: np.random.Generator,
        reward_words: Words,
        rng: np.random.Generator,
        words: Words,
        control: Ints,
        outcome: Outcome,
    ) -> int:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        n_arms = table.kinds.size
        for replication in range(seeds.shape[0]):
            run = start(problem, table, seeds[replication], reward_rng, reward_words, control)
            seat(rng, words, seeds[replication, n_arms])
            state = opening(policy, verbs.init(policy, n_arms), run, rng)
            if fast:
                play_on(policy, state, run, rng)
            else:
                plain(policy, state, run, rng)
            finish(run, outcome, replication)
            if status(run) != RUNNING:
                return status(run)
        return RUNNING

    return run_chunk
