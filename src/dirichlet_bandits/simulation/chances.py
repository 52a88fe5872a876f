"""What a challenger of BDS, RDS or QDS is up to: its chance to win from a kept contour, and its duel.

A duel of BDS or RDS asks whether  sum_i E_i (x_i - m) + E (bonus - m) >= 0,  and gets the sum from the groups of
:mod:`resampling`. The bonus wants a pass over the rewards for their excess at m; bounds of it nearly always suffice.
QDS has another tail after every reward, so there is no group to keep: with many rewards its chance is drawn on.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR, INDEX_SLACK
from dirichlet_bandits.policies.dirichlet import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus,
    excess,
)
from dirichlet_bandits.policies.reweighting import learn, resampled
from dirichlet_bandits.policies.tally import Floats, Ints
from dirichlet_bandits.policies.verbs import implements, verb
from dirichlet_bandits.simulation.resampling import Groups, weighted_sum

_FEW = 12  # with fewer values a contour of their own is not worth keeping
_GROUPED = 28  # with more rewards a duel by groups costs no more than this
_CHEAP = 100  # a chance from a kept contour costs about as much as exponentials for so many rewards
_OFTEN = 0.4  # an arm that wins as often as this is better off without a certificate
_NEW = 64  # rewards after which the sum of shortfalls is taken anew


class Desk(NamedTuple):
    """What is noted of each challenger."""

    known: Ints  # rewards that its contour has been told
    lost: Ints  # duels lost in a row without a certificate; -1 for an arm whose last chance was worth one
    width: Floats  # half-width of the next certificate
    summed: Ints  # rewards in its sum of shortfalls,
    short: Floats  # that sum,
    at: Floats  # and the m at which it was taken


@jit
def make_desk(n_arms: int) -> Desk:
    """Nothing is known."""
    known, lost, summed = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return Desk(known, lost, np.zeros(n_arms), summed, np.zeros(n_arms), np.zeros(n_arms))


@verb
def effort(policy: Any, n: int) -> Any:
    """What a duel of a challenger with n rewards costs, in exponentials."""


@implements(effort, BDSParams, RDSParams)
def effort_of_draws(policy: Any, n: int) -> int:
    """One for each reward, or as much as a draw from a group and the new rewards."""
    return min(n, _GROUPED) + 12


@implements(effort, QDSParams)
def effort_of_tail(policy: QDSParams, n: int) -> int:
    """To find the tail takes longer than to draw."""
    return 3 * n + 80


@jit
def plainly(policy: Any, desk: Desk, arm: int, n: int) -> bool:
    """Whether a duel is best fought reward by reward: they are few, or nothing that would help is kept yet."""
    return n < _FEW or (desk.known[arm] == 0 and effort(policy, n) > _CHEAP)


@jit
def worthwhile(policy: Any, n: int, log_p: float) -> bool:
    """Whether clocks are cheaper than duels for an arm with n rewards that wins so often."""
    return log_p < math.log(_OFTEN * min(effort(policy, n) / _CHEAP, 1.0))


@jit
def log_chance(policy: Any, x: Floats, b: float, contours: Contours, desk: Desk, arm: int, m: float) -> float:
    """log P(index >= m) with the bonus b for the arm, which has rewards x."""
    known = desk.known[arm]
    desk.known[arm] = x.size
    if 4 * (x.size - known) < x.size:
        for n in range(known, x.size):
            learn(policy, contours, arm, x[:n], x[n])
        log_p, error = contour.evaluate(contours, arm, m, b)
        if error <= CLOCK_ERROR:
            return log_p
    values, weights = resampled(policy, x)
    return log_crossing_anew(contours, arm, values, weights, b, m)


@jit
def log_crossing_anew(contours: Contours, arm: int, values: Floats, weights: Floats, b: float, m: float) -> float:
    """log P(reweighted mean of the values and b reaches m); the arm's contour is built for it, if that works."""
    if values.size >= _FEW:
        contour.build(contours, arm, values, weights, b, m)
        log_p, error = contour.evaluate(contours, arm, m, b)
        if error <= CLOCK_ERROR:
            return log_p
    offsets = np.append(values, b) - m
    return log_crossing(offsets, np.append(weights, 1.0) if weights.size > 0 else weights)


@verb
def duels(
    policy: Any, x: Floats, mean: float, top: float, m: float, contours: Contours, groups: Groups, desk: Desk, arm: int,
    rng: Any
) -> Any:  # fmt: skip
    """The duel of a challenger with rewards x, whose mean is below the leader's, m; in law."""


@implements(duels, BDSParams, RDSParams)
def duels_by_groups(
    policy: Any,
    x: Floats,
    mean: float,
    top: float,
    m: float,
    contours: Contours,
    groups: Groups,
    desk: Desk,
    arm: int,
    rng: np.random.Generator,
) -> bool:
    """Old rewards together, new ones one by one."""
    total, _ = weighted_sum(groups, arm, x, mean, m, rng)
    weight = rng.standard_exponential()
    least, most = excess_bounds(desk, arm, x, m)
    if total + weight * (bonus(policy, x.size, top, least, m) - m) >= 0.0:
        return True
    if total + weight * (bonus(policy, x.size, top, most, m) - m) < 0.0:
        return False
    return total + weight * (bonus(policy, x.size, top, excess(x, m), m) - m) >= 0.0


@implements(duels, QDSParams)
def duels_by_chance(
    policy: QDSParams,
    x: Floats,
    mean: float,
    top: float,
    m: float,
    contours: Contours,
    groups: Groups,
    desk: Desk,
    arm: int,
    rng: np.random.Generator,
) -> bool:
    """Only its chance, not its index, is drawn on."""
    log_p = log_chance(policy, x, bonus(policy, x.size, top, excess(x, m), m), contours, desk, arm, m)
    if worthwhile(policy, x.size, log_p):
        desk.lost[arm] = -1
    return rng.random() < math.exp(log_p)


@jit
def excess_bounds(desk: Desk, arm: int, x: Floats, m: float) -> tuple[float, float]:
    """Bounds of the excess of x at m: each shortfall moves by at most as much as m."""
    if x.size > desk.summed[arm] + _NEW:
        found = excess(x, m)
        desk.summed[arm], desk.short[arm], desk.at[arm] = x.size, found * x.size, m
        return found, found
    short, move = desk.short[arm], (m - desk.at[arm]) * desk.summed[arm]
    for i in range(desk.summed[arm], x.size):
        short += max(m - x[i], 0.0)
    slack = INDEX_SLACK * abs(short)
    return (short + min(move, 0.0) - slack) / x.size, (short + max(move, 0.0) + slack) / x.size
