"""Draw from a distribution whose log-density is concave and slow to compute, mostly without computing it.

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
"""

import math
from typing import Any, Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.characteristic import below, density
from dirichlet_bandits.numerics.tolerances import CHARACTERISTIC_ERROR
from dirichlet_bandits.types import Records

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

    >>> from dirichlet_bandits.numerics.characteristic import learn, make_laws
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
