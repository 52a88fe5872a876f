"""What NPTS's shortcuts know of each arm, and the density and the distribution function of its index from that."""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.arrays import shifted, with_last
from dirichlet_bandits.numerics.characteristic import below
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.density import log_density, log_density_anew
from dirichlet_bandits.numerics.resampling import Groups, learn_law, make_groups
from dirichlet_bandits.numerics.tolerances import CHARACTERISTIC_ERROR, DENSITY_ERROR
from dirichlet_bandits.policies.npts.frames import chance_below, learn_sums, make_frames
from dirichlet_bandits.policies.npts.rule import NPTSParams
from dirichlet_bandits.types import Floats

_MIDDLE = 4.5  # standard deviations from the mean within which the leader's index nearly always is

# Rows of the tangents, a column an arm (one array: Numba counts references): where the tangent of the log-density
# touches, the value there, how fast it falls; the rate r_k; its mass above the ceiling's mean; how many rewards the
# arm's contour knows; 1 if the arm and the leader are compared by normal variables instead, and then the length of
# (DEVIATION, UNIT), how far the half-plane is from the origin, and its probability.
AT, VALUE, FALL, RATE, MASS, _KNOWN, PAIRED, LENGTH, FOOT, INSIDE = range(10)


class Challengers(NamedTuple):
    """What is known of each arm: its contour, its old rewards as a group, the tangent of its index's log-density, and
    the polynomial that gives its index roughly."""

    contours: Floats
    groups: Groups
    tangents: Floats
    frames: Floats


@shared
def new_challengers(n_arms: int, upper: float) -> Challengers:
    """Nothing is known yet."""
    return Challengers(
        contour.make(n_arms),
        make_groups(n_arms, np.full(1, upper)),
        np.zeros((INSIDE + 1, n_arms)),
        make_frames(n_arms),
    )


@jit
def log_tangent(tangents: Floats, arm: int, v: float) -> float:
    """Tangent of the arm's log-density, at v."""
    return tangents[VALUE, arm] - tangents[FALL, arm] * (v - tangents[AT, arm])


@shared
def log_density_of(challengers: Challengers, arm: int, x: Floats, b: float, v: float) -> tuple[float, float]:
    """log f(v) and its slope for the arm's index; the contour is built anew where it does not cover v."""
    kept = challengers.contours[arm]
    log_f, slope, error = log_density(kept, v, b)
    if error <= DENSITY_ERROR:
        return log_f, slope
    contour.build(kept, x, np.empty(0), b, v)
    log_f, slope, error = log_density(kept, v, b)
    if error <= DENSITY_ERROR:
        return log_f, slope
    return log_density_anew(with_last(x, b), v)


@shared
def draw_tangent(challengers: Challengers, arm: int, x: Floats, b: float, v: float) -> None:
    """The tangent at v; the arm's contour learns the rewards that it does not know yet, or is built anew."""
    kept, tangents = challengers.contours[arm], challengers.tangents
    if 2 * tangents[_KNOWN, arm] >= x.size:
        for value in x[int(tangents[_KNOWN, arm]) :]:
            contour.append(kept, value, 1)
    else:  # a contour estimates its error for the rewards that it knows, whatever the others
        contour.build(kept, x, np.empty(0), b, v)
    tangents[_KNOWN, arm] = x.size
    value, slope = log_density_of(challengers, arm, x, b, v)
    tangents[AT, arm], tangents[VALUE, arm], tangents[FALL, arm] = v, value, -slope


@shared
def index_below(
    policy: NPTSParams, state: History, challengers: Challengers, variance: float, arm: int, v: float, u: float
) -> bool:
    """Whether u < P(index < v) for an arm with rewards of about this variance: by bounds, or by the law itself; where
    the index hardly ever is, the edge of that region tells."""
    x, mean = rewards(state, arm), state.means[arm]
    if learn_sums(challengers.frames, arm, x, policy.upper):
        p, error = chance_below(challengers.frames[arm], v, state.lows[arm], policy.upper)
        if abs(u - p) > error:
            return u < p
    law = learn_law(challengers.groups, arm, x, mean, math.sqrt(variance))
    deviation = math.sqrt(variance / x.size)
    inside = min(max(v, mean - _MIDDLE * deviation), mean + _MIDDLE * deviation)
    p, error = below(law, inside)
    if error <= CHARACTERISTIC_ERROR:
        if v >= inside and u < p:
            return True
        if v <= inside and u >= p:
            return False
    return u < -math.expm1(log_crossing(shifted(with_last(x, policy.upper), -v), np.empty(0)))
