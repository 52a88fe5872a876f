"""Densities of means of a few values with weights that are uniformly distributed on a simplex: B-splines.

Such a mean is a linear image of the uniform distribution on a simplex, so its density is the B-spline whose knots are
the values, normalized to integral 1 (Curry and Schoenberg). With sorted knots t_0 <= ... <= t_n,

    M_{i,1}(v) = 1 / (t_{i+1} - t_i)  on [t_i, t_{i+1}),  else 0,
    M_{i,k}(v) = k/(k-1) ((v - t_i) M_{i,k-1}(v) + (t_{i+k} - v) M_{i+1,k-1}(v)) / (t_{i+k} - t_i),

and the density is M_{0,n}. No term is negative, so rounding is relative, however small the density is.

Reference: de Boor, On calculating with B-splines (1972).
"""

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.arrays import interval
from dirichlet_bandits.types import Floats


@jit
def knot_gaps(knots: Floats, inverse: Floats) -> None:
    """Write 1 / (t_{i+k} - t_i) to ``inverse[k, i]``, 0 for equal knots."""
    n = knots.size - 1
    for k in range(1, n + 1):
        for i in range(n - k + 1):
            gap = knots[i + k] - knots[i]
            inverse[k, i] = 1.0 / gap if gap > 0.0 else 0.0


@jit
def spline_densities(knots: Floats, inverse: Floats, work: Floats, v: Floats, density: Floats) -> None:
    """Write the density at points v between the first and the last knot, all at once.

    ``work`` has a row per knot and a column per point.

    >>> import numpy as np
    >>> knots = np.array([0.0, 0.0, 0.0, 1.0])  # the weight of the last value is Beta(1, 3)
    >>> inverse, work, density = np.empty((4, 4)), np.empty((4, 2)), np.empty(2)
    >>> knot_gaps(knots, inverse)
    >>> spline_densities(knots, inverse, work, np.array([0.1, 0.5]), density)
    >>> density.round(12)  # 3 (1 - v)^2
    array([2.43, 0.75])

    Reference: the docstring of this module.
    """
    n = knots.size - 1
    first, last = n - 1, 0
    for m in range(v.size):
        place = interval(knots, v[m], 0, n)
        first, last = min(first, place), max(last, place)
    for i in range(n + 1):
        for m in range(v.size):
            work[i, m] = 0.0
    for m in range(v.size):
        place = interval(knots, v[m], 0, n)
        work[place, m] = inverse[1, place]
    for k in range(2, n + 1):
        for i in range(max(0, first - k + 1), min(last, n - k) + 1):
            left, right, share, this, other = knots[i], knots[i + k], inverse[k, i], work[i], work[i + 1]
            for m in range(v.size):
                this[m] = ((v[m] - left) * this[m] + (right - v[m]) * other[m]) * share
    for m in range(v.size):
        density[m] = n * work[0, m]  # the factors k/(k-1) together
