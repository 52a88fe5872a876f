"""Distance of a distribution to those of larger CVaR: as for samples, but integrated exactly up to the quantile."""

import itertools
from typing import Any

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.numerics.cvar import cvar_kinf, tail_ceiling
from dirichlet_bandits.numerics.kinf import kinf
from dirichlet_bandits.theory.laws import as_atoms, continuous, nodes
from dirichlet_bandits.types import Floats

_QUANTILES = 64  # evaluated first, before the best of them is refined


def cvar_kinf_of(name: str, law: Any, target: float, level: float, upper: float) -> float:
    """Return the smallest divergence from a distribution to one on (-inf, upper] whose CVaR is at least the target.

    It is exact for discrete distributions. For others, the minimum over q of Kinf(q - (q - X)^+ / level, target; q) is
    searched among quantiles of the distribution first, then between the neighbors of the best.

    >>> from dirichlet_bandits import Uniform
    >>> round(cvar_kinf_of("law", Uniform(0.0, 1.0), 0.5, 0.5, 1.0), 6)
    0.259366
    """
    if hasattr(law, "atoms") or hasattr(law, "pmf"):
        values, chances = as_atoms(name, law)
        return cvar_kinf(values, target, level, upper, chances).value
    law = continuous(name, law)

    def distance(q: float) -> float:
        points, weights = _up_to(law, q)
        return kinf(tail_ceiling(points, level, q, q), target, q, weights).value

    first = float(law.cdf(target))
    grid = np.unique(np.append(law.ppf(np.linspace(first, 1.0, _QUANTILES + 2)[1:-1]), upper))
    grid = grid[(grid > target) & (grid <= upper)]
    found = [distance(float(q)) for q in grid]
    best = int(np.argmin(found))
    low = float(grid[best - 1]) if best else target
    high = float(grid[min(best + 1, grid.size - 1)])
    refined = scipy.optimize.minimize_scalar(
        lambda q: min(distance(q), found[best] + 1.0), bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    return float(min(found[best], refined.fun))


def _up_to(law: Any, q: float) -> tuple[Floats, Floats]:
    """Return points and weights that integrate over a distribution up to q, and one point q for all that is above."""
    end = float(law.cdf(q))
    levels = sorted({0.0, end, *(kink for kink in (law.kinks() if hasattr(law, "kinks") else ()) if kink < end)})
    pieces = [nodes(law, low, high) for low, high in itertools.pairwise(levels)]
    points, weights = (np.concatenate(part) for part in zip(*pieces, strict=True))
    if end < 1.0:
        points, weights = np.append(points, q), np.append(weights, 1.0 - end)
    positive = weights > 0.0
    return np.minimum(points[positive], q), weights[positive]
