"""Floors under a policy's decisions, so that every arm is pulled with at least a given probability.

With probability sum_j f_j, the policy does not decide; instead, a single arm is pulled, arm i with probability f_i.
Otherwise, the policy decides. If p_i is the probability that arm i is in the policy's next round, then it is in the
next round with probability f_i + (1 - sum_j f_j) p_i. Simulations and live studies share this formula and the draw.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.engine.tally import unpulled
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.propensity import IncrementalPropensities, propensities, state_propensities
from dirichlet_bandits.policies.registry import AroundAny, register
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import number_between


def mixed(own: Floats, floors: Floats) -> Floats:
    """Return the probability that each arm is in the next round, from the policy's own probabilities and the floors.

    >>> import numpy as np
    >>> mixed(np.array([0.0, 1.0]), np.array([0.1, 0.1])).round(6)
    array([0.1, 0.9])
    """
    return floors + max(1.0 - float(floors.sum()), 0.0) * own


@jit
def forced_arm(floors: Floats, uniform: float) -> int:
    """Return the arm to pull alone, or -1 if the policy decides; ``uniform`` is drawn from [0, 1).

    >>> import numpy as np
    >>> [forced_arm.py_func(np.array([0.2, 0.1]), u) for u in (0.19, 0.2, 0.31)]
    [0, 1, -1]
    """
    reached = 0.0
    for arm in range(floors.size):
        reached += floors[arm]
        if uniform < reached:
            return arm
    return -1


class FlooredParams(NamedTuple):
    """Parameters of the inner policy, and the floor: the probability with which a decision pulls a given arm alone."""

    inner: Any
    floor: float


@dataclass(frozen=True)
class Floored(AroundAny):
    """A wrapper around another policy that pulls every arm with probability at least ``floor``.

    With K arms, a decision pulls a single arm, drawn uniformly at random, with probability K floor. Otherwise, the
    inner policy decides. So arm i is in the next round with probability

        floor + (1 - K floor) p_i,

    where p_i is its probability under the inner policy. The inner policy learns from all rewards. In a live study, use
    ``create_study(..., floor=0.1)`` for the same floor; this wrapper shows in simulations what the floor costs. The
    floor is at most 1 / K; larger floors are refused when the number of arms is known. There is no shortcut, so the
    plain loop runs.

    >>> from dirichlet_bandits import NPTS
    >>> Floored(NPTS(upper=1.0), floor=0.1)
    Floored(policy=NPTS(upper=1.0), floor=0.1)
    >>> Floored(NPTS(upper=1.0), floor=0.3).check_arms(4)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'floor' must be at most 1 / 4, with 4 arms (got 0.3)

    Reference: Degenne, Nedelec, Calauzènes and Perchet, Bridging the gap between regret minimization and best arm
    identification, AISTATS 2019, on why a policy with small regret does not by itself identify the best arm with
    confidence.
    """

    floor: float
    assumes: ClassVar[str] = "what the inner policy assumes"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Degenne et al. (2019)"
    wraps: ClassVar[tuple[str, ...]] = ("ThompsonSampling", "RDS", "NPTS")
    example_parameters: ClassVar = {"floor": 0.1}

    def __post_init__(self) -> None:
        super().__post_init__()
        number_between("floor", self.floor, 0, 1)

    def check_arms(self, n_arms: int) -> None:
        """Refuse a floor above 1 / K, which K arms cannot all have."""
        if self.floor * n_arms > 1.0 + 1e-9:
            raise ArgumentError("floor", f"at most 1 / {n_arms}, with {n_arms} arms", self.floor)
        super().check_arms(n_arms)

    @property
    def params(self) -> FlooredParams:
        return FlooredParams(self.policy.params, float(self.floor))

    def check_reward(self, reward: float) -> None:
        """Refuse any reward that the inner policy refuses."""
        self.policy.check_reward(reward)


@implements(verbs.init, FlooredParams, forwards=True)
def init_inner(policy: FlooredParams, n_arms: int) -> Any:
    """Return the initial state of the inner policy."""
    return verbs.init(policy.inner, n_arms)


@implements(verbs.update, FlooredParams, forwards=True)
def update_inner(policy: FlooredParams, state: Any, arm: int, reward: float, rng: np.random.Generator) -> Any:
    """Update the inner policy, which learns from all rewards."""
    return verbs.update(policy.inner, state, arm, reward, rng)


@implements(verbs.note, FlooredParams, forwards=True)
def note_inner(policy: FlooredParams, state: Any, decision: int, now: int) -> None:
    """Pass the number of the decision and the time on to the inner policy."""
    verbs.note(policy.inner, state, decision, now)


@implements(verbs.prepare, FlooredParams, forwards=True)
def prepare_inner(policy: FlooredParams, state: Any, waiting: Ints, earliest: Ints, rng: np.random.Generator) -> Any:
    """Pass the outstanding rewards on to the inner policy."""
    return verbs.prepare(policy.inner, state, waiting, earliest, rng)


@implements(verbs.select, FlooredParams)
def force_or_ask(policy: FlooredParams, state: Any, rng: np.random.Generator) -> Ints:
    """Return one arm forced by the floor, or the inner policy's selection; arms without rewards come first."""
    arms = unpulled(state.pulls, rng)
    if arms.size == 0:
        forced = forced_arm(np.full(state.pulls.size, policy.floor), rng.random())
        if forced >= 0:
            arms = np.full(1, forced)
        else:
            arms = as_round(verbs.select(policy.inner, state, rng), np.empty(1, np.int64))
    return arms


def floored_propensities(policy: Floored, state: Any) -> Floats:
    """Return floor + (1 - K floor) p, where p are the propensities of the inner policy."""
    return _mixed(policy, state_propensities(policy.policy, state))


def floored_from_histories(policy: Floored, histories: list[Floats]) -> Floats:
    """Return the propensities with the floor for given rewards."""
    return _mixed(policy, propensities(policy.policy, histories))


class IncrementalFloored:
    """Propensities with the floor, at the same cost as those of the inner policy."""

    def __init__(self, policy: Any, n_arms: int) -> None:
        self._policy = policy
        self._inner = IncrementalPropensities(policy.policy, n_arms)

    def propensities(self, state: Any) -> Floats:
        """Return the propensities with the floor from those of the inner policy."""
        return _mixed(self._policy, self._inner.propensities(state))

    def without_compiling(self, state: Any) -> Floats | None:
        """Return the same, or None if this would compile something."""
        own = self._inner.without_compiling(state)
        return None if own is None else _mixed(self._policy, own)


def _mixed(policy: Floored, own: Floats) -> Floats:
    return mixed(own, np.full(own.size, float(policy.floor)))


register(
    Floored, probability=floored_propensities, from_histories=floored_from_histories, incremental=IncrementalFloored
)
