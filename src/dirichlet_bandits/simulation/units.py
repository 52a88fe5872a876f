"""A unit of work: one policy over a range of replications. Its result depends only on the plan."""

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dirichlet_bandits.engine.loop import Script, Streams, runner, script_runner
from dirichlet_bandits.engine.run import BAD_REWARD, CANCEL, CANCELED, DONE, RUNNING, STARVED, Outcome, Setup
from dirichlet_bandits.environments.bandit import Bandit, ForeignRewards
from dirichlet_bandits.environments.environment import checked_rewards
from dirichlet_bandits.environments.sampler import N_PARAMETERS, ArmTable, Kind, compiled
from dirichlet_bandits.errors import FormatError, RewardError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.results.layout import Chunk, chunk_size
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.seeding import generator, new_stream, replication_seeds
from dirichlet_bandits.simulation.plan import AnyPolicy, Plan
from dirichlet_bandits.simulation.python_loop import play_script
from dirichlet_bandits.types import Floats, Ints, Words

_UNITS_PER_WORKER = 8  # of each policy: small enough to share evenly, large enough to start rarely


@dataclass
class Unit:
    """Replications ``first`` to ``last`` (exclusive) of the policy in this row; may be sent to another process."""

    plan: Plan
    store: Store | None
    name: str
    row: int
    first: int
    last: int
    control: Ints = field(default_factory=lambda: np.zeros(2, np.int64))

    @property
    def done(self) -> int:
        """The number of replications finished so far; it may be read while the unit runs in this process."""
        return int(self.control[DONE])

    def complete(self) -> None:
        """Record that the whole unit is done, here or elsewhere."""
        self.control[DONE] = self.last - self.first

    def cancel(self) -> None:
        """Stop soon; finished replications stay."""
        self.control[CANCEL] = 1

    def run(self) -> Chunk | None:
        """Run the unit and return its replications, blank after a cancellation; None if they are in the store."""
        store = self.store
        self.control[DONE] = 0  # an earlier try may have failed
        if store is not None and self._finished(store):
            return None
        started = time.thread_time()
        chunk = self._play()
        if store is None:
            return chunk
        if self.done == self.last - self.first:
            store.write(self.row, self.first, chunk, time.thread_time() - started)
        return None

    def _finished(self, store: Store) -> bool:
        """Whether an earlier run or another process has already done this unit."""
        try:
            return store.finished(self.row, self.first, self.last)
        except FileNotFoundError as error:
            raise FormatError(f"{error} as seen by a worker: all workers must see the same place") from error

    def _play(self) -> Chunk:
        """Simulate the replications of this unit with the loop that fits the policy and the distributions."""
        plan, policy = self.plan, self.plan.policies[self.name]
        environment = plan.bandit
        chunk = Chunk.blank(self.last - self.first, plan.times.size, len(environment))
        outcome = Outcome(*chunk, np.zeros(2))
        seeds = replication_seeds(plan.seed, self.first, self.last, environment.n_streams() + 2)
        if not plan.plain or not isinstance(policy, Policy):
            self._play_scripts(policy, seeds, outcome)
        else:
            self._play_plain(policy, Bandit.checked(environment), seeds, outcome)
        return chunk

    def _play_scripts(self, policy: AnyPolicy, seeds: Words, outcome: Outcome) -> None:
        """Play each replication from rewards that are drawn in advance."""
        setup, decisions, write = self._setup(policy), new_stream(), script_writer(self.plan, policy)
        for row in range(len(seeds)):
            tape, script, spare = write(seeds[row])
            part, status = outcome.part(slice(row, row + 1)), RUNNING
            if isinstance(policy, Policy):
                table, streams = tape_table(tape), Streams(*decisions, spare)
                play = script_runner(policy.params)
                status = play(policy.params, setup, table, script, seeds[row], streams, self.control, part)
                self._check(policy, status, part)
            else:
                generators = generator(seeds[row, len(tape)]), spare
                status = play_script(policy, setup, tape, script, generators, self.control, part)
            if status == CANCELED:
                return

    def _setup(self, policy: AnyPolicy) -> Setup:
        """Return what all replications of a policy share in the loop."""
        finite = sys.float_info.max  # an infinite reward is always refused
        low, high = policy.reward_limits if isinstance(policy, Policy) else (-finite, finite)
        gaps = self.plan.bandit.gaps_over(1 if self.plan.plain else self.plan.horizon)
        return Setup(self.plan.horizon, self.plan.times, gaps, low, high)

    def _play_compiled(self, policy: Policy, seeds: Words, table: ArmTable, outcome: Outcome) -> int:
        """Run the compiled loop and return its status: whether foreign rewards ran out or the unit was canceled."""
        rewards, decisions, setup = new_stream(), new_stream(), self._setup(policy)
        status = runner(policy.params, self.plan.shortcuts)(
            policy.params, setup, compiled(table), seeds, rewards, decisions, self.control, outcome
        )
        self._check(policy, status, outcome)
        return status

    def _check(self, policy: Policy, status: int, outcome: Outcome) -> None:
        """Raise an error for a reward that the policy does not accept."""
        if status == BAD_REWARD:
            arm, reward = self.plan.bandit.names[int(outcome.offence[0])], float(outcome.offence[1])
            try:
                policy.check_reward(reward)
            except RewardError as error:
                raise RewardError(f"arm {arm!r}: {error}") from None

    def _play_plain(self, policy: Policy, bandit: Bandit, seeds: Words, outcome: Outcome) -> None:
        """Draw the rewards of foreign distributions in advance, and start a replication again if they do not last."""
        if (bandit.table.kinds != Kind.FOREIGN).all():
            self._play_compiled(policy, seeds, bandit.table, outcome)
            return
        for row in range(len(seeds)):
            foreign = ForeignRewards(bandit, seeds[row])
            part = outcome.part(slice(row, row + 1))
            while self._play_compiled(policy, seeds[row : row + 1], foreign.more(), part) == STARVED:
                pass
            if self.control[CANCEL]:
                return


def tape_table(tape: Floats) -> ArmTable:
    """Return the table of arms whose rewards are the rows of an array."""
    n_arms, length = tape.shape
    kinds, first = np.zeros(n_arms, np.int64), length * np.arange(n_arms)
    return ArmTable(kinds, np.zeros((n_arms, N_PARAMETERS)), first, first + length, tape.ravel())


def script_writer(plan: Plan, policy: AnyPolicy) -> Callable[[Words], tuple[Floats, Script, np.random.Generator]]:
    """Return a function of the seeds of a replication: its rewards, its script and a generator for other randomness."""
    environment, feedback, horizon = plan.bandit, plan.feedback, plan.horizon
    n_arms = len(environment)
    window = horizon if feedback.window is None else feedback.window
    batches = range(horizon) if feedback.batches is None else feedback.batches
    fewest = n_arms if isinstance(policy, Policy) and policy.waits_for_all_arms else 2
    at_once = Script(
        environment.indexed_by == "time",
        environment.drift(horizon),
        np.array([*environment.starts(horizon), horizon]),
        np.empty((n_arms, 0), np.int64),
        window,
        feedback.late,
        np.array([*batches, horizon]),
        fewest,
    )

    def write(seeds: Words) -> tuple[Floats, Script, np.random.Generator]:
        tape = checked_rewards(environment, np.delete(seeds, [n_arms, n_arms + 1], axis=0), horizon)
        spare, script = generator(seeds[n_arms + 1]), at_once
        if any(delay != 0 for delay in feedback.delays):
            script = script._replace(delays=feedback.delays_of(tape, spare))
        return tape, script, spare

    return write


def units_of(plan: Plan, store: Store | None, threads: int | None) -> list[Unit]:
    """Return the units of a plan: the chunks of its store, or units that share the work evenly among threads."""
    size = chunk_size(plan.replications)
    if store is None and threads is not None:
        size = max(1, min(size, plan.replications // (_UNITS_PER_WORKER * threads)))
    units = [
        Unit(plan, store, name, row, first, min(first + size, plan.replications))
        for first in range(0, plan.replications, size)
        for row, name in enumerate(plan.policies)
    ]
    if store is not None:
        random.Random().shuffle(units)  # processes that share the store begin at different ends
    return units
