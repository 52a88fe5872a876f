"""Propensities: the exact probability that each arm is pulled next.

A live study needs them to weight each observation by the inverse of its probability. They are computed from the same
parts as the decisions: crossing probabilities and blocks of duels, the indices themselves, or the distributions of
random indices. Each family defines its own and registers them.

To add a policy of your own, use :func:`propensity_of`. A round-based policy may define ``win_probability`` instead: the
compiled probability of winning a duel, registered with ``implements`` like the duel itself.
"""

from __future__ import annotations  # help() then shows short names

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import Incremental, Registration, propensities_of, rule_of
from dirichlet_bandits.policies.written import as_policy
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_array

Histories = Sequence[ArrayLike] | Mapping[str, ArrayLike]


@overload
def propensities(policy: Policy | str, histories: Mapping[str, ArrayLike]) -> dict[str, float]: ...


@overload
def propensities(policy: Policy | str, histories: Sequence[ArrayLike]) -> Floats: ...


def propensities(policy: Policy | str, histories: Histories) -> Floats | dict[str, float]:
    """Return the probability that each arm is pulled next, given each arm's rewards in order of arrival.

    If you give the arms by name, the result uses the same names.

    An index policy pulls one arm, so its propensities sum to 1. A round-based policy may pull several arms in its next
    round, and the propensity of an arm is the probability that it is among them:

    * challenger: 1 if its mean reaches the leader's, else P(sum_i w_i X_i + w_{n+1} bonus >= leader's mean)
      for BDS, RDS and QDS, and the share of the leader's blocks that it beats for RBSDA;
    * leader: prod over challengers of (1 - their probability); arms tied for the lead share it.

    An arm without rewards is pulled in the opening, with probability 1, and the other arms are not. The coins of
    BinarizedTS are not part of a history, so its propensities are averaged over them (see :func:`state_propensities`
    for known coins).

    >>> from dirichlet_bandits import UCB1
    >>> propensities(UCB1(sigma=1.0), [[0.1, 0.2], [0.9]])
    array([0., 1.])
    >>> propensities("RDS", [[0.5, 0.7, 0.6], [0.4]]).round(6)  # log 2 = rho^2 = 0.693147
    array([0.545686, 0.454314])
    >>> propensities(UCB1(sigma=1.0), {"old": [0.1, 0.2], "new": [0.9]})
    {'old': 0.0, 'new': 1.0}

    Reference: Baudry, Saux and Maillard (2021), From optimality to robustness: Dirichlet sampling strategies
    in stochastic bandits, section 3.
    """
    made = as_policy(policy)
    known = propensities_of(made)  # refuses what is no policy, or has none
    chances = _of_rewards(known, made, _rewards(made, histories))
    if isinstance(histories, Mapping):
        return dict(zip(histories, chances.tolist(), strict=True))
    return chances


def _of_rewards(known: Registration, policy: Policy, data: list[Floats]) -> Floats:
    if known.from_histories is not None and all(x.size for x in data):
        if isinstance(known.from_histories, str):
            raise ArgumentError("policy", known.from_histories, policy)
        return known.from_histories(policy, data)
    state = policy.init(len(data))
    rng = np.random.default_rng(0)  # required by `update`; policies that draw from it have a rule for histories
    for arm, x in enumerate(data):
        state = specialized(update_all, policy.params)(policy.params, state, arm, x, rng)
    return state_propensities(policy, state)


def state_propensities(policy: Policy, state: Any) -> Floats:
    """Return the probability that each arm is pulled next, given a policy's own state; see :func:`propensities`.

    >>> from dirichlet_bandits import RDS
    >>> policy, rng = RDS(), np.random.default_rng(0)
    >>> state = policy.update(policy.init(3), 1, 0.5, rng)
    >>> state_propensities(policy, state)
    array([1., 0., 1.])

    Reference: see :func:`propensities`.
    """
    rule = rule_of(policy)
    return _of_opening(state) if _opens(state) else rule(policy, state)


class IncrementalPropensities:
    """Propensities of one policy in a growing state, at a cost that hardly grows.

    A live study needs the propensities at each decision. Computing them from scratch takes passes over all rewards for
    policies that store every reward. Where a family supports it, this object updates them with each new reward instead.
    Create a new object for each state.

    >>> from dirichlet_bandits import RDS
    >>> policy, rng = RDS(), np.random.default_rng(0)
    >>> known, state = IncrementalPropensities(policy, 2), policy.init(2)
    >>> for arm, reward in [(0, 0.5), (1, 0.4), (0, 0.7), (0, 0.6)]:
    ...     state = policy.update(state, arm, reward, rng)
    >>> known.propensities(state).round(6)
    array([0.545686, 0.454314])

    Reference: see :func:`propensities`.
    """

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self._policy = policy
        make = propensities_of(policy).incremental
        self.followed: Incremental | None = None if make is None else make(policy, n_arms)

    def propensities(self, state: Any) -> Floats:
        """Return the probability that each arm is pulled next; see :func:`propensities`."""
        if self.followed is None or _opens(state):
            return state_propensities(self._policy, state)
        return self.followed.propensities(state)

    def without_compiling(self, state: Any) -> Floats | None:
        """Return the same, or None if this would compile something; see :class:`Incremental`."""
        return None if self.followed is None or _opens(state) else self.followed.without_compiling(state)


def update_all(policy: Any, state: Any, arm: int, rewards: Floats, rng: Any) -> Any:
    """Return the state after many rewards of one arm; an entry point."""
    for reward in rewards:
        state = verbs.update(policy, state, arm, reward, rng)
    return state


def _opens(state: Any) -> bool:
    """Whether some arm has never been pulled. If so, all such arms are pulled next, and no others."""
    return 0 in state.pulls.tolist()  # of a few numbers, lists are faster than arrays


def _of_opening(state: Any) -> Floats:
    return (np.asarray(state.pulls) == 0).astype(np.float64)


def _rewards(policy: Policy, histories: Histories) -> list[Floats]:
    """Return the checked rewards of each arm; an arm that was never pulled may have none."""
    expected = "the rewards of at least two arms: a sequence of sequences, or a dict of them"
    if isinstance(histories, Mapping):
        named = {f"histories[{name!r}]": x for name, x in histories.items()}
    elif isinstance(histories, Sequence | np.ndarray) and not isinstance(histories, str):
        named = {f"histories[{arm}]": x for arm, x in enumerate(histories)}
    else:
        raise ArgumentError("histories", expected, histories)
    if len(named) < 2:
        raise ArgumentError("histories", expected, histories)
    data = []
    for name, x in named.items():
        empty = np.shape(x) == (0,)
        data.append(np.empty(0) if empty else finite_array(name, x))
        if not empty:
            policy.check_reward(float(data[-1].min()))
            policy.check_reward(float(data[-1].max()))
    return data
