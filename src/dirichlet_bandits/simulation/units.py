"""A unit of work: one policy over a range of replications. Its result depends on nothing but the seed."""

from dataclasses import dataclass, field

import numpy as np

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.arms.sampler import FOREIGN, ArmTable, Ints
from dirichlet_bandits.errors import RewardError
from dirichlet_bandits.policies.base import Policy
from dirichlet_bandits.seeding import Words, new_desk, stream_seeds
from dirichlet_bandits.simulation.foreign import ForeignRewards
from dirichlet_bandits.simulation.loop import runner
from dirichlet_bandits.simulation.python_loop import Cancelled, PythonPolicy, run_replication
from dirichlet_bandits.simulation.run import BAD_REWARD, CANCEL, DONE, STARVED, Outcome, Problem


@dataclass
class Unit:
    """Replications ``first`` to ``last`` (exclusive) of one policy, written to ``outcome``, a row each."""

    bandit: Bandit
    policy: Policy | PythonPolicy
    problem: Problem
    root: np.random.SeedSequence
    first: int
    last: int
    outcome: Outcome
    fast: bool = True
    control: Ints = field(default_factory=lambda: np.zeros(2, np.int64))

    @property
    def done(self) -> int:
        """Replications finished so far; may be read while the unit runs."""
        return int(self.control[DONE])

    def cancel(self) -> None:
        """Stop soon; finished replications stay."""
        self.control[CANCEL] = 1

    def run(self) -> None:
        """Run the replications, unless cancelled."""
        if self.control[CANCEL]:
            return
        seeds = np.stack([self._seeds(replication) for replication in range(self.first, self.last)])
        if not isinstance(self.policy, Policy):
            self._run_python(self.policy, seeds)
        elif (self.bandit.table.kinds == FOREIGN).any():
            self._run_foreign(self.policy, seeds)
        else:
            self._run_compiled(self.policy, seeds, self.bandit.table, self.outcome)

    def _seeds(self, replication: int) -> Words:
        return stream_seeds(self.root, replication, len(self.bandit) + 1)

    def _run_compiled(self, policy: Policy, seeds: Words, table: ArmTable, outcome: Outcome) -> int:
        rewards, decisions = new_desk(), new_desk()
        status = runner(type(policy.params), self.fast)(
            policy.params, self.problem, table, seeds, *rewards, *decisions, self.control, outcome
        )
        if status == BAD_REWARD:
            arm, reward = self.bandit.names[int(outcome.offence[0])], float(outcome.offence[1])
            try:
                policy.check_reward(reward)
            except RewardError as error:
                raise RewardError(f"arm {arm!r}: {error}") from None
        return status

    def _run_foreign(self, policy: Policy, seeds: Words) -> None:
        """Draw rewards in advance; if they do not last, draw twice as many and start the replication again."""
        for row in range(len(seeds)):
            foreign = ForeignRewards(self.bandit, seeds[row])
            outcome = self.outcome.part(slice(row, row + 1))
            while self._run_compiled(policy, seeds[row : row + 1], foreign.more(), outcome) == STARVED:
                pass
            if self.control[CANCEL]:
                return

    def _run_python(self, policy: PythonPolicy, seeds: Words) -> None:
        for row in range(len(seeds)):
            try:
                regret, pulls, reward = run_replication(policy, self.bandit, self.problem, seeds[row], self.control)
            except Cancelled:
                return
            self.outcome.regret[row], self.outcome.pulls[row], self.outcome.reward[row] = (
                regret,
                pulls,
                reward,
            )
            self.control[DONE] += 1
