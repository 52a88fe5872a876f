"""The regret that no good policy can avoid: the constants of Lai and Robbins, Burnetas and Katehakis."""

import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.environments.objective import CVaR, Mean, Objective
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.numerics.cvar import cvar_kinf, tail_ceiling
from dirichlet_bandits.numerics.divergences import FAMILIES
from dirichlet_bandits.numerics.kinf import kinf
from dirichlet_bandits.theory.laws import as_atoms, continuous, deviation, divergence_in_family, family_of, nodes
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number, positive_number

BoundFamily = Literal["bernoulli", "gaussian", "exponential", "poisson", "bounded"]


class LowerBound(NamedTuple):
    """A lower bound on the regret: the constant, and each arm's term gap/Kinf (0 for the best arms) and Kinf."""

    constant: float
    terms: Floats
    kinf: Floats
    family: str


def lower_bound(
    bandit: Any,
    family: BoundFamily,
    *,
    sigma: float | None = None,
    upper: float | None = None,
    objective: Objective | None = None,
) -> LowerBound:
    """Return the constant c of the asymptotic lower bound c log(t) on the regret of any uniformly good policy.

    c = sum over arms k with gap_k > 0 of  gap_k / Kinf_k,

    where Kinf_k is the smallest divergence from arm k to a distribution of the family whose mean reaches the best one:
    the family's own divergence d(mu_k, max mu), or for "bounded", the distributions on (-inf, upper], Kinf of the arm's
    distribution (exact for discrete ones, by quadrature over the quantiles for continuous ones).

    ``bandit`` is a Bandit or a sequence of distributions. ``sigma`` goes with "gaussian" (by default the arms' common
    standard deviation), ``upper`` with "bounded" (by default the upper end of the arms' support). ``objective`` is the
    bandit's own by default, or else the mean. With a CVaR, which requires "bounded", gaps are those of the CVaRs, and
    Kinf_k is the smallest divergence to a distribution whose CVaR reaches the best one.

    >>> from dirichlet_bandits import Bandit, Bernoulli, Gaussian
    >>> bound = lower_bound(Bandit([Gaussian(0.0, 1.0), Gaussian(0.5, 1.0)]), "gaussian")
    >>> bound.constant, bound.terms  # 2 sigma^2 / gap
    (4.0, array([4., 0.]))
    >>> round(lower_bound([Bernoulli(0.4), Bernoulli(0.5)], "bounded").constant, 6)
    4.96635
    >>> from dirichlet_bandits import CVaR
    >>> round(lower_bound([Bernoulli(0.4), Bernoulli(0.5)], "bounded", objective=CVaR(0.8)).constant, 6)
    6.207937

    Reference: Lai and Robbins (1985), Asymptotically efficient adaptive allocation rules; Burnetas and
    Katehakis (1996), Optimal adaptive policies for sequential allocation problems; for a CVaR, Baudry, Gautron,
    Kaufmann and Maillard (2021), Optimal Thompson sampling strategies for support-aware CVaR bandits.
    """
    laws = getattr(bandit, "arms", bandit)
    arms = tuple(laws) if isinstance(laws, list | tuple) else ()
    if not arms or not all(callable(getattr(arm, "mean", None)) for arm in arms):
        raise ArgumentError("bandit", "a Bandit, or a non-empty sequence of laws", bandit)
    if family not in (*FAMILIES, "bounded"):
        raise ArgumentError("family", one_of([*FAMILIES, "bounded"]), family)
    if sigma is not None and family != "gaussian":
        raise ArgumentError("sigma", "left out unless family is 'gaussian'", sigma)
    if upper is not None and family != "bounded":
        raise ArgumentError("upper", "left out unless family is 'bounded'", upper)
    chosen = _objective(bandit, family, objective)
    values = np.array([finite_number(f"{chosen.name} of arms[{k}]", chosen.value(arm)) for k, arm in enumerate(arms)])
    if family == "bounded":
        divergences = _bounded(arms, values, upper, chosen)
    else:
        divergences = _parametric(arms, values, family, sigma)
    gaps = values.max() - values
    terms = np.zeros(values.size)
    terms[gaps > 0.0] = gaps[gaps > 0.0] / divergences[gaps > 0.0]
    return LowerBound(float(terms.sum()), terms, divergences, family)


def evident_lower_bound(arms: Sequence[Any]) -> float | None:
    """Return the constant if all arms are of one of the four families (Gaussian ones with one deviation), else None.

    >>> from dirichlet_bandits import Gaussian, Poisson
    >>> evident_lower_bound([Gaussian(0.0, 1.0), Gaussian(0.5, 1.0)])
    4.0
    >>> evident_lower_bound([Gaussian(0.0, 1.0), Poisson(0.5)]) is None
    True
    """
    families = {family_of(arm) for arm in arms}
    family = families.pop()
    if families or family is None:
        return None
    if family == "gaussian" and len({deviation(arm) for arm in arms}) > 1:
        return None
    return lower_bound(arms, family).constant  # type: ignore[arg-type] # one of the four


def _objective(bandit: Any, family: str, objective: Objective | None) -> Mean | CVaR:
    """Return what makes an arm good, if a bound is known for it; raise otherwise."""
    chosen = getattr(bandit, "objective", Mean()) if objective is None else objective
    if not isinstance(chosen, Mean | CVaR):
        raise ArgumentError("objective", "Mean() or CVaR(level)", chosen)
    if isinstance(chosen, CVaR) and family != "bounded":
        raise ArgumentError("family", "'bounded' where the objective is a CVaR", family)
    return chosen


def _parametric(arms: Sequence[Any], means: Floats, family: str, sigma: float | None) -> Floats:
    for k, arm in enumerate(arms):
        if family_of(arm) != family and not (family == "bernoulli" and _is_coin(arm)):
            raise ArgumentError(f"arms[{k}]", f"a law of the family '{family}'", arm)
    if family != "gaussian":
        scale = 1.0
    elif sigma is not None:
        scale = positive_number("sigma", sigma)
    else:
        deviations = {deviation(arm) for arm in arms}
        if len(deviations) > 1:
            raise ArgumentError("sigma", "given when the arms' deviations differ", None)
        scale = deviations.pop()
    return np.array([divergence_in_family(family, scale, mean, means.max()) for mean in means])


def _is_coin(arm: Any) -> bool:
    """Whether all rewards are 0 or 1, whatever the distribution is called."""
    return hasattr(arm, "atoms") and bool(np.isin(arm.atoms()[0], (0.0, 1.0)).all())


def _bounded(arms: Sequence[Any], goods: Floats, upper: float | None, objective: Mean | CVaR) -> Floats:
    ends = [float(arm.support()[1]) if hasattr(arm, "support") else math.inf for arm in arms]
    bound = max(ends) if upper is None else finite_number("upper", upper)
    if bound == math.inf:
        raise ArgumentError("upper", "given, or else every arm's support bounded above", upper)
    result, target = np.zeros(goods.size), float(goods.max())
    for k, arm in enumerate(arms):
        values, chances = as_atoms(f"arms[{k}]", arm)
        if ends[k] > bound and values.max() > bound:
            raise ArgumentError(f"arms[{k}]", f"a law whose rewards do not exceed upper = {bound}", arm)
        if goods[k] < target and isinstance(objective, CVaR):
            result[k] = cvar_kinf_of(f"arms[{k}]", arm, target, float(objective.level), bound)
        elif goods[k] < target:
            result[k] = kinf(values, target, bound, chances).value
    return result


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
