"""Replace a large sample by a few weighted points that give the same crossing probabilities.

A crossing probability depends on the data only through sums of log(1 - z x_i), which are analytic in x. The Gauss
quadrature rule of the empirical distribution, with n_nodes points and positive weights, integrates polynomials of
degree 2 n_nodes - 1 exactly, and such functions with an error that decreases exponentially in n_nodes.
"""

import math

import numpy as np

from dirichlet_bandits.compiler import entry_point
from dirichlet_bandits.numerics.tolerances import COMPRESSED_NODES, LANCZOS_END
from dirichlet_bandits.types import Floats


def compress(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return points and weights that replace the values, with equal moments up to order 2 * COMPRESSED_NODES - 1.

    Empty `weights` mean that all are 1. The points are the eigenvalues of the tridiagonal matrix that the Lanczos
    process makes of the values, seen as a diagonal matrix; a weight is the total times the square of the eigenvector's
    first component. Small samples are returned unchanged. Where crossing probabilities exceed exp(-60), they agree with
    those of the full sample to about 5e-12; far out in heavy tails (exp(-200) and beyond), they do not.

    >>> points, weights = compress(np.tile(np.array([0.0, 1.0, 5.0]), 100), np.empty(0))
    >>> points.round(9) + 0.0, weights.round(9)
    (array([0., 1., 5.]), array([100., 100., 100.]))

    Reference: Golub and Meurant (2010), Matrices, moments and quadrature with applications.
    """
    masses = weights.copy() if weights.size > 0 else np.ones(values.size)
    total = float(masses.cumsum()[-1])  # in their order, like every sum here, so that a replay gives the same bits
    low, top = float(values.min()), float(values.max())
    if low == top:
        return np.full(1, low), np.full(1, total)
    if values.size <= 2 * COMPRESSED_NODES:
        return values.copy(), masses
    center, scale = low + 0.5 * (top - low), 0.5 * (top - low)
    # NumPy's function: Numba's would first import a large part of SciPy.
    points, vectors = np.linalg.eigh(_tridiagonal(values, np.sqrt(masses / total), center, scale))
    found = total * np.square(vectors[0]) + LANCZOS_END
    # Rounding must not move a point outside the data, or the index could exceed its true range.
    return np.minimum(np.maximum(center + scale * points, low), top), found * (total / found.cumsum()[-1])


@entry_point
def _tridiagonal(values: Floats, new: Floats, center: float, scale: float) -> Floats:
    """Return the Lanczos matrix of the values, shifted and scaled, from a first vector, which is overwritten."""
    matrix = np.zeros((COMPRESSED_NODES, COMPRESSED_NODES))
    old = np.zeros(values.size)
    size = 0
    coupling = 0.0
    while size < COMPRESSED_NODES:
        diagonal = 0.0
        for i in range(values.size):
            diagonal += new[i] * new[i] * ((values[i] - center) / scale)
        square = 0.0
        for i in range(values.size):
            rest = ((values[i] - center) / scale - diagonal) * new[i] - coupling * old[i]
            old[i] = new[i]
            new[i] = rest
            square += rest * rest
        matrix[size, size] = diagonal
        size += 1
        coupling = math.sqrt(square)
        if coupling < LANCZOS_END or size == COMPRESSED_NODES:
            break
        matrix[size, size - 1] = matrix[size - 1, size] = coupling
        for i in range(values.size):
            new[i] /= coupling
    return matrix[:size, :size]
