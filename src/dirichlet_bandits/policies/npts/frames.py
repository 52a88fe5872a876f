"""Indices of NPTS known roughly from a normal variable, with a bound of the error.

With a standard normal z the index V = F^(-1)(Phi(z)) has the law F. Cornish and Fisher's polynomial of z, from the
first four moments of the law, is close to it. How close follows from ``numerics/expansion.py``: its expansion of F is
wrong by at most e, and at the polynomial it differs from Phi(z) by less than e (it is an explicit function of z and
three numbers; a test finds at most e/2 wherever it looks). So F at the polynomial of z + t is at least
Phi(z + t) - 2 e, which is at least Phi(z) if

    t = 1.45 * 2 e sqrt(2 pi) exp(z^2/2) <= 0.1,

and V lies no farther from the polynomial than t times its largest slope. Beyond the z for which t is 0.1 we only know
that V is farther out. For |z| up to a ``box`` the polynomial lies between two straight lines.

A leader's rewards come too often to fit its polynomial each time. Its ``window`` says how far its number of rewards and
their first four moments may go; as long as they do, its index lies above one straight line.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.numerics.costs import EXPANSION_LEAST
from dirichlet_bandits.numerics.expansion import expanded_crossing, held_error, more_powers, moved_sums
from dirichlet_bandits.types import Floats

_FARTHEST: Final = 3.5  # largest z at which the polynomial is used
_NEAREST: Final = 1.5  # with less it is not worth while
WIDEST_BOX: Final = 3.2  # largest z up to which straight lines are used
_STEEPEST: Final = 1.2  # largest slope of the polynomial, in deviations, up to a z of 3.6
_SHARE: Final = 2.0  # of the expansion's error, with that of the polynomial
_LEAST_BELL: Final = math.exp(-0.5 * _FARTHEST**2)
_BOX_BELL: Final = math.exp(-0.5 * WIDEST_BOX**2)
_MARGIN: Final = 1.45 * math.sqrt(2.0 * math.pi)

# Columns of a frame, a row for each arm: rewards counted, number about which powers are summed, the sums, held numbers
# of two bounds of the error; the index's mean less the bound and its deviation, the polynomial, the error at z = 0 and
# the largest one, and how far the polynomial is used (0: not at all); the box, and where the line above it begins.
_KNOWN, _ORIGIN, _P1, _P2, _P3, _P4, _HELD = range(7)
_HELD_AT = _HELD + 4
MEAN, DEVIATION, _A0, _A1, _A2, _A3, _BLUR, _WIDEST, REACH, BOX, TOP, _WIDTH = range(_HELD + 8, _HELD + 20)

# What a leader's window allows: so many values, a mean between these two and no reward below the lowest, and sums of
# powers about the frame's origin up to these; the line below the leader's index that all this warrants, its slope and
# its box; held numbers, and the sums of powers after rewards to come.
_MOST, _LEAST_MEAN, _MOST_MEAN, _LOWEST, _Q2, _Q3, _Q4, FLOOR, UNIT, SIDE, _WINDOW_HELD = range(11)
_AFTER = _WINDOW_HELD + 4
_LONGER: Final = 64  # a window is good for this part of the rewards...
_LEAST_LONGER: Final = 8.0  # ... and at least so many
_BELOW, _ABOVE = 0.15, 0.5  # deviations of the index by which the leader's mean may fall and rise


@shared
def make_frames(n_arms: int) -> Floats:
    """Nothing is known yet; the last row is for the leader's window."""
    frames = np.zeros((n_arms + 1, _WIDTH))
    for arm in range(n_arms):
        frames[arm, _HELD] = frames[arm, _HELD_AT] = np.nan
    frames[n_arms, _WINDOW_HELD] = np.nan
    return frames


@jit
def add_rewards(frames: Floats, arm: int, x: Floats) -> None:
    """Count those of the arm's rewards x that are new."""
    frame = frames[arm]
    origin, p1, p2, p3, p4 = frame[_ORIGIN], frame[_P1], frame[_P2], frame[_P3], frame[_P4]
    for i in range(int(frame[_KNOWN]), x.size):
        p1, p2, p3, p4 = more_powers(p1, p2, p3, p4, x[i] - origin, 1.0)
    frame[_P1], frame[_P2], frame[_P3], frame[_P4], frame[_KNOWN] = p1, p2, p3, p4, x.size


@shared
def learn_sums(frames: Floats, arm: int, x: Floats, upper: float) -> bool:
    """All rewards x of the arm so far; False if they are few."""
    if x.size < EXPANSION_LEAST:
        return False
    frame = frames[arm]
    if frame[_KNOWN] == 0.0:
        frame[_ORIGIN] = sum_of(x) / x.size
        a = upper - frame[_ORIGIN]  # counts as one of the values
        frame[_P1], frame[_P2], frame[_P3], frame[_P4] = a, a**2, a**3, a**4
    add_rewards(frames, arm, x)
    return True


@jit
def chance_below(frame: Floats, v: float, lowest: float, upper: float) -> tuple[float, float]:
    """P(index < v), and a bound of the error, from the sums in the frame; no offsets here."""
    n, d = frame[_KNOWN] + 1.0, v - frame[_ORIGIN]
    s1, s2, s3, s4 = moved_sums(n, frame[_P1], frame[_P2], frame[_P3], frame[_P4], d)
    p, error = expanded_crossing(s1, s2, s3, s4, max(upper - v, v - lowest), frame[_HELD_AT:])
    # Bernstein's inequality (``ceiling.py``), on either side of the mean.
    distance = s1 / n
    span = v + distance - lowest if distance > 0.0 else upper - v - distance
    tail = math.exp(-0.5 * s1 * s1 / (s2 - s1 * distance + span * abs(s1)))
    if tail < error:
        p, error = (1.0 - 0.5 * tail, 0.5 * tail) if distance > 0.0 else (0.5 * tail, 0.5 * tail)
    return 1.0 - p, error


@shared
def learn_frame(frames: Floats, arm: int, x: Floats, lowest: float, upper: float) -> None:
    """All rewards x of the arm so far, if they are many: the moments of its index, and the polynomial."""
    if learn_sums(frames, arm, x, upper):
        fit_frame(frames[arm], lowest, upper)


@jit
def bounded_error(
    held: Floats, n: float, skew: float, kurtosis: float, largest: float, c1: float, c2: float
) -> tuple[float, float]:
    """What an index from the polynomial is wrong by at z = 0, in deviations, and the polynomial's largest slope."""
    short = 1.0 / math.sqrt(n)
    t = 4.4 * short  # the expansion is used at offsets of at most 4.4 deviations from the mean
    h3 = (skew + t * (3.0 + t * t)) * short / 3.0
    h4 = (kurtosis + t * (4.0 * skew + t * (6.0 + t * t))) * short * short * 0.25
    h5 = 0.8 * (largest + t) * h4 * short
    slope = 1.0 + 7.2 * abs(c1) + 36.0 * abs(c2) + 73.0 * c1 * c1
    return _MARGIN * _SHARE * held_error(held, h3, h4, h5), slope


@jit
def bend(box: float, error: float, slope: float, c1: float, c2: float) -> float:
    """How far an index lies at most above a straight line, in deviations, for |z| in the box."""
    square = box * box
    cubic, fifth = max(2.0, box * (square - 3.0)), max(3.1, box * (2.0 * square - 5.0))
    curved = max(c1 * (square - 1.0), -c1) + abs(c2) * cubic + c1 * c1 * fifth
    return curved + slope * min(error / _BOX_BELL, 0.1)


@shared
def fit_frame(frame: Floats, lowest: float, upper: float) -> None:
    """The polynomial for the rewards in the frame; offsets from the bound."""
    n, p1 = frame[_KNOWN] + 1.0, frame[_P1]
    mean = p1 / n
    _, s2, s3, s4 = moved_sums(n, p1, frame[_P2], frame[_P3], frame[_P4], mean)
    inverse = 1.0 / s2
    narrow = math.sqrt(n * inverse)  # 1 over the rewards' deviation
    skew, kurtosis = s3 * inverse * narrow, n * s4 * inverse * inverse
    # Skewness and excess of the index: moments of sums of gamma variables over those of their total.
    share = 1.0 / ((n + 2.0) * (n + 3.0))
    deviation = math.sqrt(s2 / (n * (n + 1.0)))
    c1 = skew * deviation * narrow * share * (n + 1.0) * (n + 3.0) / 3.0
    c2 = ((6.0 * kurtosis + 3.0 * n) * (n + 1.0) * share - 3.0) / 24.0
    c3 = c1 * c1
    centre = mean + (frame[_ORIGIN] - upper)
    frame[MEAN], frame[DEVIATION] = centre, deviation
    frame[_A0], frame[_A1] = centre - deviation * c1, deviation * (1.0 - 3.0 * c2 + 5.0 * c3)
    frame[_A2], frame[_A3] = deviation * c1, deviation * (c2 - 2.0 * c3)
    largest = max(-centre, centre - (lowest - upper)) * narrow
    error, slope = bounded_error(frame[_HELD:], n, abs(skew), kurtosis, largest, c1, c2)
    reach = reached(error, slope)
    frame[_BLUR] = error * slope * deviation
    frame[_WIDEST] = min(error / _LEAST_BELL, 0.1) * slope * deviation
    frame[REACH], frame[BOX] = reach, min(reach, WIDEST_BOX)
    frame[TOP] = centre + deviation * bend(frame[BOX], error, slope, c1, c2)


@jit
def reached(error: float, slope: float) -> float:
    """Up to which z the polynomial is used; 0 if it is not good enough."""
    if not (error < 0.1 and slope < _STEEPEST):
        return 0.0
    reach = _FARTHEST if error < 0.1 * _LEAST_BELL else math.sqrt(2.0 * math.log(0.1 / error))
    return reach if reach >= _NEAREST else 0.0


@jit
def index_bounds(frame: Floats, z: float, lowest: float, finely: bool) -> tuple[float, float]:
    """Between which numbers the index of the arm lies for this z, wide ones or as fine as can be;
    offsets from the bound, as that of the lowest reward."""
    reach = frame[REACH]
    if reach == 0.0:
        return lowest, 0.0
    near = min(max(z, -reach), reach)
    v = frame[_A0] + near * (frame[_A1] + near * (frame[_A2] + near * frame[_A3]))
    blur = frame[_BLUR] * math.exp(0.5 * near * near) if finely else frame[_WIDEST]
    return (lowest if z < near else v - blur), (0.0 if z > near else v + blur)


@shared
def make_window(window: Floats, frame: Floats, lowest: float, upper: float) -> None:
    """A straight line below the index of a leader with this frame, and for how long it will stay below it."""
    n, d = frame[_KNOWN] + 1.0, frame[_P1] / (frame[_KNOWN] + 1.0)
    s2 = frame[_P2] - frame[_P1] * d
    more = max(_LEAST_LONGER, n / _LONGER)
    most, unit = n + more, math.sqrt(s2 / (n * (n + 1.0)))
    least, highest = d - _BELOW * unit, d + _ABOVE * unit
    q2, q4 = frame[_P2] + 3.0 * more * s2 / n, 1.1 * frame[_P4]
    q3 = abs(frame[_P3]) + 0.05 * s2 * math.sqrt(s2 / n)
    # The sums about the mean d are P_2 - n d^2, P_3 - 3 d P_2 + 2 n d^3 and P_4 - 4 d P_3 + 6 d^2 P_2 - 3 n d^4; the
    # first of them grows with every reward.
    far = max(abs(least), abs(highest))
    squares = q2 - n * min(abs(least), abs(highest)) ** 2 if least * highest > 0.0 else q2
    cubes, fourths = q3 + far * (3.0 * q2 + 2.0 * most * far * far), q4 + far * (4.0 * q3 + 6.0 * far * q2)
    skew, kurtosis = cubes / s2 * math.sqrt(most / s2), most * fourths / (s2 * s2)
    widest, narrowest = math.sqrt(squares / (n * (n + 1.0))), math.sqrt(s2 / (most * (most + 1.0)))
    c1, c2 = skew / (3.0 * math.sqrt(n)), 0.25 * kurtosis / n
    largest = max(upper - frame[_ORIGIN] - least, frame[_ORIGIN] + highest - lowest) * math.sqrt(most / s2)
    error, slope = bounded_error(window[_WINDOW_HELD:], n, skew, kurtosis, largest, c1, c2)
    side = min(reached(error, slope), WIDEST_BOX)
    turn = side * max(widest - unit, unit - narrowest)
    window[FLOOR] = least + (frame[_ORIGIN] - upper) - widest * bend(side, error, slope, c1, c2) - turn
    window[UNIT], window[SIDE] = unit, side
    window[_MOST], window[_LEAST_MEAN], window[_MOST_MEAN], window[_LOWEST] = most, least, highest, lowest
    window[_Q2], window[_Q3], window[_Q4] = q2, q3, q4


@jit
def pulls_within(window: Floats, frame: Floats, block: Floats, lowest: float) -> int:
    """How many of the next rewards the leader may earn until its window has ended; -1 if it has already. The sums after
    them are kept."""
    origin, p1, p2, p3, p4 = frame[_ORIGIN], frame[_P1], frame[_P2], frame[_P3], frame[_P4]
    most, least, highest, low = window[_MOST], window[_LEAST_MEAN], window[_MOST_MEAN], window[_LOWEST]
    q2, q3, q4, n, last = window[_Q2], window[_Q3], window[_Q4], frame[_KNOWN] + 1.0, block.size
    for i in range(block.size + 1):
        within = least * n <= p1 <= highest * n and n <= most and lowest >= low
        if not (within and p2 <= q2 and abs(p3) <= q3 and p4 <= q4):
            last = i if i > 0 else -1
            break
        if i < block.size:
            p1, p2, p3, p4 = more_powers(p1, p2, p3, p4, block[i] - origin, 1.0)
            n, lowest = n + 1.0, min(lowest, block[i])
    window[_AFTER], window[_AFTER + 1], window[_AFTER + 2], window[_AFTER + 3] = p1, p2, p3, p4
    return last


@jit
def add_pulls(frames: Floats, leader: int, x: Floats, within: int) -> None:
    """Count those of the leader's rewards x that are new, mostly all those that were found to be within its window."""
    frame, window = frames[leader], frames[-1]
    if x.size == frame[_KNOWN] + within:
        frame[_P1], frame[_P2], frame[_P3] = window[_AFTER], window[_AFTER + 1], window[_AFTER + 2]
        frame[_P4], frame[_KNOWN] = window[_AFTER + 3], x.size
    else:
        add_rewards(frames, leader, x)
