"""One keeper for every policy: it finds out what can be kept."""

from typing import Any

import numpy as np

from dirichlet_bandits.numerics.checks import Floats
from dirichlet_bandits.policies.base import Policy
from dirichlet_bandits.policies.kept.duels import KeptDuels, kept_win
from dirichlet_bandits.policies.kept.indices import KeptIndices, kept_index
from dirichlet_bandits.policies.kept.samples import KeptSamples
from dirichlet_bandits.policies.npts import NPTSParams
from dirichlet_bandits.policies.propensity import state_propensities
from dirichlet_bandits.policies.verbs import speaks


class PropensityKeeper:
    """Propensities of one policy in a state that only ever grows; make another one for another state.

    >>> from dirichlet_bandits import RDS
    >>> policy, rng = RDS(), np.random.default_rng(0)
    >>> keeper, state = PropensityKeeper(policy, 2), policy.init(2)
    >>> for arm, reward in [(0, 0.5), (1, 0.4), (0, 0.7), (0, 0.6)]:
    ...     state = policy.update(state, arm, reward, rng)
    >>> keeper.propensities(state).round(6)
    array([0.545686, 0.454314])

    Reference: see :func:`propensities`.
    """

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self._policy = policy
        self._kept: KeptDuels | KeptIndices | KeptSamples | None = None
        params = type(policy.params)
        if speaks(kept_win, params):
            self._kept = KeptDuels(policy, n_arms)
        elif speaks(kept_index, params):
            self._kept = KeptIndices(policy, n_arms)
        elif params is NPTSParams:
            self._kept = KeptSamples(policy, n_arms)

    def propensities(self, state: Any) -> Floats:
        """Probability that each arm is pulled next; see :func:`propensities`."""
        if self._kept is None or not np.all(state.pulls):
            return state_propensities(self._policy, state)
        return self._kept.propensities(state)
