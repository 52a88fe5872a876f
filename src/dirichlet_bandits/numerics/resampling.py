"""The distribution function of a reweighted mean of many rewards, updated with every reward.

The probability that the mean exceeds m is an integral of a product with one factor per reward. We keep this product at
a few nodes, so a new reward costs one multiplication per node, and a probability costs one sum over the nodes.

Primes denote values shifted by a reference near the mean. For n rewards and a bonus (together x_0 ... x_n), the
crossing integral of :mod:`contour` may be taken on the imaginary axis:

    P(mean >= m) = 1/2 + 1/pi * integral over y > 0 of  Im[ (1 - i y m')^n prod_i (1 - i y x_i')^(-1) ] / y  dy.

The integrand is nearly Gaussian and the midpoint rule is nearly exact: its error comes from probabilities farther than
2 pi/step away. Unlike a kept contour, it covers the middle of the distribution, to an absolute error, and no reward can
put a pole in its way. The density is minus the derivative in m.

Draw from a distribution whose log-density is concave and slow to compute, mostly without computing it.

The distribution is close to a normal one, so in the middle, a normal variable is proposed; in the tails, an exponential
one. A proposal is kept with probability density/ceiling, where the ceiling is proportional to the density of the
proposal and lies above that of the distribution:

1. Tangents of the log-density at a few places lie above it.
2. In the middle, the ceiling is the logarithm of the normal density plus a constant. Between two places where tangents
   meet, a tangent minus a parabola that opens downward is convex. So the ceiling lies above all tangents in the middle
   if it does so where they meet and at both ends.
3. In the tails, the ceiling is the outermost tangent.

Chords between the places lie below the log-density. If a proposal would already be kept with probability chord/ceiling,
the density need not be computed (Gilks and Wild, 1992).

Draw reweighted means of an arm's rewards from their distribution, without drawing one weight per reward.

Split a sample with Dirichlet weights into two groups. Each group's own reweighted mean is independent of its weight,
which is a gamma variable of the group's size. So all old rewards enter by two draws: their mean, whose distribution is
kept, and their weight. New rewards are drawn one by one, and join the old ones when that has become cheaper.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_sum, shared
from dirichlet_bandits.numerics.arrays import set_all, sum_of
from dirichlet_bandits.numerics.contour import product_times_power
from dirichlet_bandits.numerics.costs import LAW_COST, LAW_LEAST, LAW_PATIENCE
from dirichlet_bandits.numerics.tolerances import CHARACTERISTIC_ERROR
from dirichlet_bandits.types import Floats, Ints, Records

NODES: Final = 32
_STEP: Final = 0.36  # the largest in use, in standard deviations of the integrand; grows with the square root of n
_MANY: Final = 4000  # from this many rewards on, the nodes are used until the number has doubled; with fewer rewards,
_GROWTH: Final = 1.2  # only until it has grown by this factor, because the integrand then reaches farther
_AT_ONCE: Final = 64  # factors that are multiplied before the product might overflow

# Sines of frequencies pi and 3/4 pi in the number of the node plus one half.
_WAVES: Final = np.array([[math.sin(math.pi * f * (j + 0.5)) for j in range(NODES)] for f in (1.0, 0.75)])

LAW: Final = np.dtype(
    [
        ("reference", np.float64),
        ("limit", np.float64),  # the number of rewards up to which the nodes are used; 0 before the first reward
        ("known", np.int64),  # rewards in the product
        ("total", np.float64),  # all factors, including the bonus
        ("y", np.float64, (NODES,)),
        ("real", np.float64, (NODES,)),  # the data's product at the nodes
        ("imag", np.float64, (NODES,)),
        ("work", np.float64, (4, NODES)),  # scratch space
    ],
    align=True,
)


@jit
def make_laws(n_laws: int) -> Records:
    """Return records ``LAW`` for this many distributions, all empty."""
    return np.zeros(n_laws, LAW)


@shared
def learn(law: Any, x: Floats, bonus: Floats, mean: float, deviation: float) -> None:
    """Learn all rewards x so far and the bonus, if any; the mean and deviation of x place new nodes when needed."""
    if not law.known <= x.size <= law.limit:
        growth = 2.0 if x.size >= _MANY else _GROWTH
        law.reference, law.limit, law.known = mean, growth * x.size, 0
        y = law.y
        for j in range(NODES):
            y[j] = _STEP * (j + 0.5) / (deviation * math.sqrt(growth * x.size))
        set_all(law.real, 1.0)
        set_all(law.imag, 0.0)
        _multiply(law, bonus)
    for first in range(law.known, x.size, _AT_ONCE):
        _multiply(law, x[first : first + _AT_ONCE])
    law.known, law.total = x.size, x.size + bonus.size


@jit
def _multiply(law: Any, x: Floats) -> None:
    """Divide the product by a few factors 1 - i y x'."""
    y, real, imag, work, reference = law.y, law.real, law.imag, law.work, law.reference
    c, d = work[0], work[1]
    set_all(c, 1.0)
    set_all(d, 0.0)
    for i in range(0, x.size, 2):  # two factors at once: 1 - y^2 a b - i y (a + b)
        a = x[i] - reference
        b = x[i + 1] - reference if i + 1 < x.size else 0.0
        for j in range(NODES):
            u = 1.0 - y[j] * y[j] * (a * b)
            t = y[j] * (a + b)
            c[j], d[j] = c[j] * u + d[j] * t, d[j] * u - c[j] * t
    for j in range(NODES):
        size = c[j] * c[j] + d[j] * d[j]
        r, i = real[j], imag[j]
        real[j] = (r * c[j] + i * d[j]) / size
        imag[j] = (i * c[j] - r * d[j]) / size


@shared
def below(law: Any, m: float) -> tuple[float, float]:
    """Return P(mean < m) and an estimate of its absolute error.

    With D = pi/step, the same nodes give the probabilities A and B of being farther from m than D and 3/4 D. The
    error is the probability of being farther than 2 D. Because the tails of log-concave distributions fall ever
    faster, it is at most A (A/B)^4. The last term estimates the tail of the integral.

    >>> law = make_laws(1)[0]
    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> learn(law, x[:999], x[999:], 0.5, x.std())  # symmetric about 0.5
    >>> p, error = below(law, 0.5)
    >>> abs(p - 0.5) < 1e-12, error < 1e-12
    (True, True)

    Reference: Davies (1973), Numerical inversion of a characteristic function.
    """
    c, d = product_times_power(law, m - law.reference, law.total - 1.0)
    total = far = less_far = 0.0
    for j in range(NODES):
        total += d[j] / (j + 0.5)
        far += c[j] / (j + 0.5) * _WAVES[0, j]
        less_far += c[j] / (j + 0.5) * _WAVES[1, j]
    far, less_far = abs(1.0 - 2.0 / math.pi * far), abs(1.0 - 2.0 / math.pi * less_far)
    last = (abs(c[-1]) + abs(d[-1])) / NODES
    return 0.5 - total / math.pi, far * min(far / less_far, 1.0) ** 4 + last


@shared
def density(law: Any, m: float) -> tuple[float, float]:
    """Return the density of the mean at m and its derivative there, with the precision of :func:`below`.

    >>> law = make_laws(1)[0]
    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> learn(law, x, np.empty(0), 0.5, x.std())
    >>> f, slope = density(law, 0.49)
    >>> step = (below(law, 0.491)[0] - below(law, 0.489)[0]) / 0.002
    >>> abs(f / step - 1.0) < 1e-2, slope > 0.0
    (True, True)

    Reference: see :func:`below`.
    """
    y, total, shifted = law.y, law.total, m - law.reference
    c, d = product_times_power(law, shifted, total - 3.0)
    f = slope = 0.0
    for j in range(NODES):
        f += c[j] + d[j] * (y[j] * shifted)  # the real part after one more factor 1 - i y m'
        slope += d[j] * y[j]
    share = 2.0 * y[0] * (total - 1.0) / math.pi  # the nodes are 2 y[0] apart
    return share * f, share * (total - 2.0) * slope


_REACH: Final = 2.2  # the middle, in standard deviations from the mean
_LAST: Final = 8  # number of the last place, counted from 0
_WIDE: Final = 2.0 * _REACH / _LAST  # between two places
_BELL: Final = math.sqrt(2.0 * math.pi) * math.erf(_REACH * math.sqrt(0.5))  # mass of exp(-z^2/2) in the middle

ENVELOPE: Final = np.dtype(
    [
        ("mean", np.float64),
        ("deviation", np.float64),  # the unit of slopes and masses
        ("top", np.float64),  # the ceiling at the mean
        ("middle", np.float64),  # masses below the ceiling: in the middle, and in the tails
        ("low", np.float64),
        ("high", np.float64),
        ("value", np.float64, (_LAST + 1,)),  # the log-density at the places, and its slope there
        ("slope", np.float64, (_LAST + 1,)),
    ],
    align=True,
)


@jit
def make_envelopes(n_laws: int) -> Records:
    """Return records ``ENVELOPE`` for this many distributions."""
    return np.zeros(n_laws, ENVELOPE)


@shared
def fit(envelope: Any, law: Any, mean: float, deviation: float) -> bool:
    """Fit a ceiling to a kept distribution; return False if it is inaccurate or not a bell of this mean and width.

    >>> from dirichlet_bandits.numerics.resampling import learn, make_laws
    >>> x, law, envelope = np.linspace(0.0, 1.0, 1000), make_laws(1)[0], make_envelopes(1)[0]
    >>> learn(law, x, np.empty(0), 0.5, x.std())
    >>> fit(envelope, law, 0.5, x.std() / math.sqrt(1000))
    True
    >>> abs(draw(envelope, law, np.random.default_rng(0)) - 0.5) < 0.05
    True

    Reference: the docstring of this module.
    """
    value, slope = envelope.value, envelope.slope
    for j in range(_LAST + 1):
        f, change = density(law, mean + (j * _WIDE - _REACH) * deviation)
        if not f > 0.0:
            return False
        value[j], slope[j] = math.log(f), change / f * deviation  # step 1
    if not (slope[0] > 0.0 > slope[_LAST]):
        return False
    top = max(value[0], value[_LAST]) + 0.5 * _REACH * _REACH
    for j in range(_LAST):
        step = (value[j + 1] - value[j] - slope[j + 1] * _WIDE) / (slope[j] - slope[j + 1])
        if not 0.0 <= step <= _WIDE:
            return False
        z = j * _WIDE - _REACH + step
        top = max(top, value[j] + slope[j] * step + 0.5 * z * z)  # step 2
    envelope.mean, envelope.deviation, envelope.top, envelope.middle = mean, deviation, top, math.exp(top) * _BELL
    envelope.low, envelope.high = math.exp(value[0]) / slope[0], -math.exp(value[_LAST]) / slope[_LAST]  # step 3
    room = _REACH * deviation
    return below(law, mean - room)[1] <= CHARACTERISTIC_ERROR and below(law, mean + room)[1] <= CHARACTERISTIC_ERROR


@jit
def draw(envelope: Any, law: Any, rng: np.random.Generator) -> float:
    """Draw from the distribution for which the envelope was fitted, which must still be kept; see :func:`fit`.

    Reference: the docstring of this module.
    """
    value, slope = envelope.value, envelope.slope
    while True:
        u = rng.random() * (envelope.middle + envelope.low + envelope.high)
        if u < envelope.middle:
            z = rng.standard_normal()
            while abs(z) >= _REACH:
                z = rng.standard_normal()
            keep, ceiling = u / envelope.middle, envelope.top - 0.5 * z * z
            place = (z + _REACH) * (1.0 / _WIDE)
            k = min(int(place), _LAST - 1)
            chord = value[k] + (value[k + 1] - value[k]) * (place - k)
            if keep < 1.0 + chord - ceiling:  # at most exp(chord - ceiling)
                return envelope.mean + envelope.deviation * z
        else:
            j = 0 if u < envelope.middle + envelope.low else _LAST
            beyond, keep = rng.standard_exponential(), rng.random()
            z, ceiling = j * _WIDE - _REACH - beyond / slope[j], value[j] - beyond
        x = envelope.mean + envelope.deviation * z
        if keep * math.exp(ceiling) < density(law, x)[0]:
            return x


class Groups(NamedTuple):
    """The old rewards of each arm, summarized by the distribution of their reweighted mean.

    ``old`` is their number (0 where no distribution is known), and ``paid`` is the number of exponentials that new
    rewards have cost since. ``bonus`` is counted among the old rewards, if there is one.
    """

    bonus: Floats
    laws: Records
    envelopes: Records
    old: Ints
    paid: Ints


@shared
def make_groups(n_arms: int, bonus: Floats) -> Groups:
    """Return groups without old rewards."""
    old, paid = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return Groups(bonus, make_laws(n_arms), make_envelopes(n_arms), old, paid)


@jit_sum
def squares_about(x: Floats, center: float) -> float:
    """Return the sum of squared distances to the center."""
    total = 0.0
    for i in range(x.size):
        total += (x[i] - center) * (x[i] - center)
    return total


@jit
def learn_law(groups: Groups, arm: int, x: Floats, mean: float, deviation: float) -> Any:
    """Return the distribution of the reweighted mean of all rewards x; an envelope fitted to fewer is discarded."""
    if groups.old[arm] != x.size:
        groups.old[arm], groups.paid[arm] = 0, LAW_COST
        learn(groups.laws[arm], x, groups.bonus, mean, deviation)
    return groups.laws[arm]


@jit
def is_due(groups: Groups, arm: int, size: int) -> bool:
    """Whether the next draw counts all rewards, of this number, as old."""
    return groups.paid[arm] >= LAW_COST and size >= LAW_LEAST


@shared
def regroup(groups: Groups, arm: int, x: Floats, mean: float) -> None:
    """Count all rewards as old from now on."""
    deviation = math.sqrt(squares_about(x, mean) / x.size)
    law = learn_law(groups, arm, x, mean, deviation)
    size = x.size + groups.bonus.size
    center = mean + (sum_of(groups.bonus) - groups.bonus.size * mean) / size
    fits = fit(groups.envelopes[arm], law, center, deviation / math.sqrt(size))
    groups.old[arm], groups.paid[arm] = (x.size, 0) if fits else (0, -LAW_PATIENCE * LAW_COST)


@jit
def forget_group(groups: Groups, arm: int) -> None:
    """Count no rewards of the arm as old, for example because they have moved."""
    groups.old[arm], groups.paid[arm] = 0, 0
    groups.laws[arm].limit = 0.0


@jit
def weighted_sum(
    groups: Groups, arm: int, x: Floats, mean: float, origin: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Draw sum_i E_i (x_i - origin) and sum_i E_i for exponential E_i, with the right joint distribution.

    The bonus is among the x_i.
    """
    if is_due(groups, arm, x.size):
        regroup(groups, arm, x, mean)
    old, total, weights = groups.old[arm], 0.0, 0.0
    if old > 0:
        weights = rng.standard_gamma(float(old + groups.bonus.size))
        total = weights * (draw(groups.envelopes[arm], groups.laws[arm], rng) - origin)
    else:
        for value in groups.bonus:
            weight = rng.standard_exponential()
            total += weight * (value - origin)
            weights += weight
    for i in range(old, x.size):
        weight = rng.standard_exponential()
        total += weight * (x[i] - origin)
        weights += weight
    groups.paid[arm] += x.size - old
    return total, weights
