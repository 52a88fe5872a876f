"""One replication: pull, record, until the horizon. The plain loop, and the compiled runner around it."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.arms.sampler import ArmTable, Floats, Ints
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.base import keeper
from dirichlet_bandits.policies.rounds import as_round
from dirichlet_bandits.policies.tally import unpulled
from dirichlet_bandits.seeding import Words, seat
from dirichlet_bandits.simulation.rewards import Source, Stock, next_reward, open_source

RUNNING, CANCELLED, BAD_REWARD, STARVED = range(4)  # what became of a replication
DONE, CANCEL = range(2)  # the words of a control: replications done so far; somebody asks to stop
_CLOCK, _SLOT, _STATUS = range(3)


class Problem(NamedTuple):
    """What all replications share: when to stop, when to record, what pulls cost, which rewards are allowed."""

    horizon: int
    times: Ints
    gaps: Floats
    low: float
    high: float


class Run(NamedTuple):
    """One replication under way. ``marks`` holds the clock, the next slot to record, and the status."""

    problem: Problem
    source: Source
    control: Ints
    marks: Ints
    pulls: Ints
    reward: Floats
    regret: Floats
    offender: Floats


@jit
def over(run: Run) -> bool:
    """Whether the horizon has been reached, or something went wrong."""
    return run.marks[_CLOCK] >= run.problem.horizon or run.marks[_STATUS] != RUNNING


@jit
def pull(run: Run, arm: int) -> float:
    """Draw the arm's next reward, check it, count it, and record the regret when its time has come."""
    reward = next_reward(run.source, arm)
    if not run.problem.low <= reward <= run.problem.high:
        run.marks[_STATUS] = STARVED if math.isnan(reward) else BAD_REWARD
        run.offender[0], run.offender[1] = arm, reward
        return reward
    if run.control[CANCEL]:
        run.marks[_STATUS] = CANCELLED
    run.pulls[arm] += 1
    run.reward[0] += reward
    clock = run.marks[_CLOCK] + 1
    run.marks[_CLOCK] = clock
    slot = run.marks[_SLOT]
    if clock == run.problem.times[slot]:
        run.regret[slot] = np.dot(run.problem.gaps, run.pulls.astype(np.float64))
        run.marks[_SLOT] = min(slot + 1, run.problem.times.size - 1)
    return reward


@jit
def plain(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """The straight loop: ask the policy, pull the round's arms, tell it the rewards."""
    while not over(run):
        for arm in as_round(verbs.select(policy, state, rng)):
            if over(run):
                break
            reward = pull(run, arm)
            state = verbs.update(policy, state, arm, reward, rng)


verbs.implements(verbs.play)(plain)


@jit
def opening(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> Any:
    """Every arm once, in random order."""
    for arm in unpulled(run.pulls, rng):
        reward = pull(run, arm)
        if over(run):
            break
        state = verbs.update(policy, state, arm, reward, rng)
    return state


class Outcome(NamedTuple):
    """Where a chunk of replications writes: a row each."""

    regret: Floats
    pulls: Ints
    reward: Floats

    def part(self, where: Any) -> "Outcome":
        """A window on some of the rows."""
        return Outcome(self.regret[where], self.pulls[where], self.reward[where])


@functools.cache
def runner(policy_type: type, fast: bool) -> Callable[..., int]:
    """The compiled chunk of replications for one policy type, with its own ``play`` or the plain loop."""
    stamp = verbs.stamp(policy_type)

    @keeper(policy_type)
    def run_chunk(
        policy: Any,
        problem: Problem,
        table: ArmTable,
        stock: Stock,
        seeds: Words,
        reward_rng: np.random.Generator,
        reward_words: Words,
        rng: np.random.Generator,
        words: Words,
        control: Ints,
        outcome: Outcome,
        offender: Floats,
    ) -> int:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        n_arms = table.kinds.size
        for replication in range(seeds.shape[0]):
            source = open_source(table, stock, reward_rng, reward_words, seeds[replication])
            seat(rng, words, seeds[replication, n_arms])
            run = Run(
                problem,
                source,
                control,
                np.zeros(3, np.int64),
                np.zeros(n_arms, np.int64),
                np.zeros(1),
                np.empty(problem.times.size),
                offender,
            )
            state = opening(policy, verbs.init(policy, n_arms), run, rng)
            if fast:
                verbs.play(policy, state, run, rng)
            else:
                plain(policy, state, run, rng)
            if run.marks[_STATUS] != RUNNING:
                return run.marks[_STATUS]
            outcome.regret[replication] = run.regret
            outcome.pulls[replication] = run.pulls
            outcome.reward[replication] = run.reward[0]
            control[DONE] += 1
        return RUNNING

    return run_chunk
