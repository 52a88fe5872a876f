"""What the shortcut of NPTS stores for each arm, and the density and distribution function of an index from it."""

import math
from typing import Final, NamedTuple, Protocol

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.arrays import shifted, with_last
from dirichlet_bandits.numerics.costs import EXPANSION_LEAST, LAW_LEAST
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.density import log_density, log_density_anew
from dirichlet_bandits.numerics.resampling import Groups, below, learn_law, make_groups
from dirichlet_bandits.numerics.tolerances import CHARACTERISTIC_ERROR, CLOCK_ERROR, DENSITY_ERROR
from dirichlet_bandits.policies.npts.quantiles import POLYNOMIAL, POWER_SUMS, chance_below, fit_polynomial, learn_sums
from dirichlet_bandits.types import Floats, Records, record_type

_MIDDLE: Final = 4.5  # standard deviations from the mean within which the leader's index nearly always is


class Tangent(Protocol):
    """The tangent of a log-density, which touches it ``at`` a number, with its ``value`` there, and falls at a rate.

    It is that of ``touched`` rewards. Its ``mass`` above the foot of a contest is the rate at which the clock rings.
    """

    touched: int
    at: float
    value: float
    fall: float
    mass: float


class Draw(Protocol):
    """The index drawn in this step: it belongs to the normal variable ``z``, and lies between ``low`` and ``high``."""

    z: float
    low: float
    high: float


_TANGENT: Final = record_type(Tangent)
_DRAW: Final = record_type(Draw)


class ContestRecords(NamedTuple):
    """What is known of all arms: power sums, polynomials, tangents and draws, one record per arm.

    There are also the bound of the rewards, contours, groups of old rewards, and the stored values of an error bound
    (``held_error`` in ``numerics/expansion.py`` keeps four numbers per row).
    """

    upper: float
    sums: Records
    polynomials: Records
    tangents: Records
    draws: Records
    contours: Floats
    groups: Groups
    held: Floats


@shared
def new_challengers(n_arms: int, upper: float) -> ContestRecords:
    """Return empty records of all arms."""
    return ContestRecords(
        upper,
        np.zeros(n_arms, POWER_SUMS),
        np.zeros(n_arms, POLYNOMIAL),
        np.zeros(n_arms, _TANGENT),
        np.zeros(n_arms, _DRAW),
        contour.make(n_arms),
        make_groups(n_arms, np.full(1, upper)),
        np.full((n_arms, 4), np.nan),
    )


@jit
def learn(state: History, challengers: ContestRecords, arm: int) -> None:
    """Update the power sums and the polynomial of an arm."""
    sums = challengers.sums[arm]
    if sums.known < state.pulls[arm]:
        learn_sums(sums, rewards(state, arm), challengers.upper)
        fit_polynomial(sums, challengers.polynomials[arm], state.lows[arm], challengers.upper)


@jit
def log_tangent(tangent: Tangent, v: float) -> float:
    """Return the tangent at v."""
    return tangent.value - tangent.fall * (v - tangent.at)


@shared
def log_density_of(challengers: ContestRecords, arm: int, x: Floats, b: float, v: float) -> tuple[float, float, bool]:
    """Return log f(v), its slope, and whether they are accurate; the contour is rebuilt where it does not cover v."""
    stored = challengers.contours[arm]
    log_f, slope, error = log_density(stored, v, b)
    if not error <= DENSITY_ERROR:
        contour.build(stored, x, np.empty(0), b, v)
        log_f, slope, error = log_density(stored, v, b)
    return log_f, slope, error <= DENSITY_ERROR


@shared
def refresh_tangent(state: History, challengers: ContestRecords, arm: int, v: float, room: float) -> None:
    """Make sure that the arm has a tangent for all its rewards that touches no farther from v than ``room``.

    For a new tangent, the arm's contour takes in the rewards that it lacks, or is rebuilt. If it is not accurate, as
    with a few very large rewards, the tangent is infinite, because computing it without a contour costs more than it
    saves, unless there are few rewards.
    """
    stored, tangent, x = challengers.contours[arm], challengers.tangents[arm], rewards(state, arm)
    if tangent.touched == x.size and abs(tangent.at - v) <= room:
        return
    if 2 * tangent.touched >= x.size:
        for value in x[tangent.touched :]:
            contour.append(stored, value, 1)
    else:  # a contour estimates its error only for the rewards that it contains
        contour.build(stored, x, np.empty(0), challengers.upper, v)
    value, slope, accurate = log_density_of(challengers, arm, x, challengers.upper, v)
    if not accurate:
        value, slope = log_density_anew(with_last(x, challengers.upper), v) if x.size < LAW_LEAST else (math.inf, -1.0)
    tangent.at, tangent.value, tangent.fall, tangent.touched = v, value, -slope, x.size


@shared
def is_largest(state: History, challengers: ContestRecords, arm: int, v: float, rng: np.random.Generator) -> bool:
    """Whether a number v drawn from the arm's tangent above the foot is its index, and above all other far indices."""
    x = rewards(state, arm)
    log_f, _, accurate = log_density_of(challengers, arm, x, challengers.upper, v)
    if not accurate:
        log_f, _ = log_density_anew(with_last(x, challengers.upper), v)
    if rng.random() >= math.exp(log_f - log_tangent(challengers.tangents[arm], v)):
        return False
    for k in range(state.pulls.size):
        u = rng.random()
        if k != arm and u < challengers.tangents[k].mass:  # a bound on the probability that its index is above v
            log_p, error = contour.evaluate(challengers.contours[k], v, challengers.upper)
            if not error <= CLOCK_ERROR:
                log_p = log_crossing(shifted(with_last(rewards(state, k), challengers.upper), -v), np.empty(0))
            if u < math.exp(log_p):
                return False
    return True


@shared
def index_below(state: History, challengers: ContestRecords, arm: int, v: float, u: float) -> bool:
    """Whether u < P(index < v) for an arm.

    Bounds or the distribution function decide; where the index hardly ever lies, the edge of that region decides.
    """
    x, mean = rewards(state, arm), state.means[arm]
    if x.size >= EXPANSION_LEAST:
        learn(state, challengers, arm)
        p, error = chance_below(challengers.sums[arm], challengers.held[arm], v, state.lows[arm], challengers.upper)
        if abs(u - p) > error:
            return u < p
    deviation = challengers.polynomials[arm].deviation
    law = learn_law(challengers.groups, arm, x, mean, deviation * math.sqrt(x.size))
    inside = min(max(v, mean - _MIDDLE * deviation), mean + _MIDDLE * deviation)
    p, error = below(law, inside)
    if error <= CHARACTERISTIC_ERROR:
        if v >= inside and u < p:
            return True
        if v <= inside and u >= p:
            return False
    return u < -math.expm1(log_crossing(shifted(with_last(x, challengers.upper), -v), np.empty(0)))
