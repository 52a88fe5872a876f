"""A unit of work: one policy over a range of replications. Its result depends only on the plan."""

import random
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from dirichlet_bandits.arms.sampler import ArmTable, Kind, compiled
from dirichlet_bandits.arms.tapes import ForeignRewards
from dirichlet_bandits.engine.loop import runner
from dirichlet_bandits.engine.run import BAD_REWARD, CANCEL, CANCELED, DONE, STARVED, Outcome, Setup
from dirichlet_bandits.engine.world_loop import Streams, script_runner
from dirichlet_bandits.errors import FormatError, RewardError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.results.layout import Chunk, chunk_size
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.seeding import new_stream, replication_seeds
from dirichlet_bandits.simulation.plan import AnyPolicy, Plan
from dirichlet_bandits.simulation.python_loop import Canceled, PythonPolicy, run_replication
from dirichlet_bandits.simulation.python_world import play_python_script
from dirichlet_bandits.simulation.scripts import ScriptWriter, n_streams
from dirichlet_bandits.types import Floats, Ints, Words
from dirichlet_bandits.worlds import World

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
        plan = self.plan
        policy, n_arms = plan.policies[self.name], len(plan.bandit)
        chunk = Chunk.blank(self.last - self.first, plan.times.size, n_arms)
        outcome = Outcome(*chunk, np.zeros(2))
        world = plan.world
        if world is not None:
            self._play_world(policy, world, outcome)
            return chunk
        seeds = replication_seeds(plan.seed, self.first, self.last, n_arms + 1)
        if not isinstance(policy, Policy):
            self._play_python(policy, seeds, outcome)
        elif (plan.stationary.table.kinds == Kind.FOREIGN).any():
            self._play_foreign(policy, seeds, outcome)
        else:
            self._play_compiled(policy, seeds, plan.stationary.table, outcome)
        return chunk

    def _play_world(self, policy: AnyPolicy, world: World, outcome: Outcome) -> None:
        """Play each replication from its own script."""
        n_arms = len(world)
        seeds = replication_seeds(self.plan.seed, self.first, self.last, n_streams(world))
        setup, decisions = self._setup(policy, np.zeros(n_arms)), new_stream()
        waits = isinstance(policy, Policy) and policy.waits_for_all_arms
        scripts = ScriptWriter(world, self.plan.feedback, self.plan.horizon, waits)
        for row in range(len(seeds)):
            script, spare = scripts.write(seeds[row])
            part = outcome.part(slice(row, row + 1))
            if isinstance(policy, Policy):
                play = script_runner(policy.params)
                streams = Streams(*decisions, spare)
                status = play(policy.params, setup, script, seeds[row, n_arms], streams, self.control, part)
                self._check(policy, status, part)
            else:
                status = play_python_script(policy, setup, script, seeds[row, n_arms], spare, self.control, part)
            if status == CANCELED:
                return

    def _setup(self, policy: AnyPolicy, gaps: Floats) -> Setup:
        """Return what all replications of a policy share in the loop."""
        finite = sys.float_info.max  # an infinite reward is always refused
        low, high = policy.reward_limits if isinstance(policy, Policy) else (-finite, finite)
        return Setup(self.plan.horizon, self.plan.times, gaps, low, high)

    def _play_compiled(self, policy: Policy, seeds: Words, table: ArmTable, outcome: Outcome) -> int:
        """Run the compiled loop and return its status: whether foreign rewards ran out or the unit was canceled."""
        rewards, decisions, setup = new_stream(), new_stream(), self._setup(policy, self.plan.stationary.gaps)
        status = runner(policy.params, self.plan.takes_shortcut(policy))(
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

    def _play_foreign(self, policy: Policy, seeds: Words, outcome: Outcome) -> None:
        """Draw rewards in advance; if they do not last, draw twice as many and start the replication again."""
        for row in range(len(seeds)):
            foreign = ForeignRewards(self.plan.stationary, seeds[row])
            part = outcome.part(slice(row, row + 1))
            while self._play_compiled(policy, seeds[row : row + 1], foreign.more(), part) == STARVED:
                pass
            if self.control[CANCEL]:
                return

    def _play_python(self, policy: PythonPolicy, seeds: Words, outcome: Outcome) -> None:
        """Play a policy that is a plain Python class, replication by replication."""
        bandit = self.plan.stationary
        setup = self._setup(policy, bandit.gaps)
        for row in range(len(seeds)):
            try:
                played = run_replication(policy, bandit, setup, seeds[row], self.control)
            except Canceled:
                return
            outcome.regret[row], outcome.pulls[row], outcome.reward[row] = played
            self.control[DONE] += 1


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
