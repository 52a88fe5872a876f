"""The plain loop, and the compiled chunk of replications around it or around a policy's own way to play."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, overload, shared, types
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.run import (
    RUNNING,
    Outcome,
    Run,
    Setup,
    ended,
    finish,
    pull,
    pull_alone,
    start,
    status,
)
from dirichlet_bandits.engine.tally import unpulled
from dirichlet_bandits.environments.sampler import ArmTable
from dirichlet_bandits.seeding import Stream, start_stream
from dirichlet_bandits.types import Ints, Words


def as_round(chosen: Any, single: Ints) -> Any:
    """Return the result of ``select`` as an array; a single arm, as from an index policy, is written to ``single``."""


@overload(as_round)
def _as_round(chosen, single):  # type: ignore[no-untyped-def]
    if not isinstance(chosen, types.Integer):
        return lambda chosen, single: chosen

    def alone(chosen, single):  # type: ignore[no-untyped-def]
        single[0] = chosen
        return single

    return alone


@jit
def next_round(policy: Any, state: Any, rng: np.random.Generator) -> Ints:
    """Return the arms to pull next: those never pulled, in random order, or else what the policy selects."""
    arms = unpulled(state.pulls, rng)
    if arms.size == 0:
        arms = as_round(verbs.select(policy, state, rng), np.empty(1, np.int64))
    return arms


@functools.partial(shared, sources_of=verbs.policy_sources)
def plain(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Run the plain loop: select arms, pull the arms of the round, update the policy with the rewards."""
    state, run, rng = borrowed(state), borrowed(run), borrowed(rng)
    single = np.empty(1, np.int64)
    while not ended(run.progress):
        for arm in as_round(verbs.select(policy, state, rng), single):
            if ended(run.progress):
                break
            reward = pull(run, arm)
            state = verbs.update(policy, state, arm, reward, rng)


verbs.implements(verbs.play)(plain)


@functools.partial(shared, sources_of=verbs.policy_sources)
def opening(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> Any:
    """Pull every arm once, in random order."""
    run = borrowed(run)
    for arm in unpulled(run.pulls, rng):
        reward = pull_alone(run, arm)
        if status(run.progress) != RUNNING:
            break
        state = verbs.update(policy, state, arm, reward, rng)
    return state


@functools.partial(shared, sources_of=verbs.policy_sources)
def play_on(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Let the policy play its own way to the horizon; the caller owns the state, the run and the generator.

    The verb is compiled into this function so that LLVM sees that no references are counted in it.
    """
    verbs.play(policy, borrowed(state), borrowed(run), borrowed(rng))


@functools.cache
def chunk_of(shortcut: bool) -> Callable[..., int]:
    """Return the function, to be compiled, that plays a chunk of replications by a shortcut or by the plain loop."""

    def play_chunk(
        policy: Any,
        setup: Setup,
        table: ArmTable,
        seeds: Words,
        rewards: Stream,
        decisions: Stream,
        control: Ints,
        outcome: Outcome,
    ) -> int:
        n_arms, rng = table.kinds.size, decisions.rng
        for replication in range(seeds.shape[0]):
            run = start(setup, table, seeds[replication], rewards.rng, rewards.words, control)
            start_stream(rng, decisions.words, seeds[replication, n_arms])
            state = opening(policy, verbs.init(policy, n_arms), run, rng)
            if shortcut:
                play_on(policy, state, run, rng)
            else:
                plain(policy, state, run, rng)
            finish(run, outcome, replication)
            if status(run.progress) != RUNNING:
                return status(run.progress)
        return RUNNING

    play_chunk.__name__ = "play_chunk_by_shortcut" if shortcut else "play_chunk_plainly"
    return play_chunk


def runner(params: Any, shortcut: bool) -> Callable[..., int]:
    """Return the compiled chunk of replications for policies with parameters of this type.

    A policy without a shortcut has one function for both ways to play: the plain loop.
    """
    return verbs.specialized(chunk_of(shortcut or not verbs.has_own(verbs.play, params)), params)
