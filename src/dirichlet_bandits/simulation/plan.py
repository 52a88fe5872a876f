"""The plan of a simulation: everything that determines its numbers, checked before anything runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.environments.environment import Environment, checked_values
from dirichlet_bandits.environments.feedback import AT_ONCE, Feedback, make_feedback
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.written import as_policies
from dirichlet_bandits.seeding import Seed, root_sequence
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.types import Ints
from dirichlet_bandits.validation import large_count, whole_number

AnyPolicy = Policy | PythonPolicy
Policies = Mapping[str, AnyPolicy | str] | Sequence[AnyPolicy | str] | AnyPolicy | str
"""One policy, several, or several by name; each given as such or as a text."""


@dataclass(frozen=True)
class Plan:
    """The plan of a simulation. Equal plans give equal numbers, so a store identifies a simulation by its fields.

    ``called`` is the name of a field in error messages. A plan can be pickled if its distributions and policies can.
    """

    seed: np.random.SeedSequence
    horizon: int
    replications: int
    times: Ints = field(metadata={"called": "recorded times"})
    policies: Mapping[str, AnyPolicy]
    bandit: Environment
    fast: bool = field(metadata={"called": "value of 'fast'"})
    feedback: Feedback

    @property
    def plain(self) -> bool:
        """Whether nothing changes and each reward is known before the next decision."""
        return self.bandit.still and self.feedback.immediate

    @property
    def shortcuts(self) -> bool:
        """Whether policies use their shortcuts: these are allowed, and as exact as the plain loop."""
        return self.fast and self.plain


def make_plan(
    bandit: Environment,
    policies: Policies,
    *,
    horizon: int,
    replications: int,
    seed: Seed,
    record: int | ArrayLike,
    fast: bool,
    feedback: Mapping[str, Any] = AT_ONCE,
) -> Plan:
    """Check the arguments of :func:`simulate`, and return its plan; ``feedback`` has those of :func:`make_feedback`."""
    named, bandit = _named(policies), Environment.checked(bandit)
    horizon = large_count("horizon", horizon, at_least=len(bandit))
    replications = large_count("replications", replications, at_least=1)
    times = _times(record, horizon)
    answers = make_feedback(**feedback, horizon=horizon, n_arms=len(bandit))
    starts = bandit.starts(horizon)[1:]
    if np.ndim(record) == 0:  # curves bend where the arms change
        times = np.union1d(times, [*starts, *(first + 1 for first in starts)]).astype(np.int64)
    if answers.depends_on_rewards and bandit.drift(horizon).size:
        raise ArgumentError("delay", "a number or a distribution if the means drift", feedback["delay"])
    bandit = bandit.until(horizon)
    if not bandit.still:
        checked_values(bandit, horizon)
    for name, policy in named.items():
        if isinstance(policy, Policy):
            _check_support(name, policy, bandit, horizon)
            _check_late(name, policy, answers)
            policy.check_arms(len(bandit))
    return Plan(root_sequence(seed), horizon, replications, times, named, bandit, bool(fast), answers)


def _named(policies: Policies) -> dict[str, AnyPolicy]:
    """Return the policies by name, and refuse objects that are not policies."""
    named = as_policies(policies)
    if not named:
        raise ArgumentError("policies", "at least one policy", policies)
    for name, policy in named.items():
        if isinstance(policy, type) or not isinstance(policy, Policy | PythonPolicy):
            raise ArgumentError(
                f"policies[{name!r}]",
                "a policy, or an object with select(rng) and update(arm, reward)",
                policy,
            )
    return named


def _times(record: int | ArrayLike, horizon: int) -> Ints:
    """Return the pull counts to record at: half spaced evenly on a log scale, half on a linear one, and the horizon."""
    if np.ndim(record) == 0:
        n = whole_number("record", record, at_least=1)
        log = np.geomspace(1, horizon, (n + 1) // 2 + 1)
        linear = np.linspace(1, horizon, n // 2 + 1)
        return np.unique(np.concatenate([log, linear, [horizon]]).round().astype(np.int64))
    times = np.unique(np.asarray(record))
    if times.size == 0 or times.dtype.kind not in "iu" or times[0] < 1 or times[-1] > horizon:
        raise ArgumentError("record", f"a number of points, or pull counts from 1 to the horizon {horizon}", record)
    return np.union1d(times, [horizon]).astype(np.int64)


def _check_late(name: str, policy: Policy, feedback: Feedback) -> None:
    """Refuse a reward in place of late ones that is outside the bounds of a policy."""
    low, high = policy.reward_bounds
    if feedback.late < low or feedback.late > high:  # false for NaN, which is never reported
        expected = f"'abandon', or a reward in [{low:g}, {high:g}], the bounds of policies[{name!r}]"
        raise ArgumentError("late", expected, feedback.late)


def _check_support(name: str, policy: Policy, bandit: Environment, horizon: int) -> None:
    """Refuse a policy that declares bounds if an arm is known to exceed them."""
    supports = {"the support of this environment": bandit.support(horizon)}
    if bandit.still:  # a reward of an arm that does not declare a support is checked when it comes
        laws = bandit.laws(horizon).items()
        supports = {f"the support of {arm}": law.support() for arm, law in laws if hasattr(law, "support")}
    low, high = policy.reward_bounds
    for whose, (bottom, top) in supports.items():
        if bottom < low or top > high:
            expected = f"fit for rewards in [{bottom:g}, {top:g}], {whose}, but its own bounds are [{low:g}, {high:g}]"
            if not bandit.still and math.inf in (-bottom, top):
                expected += "; give a distribution of your own a method support(), which returns its bounds"
            raise ArgumentError(f"policies[{name!r}]", expected, policy)
