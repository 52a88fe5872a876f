"""What the shortcut of NPTS stores for each arm, and the density and distribution function of an index from it."""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.arrays import shifted, with_last
from dirichlet_bandits.numerics.characteristic import below
from dirichlet_bandits.numerics.costs import EXPANSION_LEAST, LAW_LEAST
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.density import log_density, log_density_anew
from dirichlet_bandits.numerics.resampling import Groups, learn_law, make_groups
from dirichlet_bandits.numerics.tolerances import CHARACTERISTIC_ERROR, CLOCK_ERROR, DENSITY_ERROR
from dirichlet_bandits.policies.npts.quantiles import chance_below, fit_polynomial, learn_sums
from dirichlet_bandits.types import Floats

_MIDDLE = 4.5  # standard deviations from the mean within which the leader's index nearly always is

_SUMS = [(name, np.float64) for name in ("origin", "p1", "p2", "p3", "p4")]
_POLYNOMIAL = [(name, np.float64) for name in ("mean", "deviation", "a0", "a1", "a2", "a3")]
_ERROR = [(name, np.float64) for name in ("most", "skew", "kurtosis", "largest", "blur", "widest", "reach")]
_TANGENT = [(name, np.float64) for name in ("at", "value", "fall", "mass")]
_DRAWN = [(name, np.float64) for name in ("z", "low", "high")]
_COUNTS = [(name, np.int64) for name in ("known", "touched")]
ARM = np.dtype([*_COUNTS, *_SUMS, *_POLYNOMIAL, *_ERROR, *_TANGENT, *_DRAWN])
"""One arm.

``known`` rewards are in the power sums ``p1`` to ``p4`` about the ``origin``. From them come the ``mean`` of the index
and its ``deviation``, and the coefficients of the polynomial of ``quantiles.py``. Its error is at most ``blur`` at
z = 0 and ``widest`` elsewhere, in deviations, and it is used up to a |z| of ``reach`` (0 if it is not good enough).
These bounds hold for fewer than ``most`` values, while their ``skew``, ``kurtosis`` and ``largest`` distance from the
mean do not exceed those here.

The tangent of the log-density touches it ``at`` a number, has the ``value`` there and falls at the rate ``fall``; it is
that of ``touched`` rewards. Its ``mass`` above the foot of a contest is the rate at which the clock rings for the arm.

The index drawn in this step belongs to the normal variable ``z``, and lies between ``low`` and ``high``.
"""


class Challengers(NamedTuple):
    """The records of all arms.

    These are the bound of the rewards, one record ``ARM`` per arm, contours, groups of old rewards, and the stored
    values of an error bound (``held_error`` in ``numerics/expansion.py`` keeps four numbers per row).
    """

    upper: float
    arms: Any
    contours: Floats
    groups: Groups
    held: Floats


@shared
def new_challengers(n_arms: int, upper: float) -> Challengers:
    """Return empty records of all arms."""
    held = np.full((n_arms, 4), np.nan)
    return Challengers(upper, np.zeros(n_arms, ARM), contour.make(n_arms), make_groups(n_arms, np.full(1, upper)), held)


@jit
def learn(state: History, challengers: Challengers, arm: int) -> None:
    """Update the power sums and the polynomial of an arm."""
    known = challengers.arms[arm]
    if known.known < state.pulls[arm]:
        learn_sums(known, rewards(state, arm), challengers.upper)
        fit_polynomial(known, state.lows[arm], challengers.upper)


@jit
def log_tangent(arm: Any, v: float) -> float:
    """Return the tangent of the arm's log-density at v."""
    return arm.value - arm.fall * (v - arm.at)


@shared
def log_density_of(challengers: Challengers, arm: int, x: Floats, b: float, v: float) -> tuple[float, float, bool]:
    """Return log f(v), its slope, and whether they are accurate; the contour is rebuilt where it does not cover v."""
    stored = challengers.contours[arm]
    log_f, slope, error = log_density(stored, v, b)
    if not error <= DENSITY_ERROR:
        contour.build(stored, x, np.empty(0), b, v)
        log_f, slope, error = log_density(stored, v, b)
    return log_f, slope, error <= DENSITY_ERROR


@shared
def refresh_tangent(state: History, challengers: Challengers, arm: int, v: float, room: float) -> None:
    """Make sure that the arm has a tangent for all its rewards that touches no farther from v than ``room``.

    For a new tangent, the arm's contour takes in the rewards that it lacks, or is rebuilt. If it is not accurate, as
    with a few very large rewards, the tangent is infinite, because computing it without a contour costs more than it
    saves, unless there are few rewards.
    """
    stored, known, x = challengers.contours[arm], challengers.arms[arm], rewards(state, arm)
    if known.touched == x.size and abs(known.at - v) <= room:
        return
    if 2 * known.touched >= x.size:
        for value in x[known.touched :]:
            contour.append(stored, value, 1)
    else:  # a contour estimates its error only for the rewards that it contains
        contour.build(stored, x, np.empty(0), challengers.upper, v)
    value, slope, accurate = log_density_of(challengers, arm, x, challengers.upper, v)
    if not accurate:
        value, slope = log_density_anew(with_last(x, challengers.upper), v) if x.size < LAW_LEAST else (math.inf, -1.0)
    known.at, known.value, known.fall, known.touched = v, value, -slope, x.size


@shared
def is_largest(state: History, challengers: Challengers, arm: int, v: float, rng: np.random.Generator) -> bool:
    """Whether a number v drawn from the arm's tangent above the foot is its index, and above all other far indices."""
    x = rewards(state, arm)
    log_f, _, accurate = log_density_of(challengers, arm, x, challengers.upper, v)
    if not accurate:
        log_f, _ = log_density_anew(with_last(x, challengers.upper), v)
    if rng.random() >= math.exp(log_f - log_tangent(challengers.arms[arm], v)):
        return False
    for k in range(state.pulls.size):
        u = rng.random()
        if k != arm and u < challengers.arms[k].mass:  # a bound on the probability that its index is above v
            log_p, error = contour.evaluate(challengers.contours[k], v, challengers.upper)
            if not error <= CLOCK_ERROR:
                log_p = log_crossing(shifted(with_last(rewards(state, k), challengers.upper), -v), np.empty(0))
            if u < math.exp(log_p):
                return False
    return True


@shared
def index_below(state: History, challengers: Challengers, arm: int, v: float, u: float) -> bool:
    """Whether u < P(index < v) for an arm.

    Bounds or the distribution function decide; where the index hardly ever lies, the edge of that region decides.
    """
    x, mean = rewards(state, arm), state.means[arm]
    if x.size >= EXPANSION_LEAST:
        learn(state, challengers, arm)
        p, error = chance_below(challengers.arms[arm], challengers.held[arm], v, state.lows[arm], challengers.upper)
        if abs(u - p) > error:
            return u < p
    deviation = challengers.arms[arm].deviation
    law = learn_law(challengers.groups, arm, x, mean, deviation * math.sqrt(x.size))
    inside = min(max(v, mean - _MIDDLE * deviation), mean + _MIDDLE * deviation)
    p, error = below(law, inside)
    if error <= CHARACTERISTIC_ERROR:
        if v >= inside and u < p:
            return True
        if v <= inside and u >= p:
            return False
    return u < -math.expm1(log_crossing(shifted(with_last(x, challengers.upper), -v), np.empty(0)))
