"""Propensities: the exact probability that each arm is pulled next.

A live study needs them to weight what it saw by how likely it was to see it. They come from the same parts as
the decisions: the duels' crossing probabilities and blocks, the indices themselves, the laws of random ones.

A policy of your own joins with :func:`propensity_of`. A round-based one may bring ``win_probability`` instead:
the probability of winning a duel, compiled, registered with ``implements`` like the duel itself.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.checks import Floats, finite_array
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.base import Policy, keeper
from dirichlet_bandits.policies.dirichlet import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus,
    excess,
)
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.imed import IMED, EmpiricalIMED
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.policies.reweighting import resampled
from dirichlet_bandits.policies.subsampling import RBSDAParams, block_mean
from dirichlet_bandits.policies.ucb import KLUCB, RUCBLT, UCB1, EmpiricalKLUCB
from dirichlet_bandits.policies.verbs import implements, speaks, verb

Histories = Sequence[ArrayLike] | Mapping[str, ArrayLike]
Rule = Callable[[Any, Any], Floats]

_FROM_STATE: dict[type, Rule] = {}
_FROM_HISTORIES: dict[type, Rule] = {}


def propensities(policy: Policy, histories: Histories) -> Floats:
    """Probability that each arm is pulled next, given the rewards of each arm in the order in which they came.

    An index policy pulls one arm, so they sum to 1. A round-based one may pull several in its next round; the
    number of an arm is the probability that it is among them:

    * challenger: 1 if its mean reaches the leader's, else P(sum_i w_i X_i + w_{n+1} bonus >= leader's mean)
      for BDS, RDS and QDS, and the share of the leader's blocks that it beats for RBSDA;
    * leader: prod over challengers of (1 - their probability); arms tied for the lead share it.

    An arm without rewards is pulled in the opening, with probability 1, and the others are not. The coins of
    BinarizedTS are not part of a history: its propensities are averaged over them (see
    :func:`state_propensities` for coins that are known).

    >>> from dirichlet_bandits import RDS, UCB1
    >>> propensities(UCB1(sigma=1.0), [[0.1, 0.2], [0.9]])
    array([0., 1.])
    >>> propensities(RDS(), {"old": [0.5, 0.7, 0.6], "new": [0.4]}).round(6)  # log 2 = rho^2 = 0.693147
    array([0.545686, 0.454314])

    Reference: Baudry, Saux and Maillard (2021), From optimality to robustness: Dirichlet sampling strategies
    in stochastic bandits, section 3.
    """
    rule = _rule(policy)
    data = _rewards(policy, histories)
    if type(policy) in _FROM_HISTORIES and all(x.size for x in data):
        return _FROM_HISTORIES[type(policy)](policy, data)
    state = policy.init(len(data))
    rng = np.random.default_rng(0)  # asked for by `update`; whoever draws from it has a rule for histories
    for arm, x in enumerate(data):
        state = _doors(type(policy.params))[0](policy.params, state, arm, x, rng)
    return _unless_opening(rule, policy, state)


def state_propensities(policy: Policy, state: Any) -> Floats:
    """Probability that each arm is pulled next, in a policy's own state; see :func:`propensities`.

    >>> from dirichlet_bandits import RDS
    >>> policy, rng = RDS(), np.random.default_rng(0)
    >>> state = policy.update(policy.init(3), 1, 0.5, rng)
    >>> state_propensities(policy, state)
    array([1., 0., 1.])

    Reference: see :func:`propensities`.
    """
    return _unless_opening(_rule(policy), policy, state)


def propensity_of(*policy_classes: type[Policy], from_histories: bool = False) -> Callable[[Rule], Rule]:
    """Decorator: let ``rule(policy, state)`` give the propensities of these policies, all arms having been pulled.

    With ``from_histories`` it is ``rule(policy, list of arrays)``, for policies whose ``update`` draws random
    numbers, beside the rule for states.
    """

    def register(rule: Rule) -> Rule:
        for policy_class in policy_classes:
            (_FROM_HISTORIES if from_histories else _FROM_STATE)[policy_class] = rule
        return rule

    return register


def _rule(policy: Any) -> Rule:
    found = _FROM_STATE.get(type(policy))
    if found is not None:
        return found
    if isinstance(policy, Policy) and speaks(win_probability, type(policy.params)):
        return _round_propensities
    raise ArgumentError(
        "policy",
        "BDS, RDS, QDS, RBSDA, "
        + ", ".join(sorted(known.__name__ for known in _FROM_STATE))
        + ", or of a class made known by propensity_of",
        policy,
    )


def _unless_opening(rule: Rule, policy: Policy, state: Any) -> Floats:
    never = np.asarray(state.pulls) == 0
    return never.astype(np.float64) if never.any() else rule(policy, state)


def _rewards(policy: Policy, histories: Histories) -> list[Floats]:
    """The rewards of each arm, checked; an arm never pulled may have none."""
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


@verb
def win_probability(policy: Any, state: Any, challenger: int, leader: int) -> Any:
    """Probability that the challenger wins its duel against the leader."""


@implements(win_probability, BDSParams, RDSParams, QDSParams)
def resampling_win(policy: Any, state: History, challenger: int, leader: int) -> float:
    """The crossing probability of what is reweighted and the bonus."""
    m = state.means[leader]
    if state.means[challenger] >= m:
        return 1.0
    x = rewards(state, challenger)
    b = bonus(policy, x.size, state.tops[challenger], excess(x, m), m)
    if b == math.inf:  # it outweighs everything
        return 1.0
    values, weights = resampled(policy, x)
    offsets = np.append(values, b) - m
    return math.exp(log_crossing(offsets, np.append(weights, 1.0) if weights.size > 0 else weights))


@implements(win_probability, RBSDAParams)
def block_win(policy: RBSDAParams, state: History, challenger: int, leader: int) -> float:
    """The share of the leader's blocks that the challenger beats."""
    running = rewards(state, leader)
    starts = running.size - state.pulls[challenger] + 1
    beaten = 0
    for start in range(starts):
        if state.means[challenger] >= block_mean(running, 0, start, state.pulls[challenger]):
            beaten += 1
    return beaten / starts


def _round_propensities(policy: Policy, state: Any) -> Floats:
    win = _doors(type(policy.params))[1]
    pulls = np.asarray(state.pulls)

    def wins(leader: int) -> Floats:
        duels = pulls < pulls[leader]
        return np.array([win(policy.params, state, k, leader) if duels[k] else 0.0 for k in range(pulls.size)])

    return round_propensities(state, wins)


def round_propensities(state: Any, wins: Callable[[int], Floats]) -> Floats:
    """Duels are independent; the leader is pulled if nobody wins. Tied leaders: an average over which one leads.

    ``wins(leader)`` gives each arm's chance to win against this leader: 0 for those that do not duel.
    """
    pulls, means = np.asarray(state.pulls), np.asarray(state.means)
    most = pulls == pulls.max()
    leaders = np.flatnonzero(most & (means == means[most].max()))
    result = np.zeros(pulls.size)
    for leader in leaders.tolist():
        chances = wins(leader)
        result += chances / leaders.size
        result[leader] += np.prod(1.0 - chances) / leaders.size
    return result


@propensity_of(UCB1, RUCBLT, KLUCB, EmpiricalKLUCB, IMED, EmpiricalIMED)
def _index_propensities(policy: Policy, state: Any) -> Floats:
    """The largest index is pulled; ties are shared."""
    values = _doors(type(policy.params))[2](policy.params, state, np.random.default_rng(0))
    largest = values == values.max()
    return np.asarray(largest / largest.sum())


@functools.cache
def _doors(policy_type: type) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Verbs of one policy type, compiled for calls from Python: tell many rewards, win a duel, all indices."""
    stamp = verbs.stamp(policy_type)
    compile_door = keeper(policy_type)

    @compile_door
    def tell(policy: Any, state: Any, arm: int, told: Floats, rng: Any) -> Any:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        for reward in told:
            state = verbs.update(policy, state, arm, reward, rng)
        return state

    @compile_door
    def win(policy: Any, state: Any, challenger: int, leader: int) -> Any:
        stamp  # noqa: B018
        return win_probability(policy, state, challenger, leader)

    @compile_door
    def indices(policy: Any, state: Any, rng: Any) -> Floats:
        stamp  # noqa: B018
        total, top = overview(state)
        values = np.empty(state.pulls.size)
        for arm in range(state.pulls.size):
            values[arm] = verbs.index(policy, state, arm, total, top, rng)
        return values

    return tell, win, indices
