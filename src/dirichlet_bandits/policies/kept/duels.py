"""Duels whose chances are kept: a contour or a count of blocks for each challenger.

* BDS, RDS, QDS: the challenger's contour (``numerics/contour.py``), which estimates its own error and is made anew
  when that is too large; equal to the plain chances to about 1e-10;
* RBSDA: how many of the leader's blocks the challenger beats; equal to the plain chances.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.checks import Floats
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.base import Policy, keeper
from dirichlet_bandits.policies.dirichlet import BDSParams, QDSParams, RDSParams, bonus, excess
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.propensity import resampling_win, round_propensities
from dirichlet_bandits.policies.reweighting import learn, resampled
from dirichlet_bandits.policies.subsampling import RBSDAParams, block_mean
from dirichlet_bandits.policies.tally import Ints
from dirichlet_bandits.policies.verbs import implements, verb

_FEW: Final = 32  # with fewer values a contour is not worth keeping
_AT_ONCE: Final = 16  # more new rewards than this are not worth following one by one
_MOST_APPENDED: Final = 500  # rewards after which a contour is made anew: rounding must not pile up


class Memory(NamedTuple):
    """What is kept of each arm as a challenger.

    ``counts``: rewards in the contour, of these appended since it was made; for blocks the leader, the leader's
    rewards looked at, the challenger's rewards, and blocks beaten.
    """

    contours: Contours
    counts: Ints


_HELD, _APPENDED, _LEADER, _SEEN, _OWN, _BEATEN = range(6)


class KeptDuels:
    """Propensities of a round-based policy."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self._params = policy.params
        counts = np.zeros((n_arms, 6), np.int64)
        counts[:, _LEADER] = -1
        self._memory = Memory(contour.make.py_func(n_arms), counts)  # type: ignore[attr-defined]

    def propensities(self, state: Any) -> Floats:
        """From each challenger's chance to win."""
        wins = _door(type(self._params))
        return round_propensities(state, lambda leader: wins(self._params, state, leader, self._memory))


@verb
def kept_win(policy: Any, state: Any, challenger: int, leader: int, memory: Memory) -> Any:
    """Probability that the challenger wins its duel against the leader, with the help of what is kept."""


@implements(kept_win, BDSParams, RDSParams, QDSParams)
def kept_resampling_win(policy: Any, state: History, challenger: int, leader: int, memory: Memory) -> float:
    """The crossing probability from the challenger's contour."""
    m = state.means[leader]
    x = rewards(state, challenger)
    if state.means[challenger] >= m or x.size < _FEW:
        return resampling_win(policy, state, challenger, leader)
    contours, counts = memory.contours, memory.counts[challenger]
    b = bonus(policy, x.size, state.tops[challenger], excess(x, m), m)
    if b == math.inf:
        return resampling_win(policy, state, challenger, leader)
    held = counts[_HELD]
    new = x.size - held
    if held > 0 and new <= _AT_ONCE and counts[_APPENDED] + new <= _MOST_APPENDED:
        for n in range(held, x.size):
            learn(policy, contours, challenger, x[:n], x[n])
        counts[_HELD] = x.size
        counts[_APPENDED] += new
        log_p, error = contour.evaluate(contours, challenger, m, b)
        if error <= CONTOUR_ERROR:
            return math.exp(log_p)
    values, weights = resampled(policy, x)
    contour.build(contours, challenger, values, weights, b, m)
    counts[_HELD], counts[_APPENDED] = x.size, 0
    log_p, error = contour.evaluate(contours, challenger, m, b)
    if error <= CONTOUR_ERROR:
        return math.exp(log_p)
    counts[_HELD] = 0
    return resampling_win(policy, state, challenger, leader)


@implements(kept_win, RBSDAParams)
def kept_block_win(policy: RBSDAParams, state: History, challenger: int, leader: int, memory: Memory) -> float:
    """The share of blocks beaten: only those that the leader's new rewards end are looked at."""
    counts = memory.counts[challenger]
    running = rewards(state, leader)
    n = state.pulls[challenger]
    if counts[_LEADER] != leader or counts[_OWN] != n:
        counts[_LEADER], counts[_OWN], counts[_SEEN], counts[_BEATEN] = leader, n, n - 1, 0
    for end in range(counts[_SEEN], running.size):
        if state.means[challenger] >= block_mean(running, 0, end - n + 1, n):
            counts[_BEATEN] += 1
    counts[_SEEN] = running.size
    return counts[_BEATEN] / (running.size - n + 1)


@functools.cache
def _door(policy_type: type) -> Callable[..., Floats]:
    """The chances of all challengers of one leader, compiled for calls from Python."""
    stamp = verbs.stamp(policy_type)

    @keeper(policy_type)
    def kept_wins(policy: Any, state: Any, leader: int, memory: Memory) -> Floats:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        chances = np.zeros(state.pulls.size)
        for arm in range(state.pulls.size):
            if state.pulls[arm] < state.pulls[leader]:
                chances[arm] = kept_win(policy, state, arm, leader, memory)
        return chances

    return kept_wins
