"""Draw from a distribution whose log-density is concave and slow to compute, mostly without computing it.

Tangents of the log-density at a few places lie above it and are easy to draw from, and chords between the places lie
below it. A draw from the tangents is kept with probability density/tangent. If it would already be kept with
probability chord/tangent, the density need not be computed (Gilks and Wild, 1992).
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.characteristic import below, density
from dirichlet_bandits.numerics.tolerances import CHARACTERISTIC_ERROR

_PLACES: Final = (-2.5, -1.5, -0.7, 0.0, 0.7, 1.5, 2.5)  # of the tangents, in standard deviations
_LAST: Final = len(_PLACES) - 1

# Rows of an envelope, in one array because Numba counts references: where tangents touch, log-density and its slope
# there, where the next tangent takes over, and the mass below the tangents up to there.
_AT, _VALUE, _SLOPE, _END, _MASS = range(5)


@jit
def make_envelopes(n_laws: int) -> np.ndarray:
    """Return space for this many distributions."""
    return np.zeros((n_laws, 5, len(_PLACES)))


@shared
def fit(envelope: np.ndarray, law: np.ndarray, mean: float, deviation: float) -> bool:
    """Fit tangents to a kept distribution; return False if it is inaccurate or not a bell of this mean and width.

    >>> from dirichlet_bandits.numerics.characteristic import learn, make_laws
    >>> x, law, envelope = np.linspace(0.0, 1.0, 1000), make_laws(1)[0], make_envelopes(1)[0]
    >>> learn(law, x, np.empty(0), 0.5, x.std())
    >>> fit(envelope, law, 0.5, x.std() / math.sqrt(1000))
    True
    >>> abs(draw(envelope, law, np.random.default_rng(0)) - 0.5) < 0.05
    True

    Reference: the docstring of this module.
    """
    at, value, slope, end, mass = envelope
    for j in range(_LAST + 1):
        at[j] = mean + _PLACES[j] * deviation
        f, change = density(law, at[j])
        if not f > 0.0:
            return False
        value[j], slope[j] = math.log(f), change / f
    if not (slope[0] > 0.0 > slope[_LAST]):
        return False
    total = 0.0
    for j in range(_LAST + 1):
        end[j] = math.inf
        if j < _LAST:
            wide = at[j + 1] - at[j]
            step = (value[j + 1] - value[j] - slope[j + 1] * wide) / (slope[j] - slope[j + 1])
            if not 0.0 <= step <= wide:
                return False
            end[j] = at[j] + step
        total += _mass(envelope, j)
        mass[j] = total
    return below(law, at[0])[1] <= CHARACTERISTIC_ERROR and below(law, at[_LAST])[1] <= CHARACTERISTIC_ERROR


@jit
def _mass(envelope: np.ndarray, j: int) -> float:
    """Return the mass below the j-th tangent, where it is the lowest."""
    end, slope = envelope[_END], envelope[_SLOPE, j]
    foot = end[j] if j == 0 else end[j - 1]
    height = math.exp(envelope[_VALUE, j] + slope * (foot - envelope[_AT, j]))
    if j == 0 or j == _LAST:
        return height / abs(slope)
    rise = slope * (end[j] - foot)
    return height * (math.expm1(rise) / slope if rise != 0.0 else end[j] - foot)


@jit
def _inside(envelope: np.ndarray, j: int, share: float) -> float:
    """Return where the j-th tangent has this share of its mass, counted from its foot."""
    end, slope = envelope[_END], envelope[_SLOPE, j]
    if j == 0:
        return end[0] + math.log(share) / slope
    if j == _LAST:
        return end[_LAST - 1] + math.log(share) / slope
    wide = end[j] - end[j - 1]
    rise = slope * wide
    return end[j - 1] + (math.log1p(share * math.expm1(rise)) / rise if rise != 0.0 else share) * wide


@jit
def draw(envelope: np.ndarray, law: np.ndarray, rng: np.random.Generator) -> float:
    """Draw from the distribution for which the envelope was fitted, which must still be kept; see :func:`fit`.

    Reference: the docstring of this module.
    """
    at, value, slope, mass = envelope[_AT], envelope[_VALUE], envelope[_SLOPE], envelope[_MASS]
    while True:
        u = rng.random() * mass[_LAST]
        j = 0
        while j < _LAST and u >= mass[j]:
            j += 1
        x = _inside(envelope, j, (mass[j] - u) / (mass[j] - mass[j - 1] if j > 0 else mass[0]))
        tangent = value[j] + slope[j] * (x - at[j])
        keep = rng.random()
        k = j if x >= at[j] else j - 1
        if 0 <= k < _LAST:
            chord = value[k] + (value[k + 1] - value[k]) * (x - at[k]) / (at[k + 1] - at[k])
            if keep < 1.0 + chord - tangent:  # at most exp(chord - tangent)
                return x
        if keep * math.exp(tangent) < density(law, x)[0]:
            return x
