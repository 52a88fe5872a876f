import math

import numpy as np
import pytest
from scipy import integrate, stats

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.theory.bounds import necessary_bonus, qds_condition


def dual_by_quadrature(law: object, target: float, alpha: float, tail: float, upper: float) -> float:
    """The truncated law's Kinf by adaptive integration and a grid search with refinement: no code shared."""
    cut = law.ppf(1 - alpha)  # type: ignore[attr-defined]
    low = law.ppf(1e-16)  # type: ignore[attr-defined]

    def dual(lam: float) -> float:
        body = integrate.quad(lambda x: law.pdf(x) * math.log1p(-lam * (x - target)), low, cut, limit=200, epsabs=1e-12)  # type: ignore[attr-defined]
        return float(body[0]) + alpha * math.log1p(-lam * (tail - target))

    left, right = 0.0, (1 - 1e-12) / (upper - target)
    for _ in range(8):
        grid = np.linspace(left, right, 13)
        best = int(np.argmax([dual(lam) for lam in grid]))
        left, right = grid[max(best - 1, 0)], grid[min(best + 1, 12)]
    return dual((left + right) / 2)


@pytest.mark.parametrize("alpha", [0.05, 0.3])
@pytest.mark.parametrize("rho", [1.0, 8.0])
def test_exponential(alpha: float, rho: float) -> None:
    theta, phi = 1 / 2, 1 / 3
    got = qds_condition(stats.expon(scale=1 / theta), 1 / phi, rho, alpha)
    tail = 1 / theta - math.log(alpha) / theta
    assert got.tail_mean == pytest.approx(tail, rel=1e-8)
    assert got.quantile == pytest.approx(-math.log(alpha) / theta, rel=1e-12)
    shortfall = 1 / phi - (1 - math.exp(-theta / phi)) / theta
    assert got.upper == pytest.approx(max(tail, 1 / phi + rho * shortfall), rel=1e-8)
    assert got.family == pytest.approx(
        theta / phi - 1 - math.log(theta / phi) if theta < phi else phi / theta - math.log(phi / theta) - 1
    )
    assert got.truncated == pytest.approx(dual_by_quadrature(stats.expon(scale=2), 3, alpha, tail, got.upper), rel=1e-6)
    assert got.holds == (got.truncated <= got.family)


@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_gaussian(alpha: float) -> None:
    got = qds_condition(stats.norm(0, 1), 1, 1, alpha)
    z = stats.norm.ppf(1 - alpha)
    tail = math.exp(-z * z / 2) / (alpha * math.sqrt(2 * math.pi))
    assert got.tail_mean == pytest.approx(tail, rel=1e-8)
    assert got.family == pytest.approx(0.5, rel=1e-9)
    assert got.upper == pytest.approx(max(tail, 1 + stats.norm.cdf(1) + stats.norm.pdf(1)), rel=1e-8)
    assert got.truncated == pytest.approx(dual_by_quadrature(stats.norm(0, 1), 1, alpha, tail, got.upper), rel=1e-6)


def test_any_law_with_its_divergence_given() -> None:
    law = stats.gamma(3)
    assert qds_condition(law, 4, 8, 0.05, family_divergence=0.2).family == 0.2
    with pytest.raises(ArgumentError, match="'family_divergence'"):
        qds_condition(law, 4, 8, 0.05)


def test_errors_name_the_argument() -> None:
    for target, rho, alpha, name in ((1, 8, 0.05, "target"), (3, 0, 0.05, "rho"), (3, 8, 1.0, "alpha")):
        with pytest.raises(ArgumentError, match=f"'{name}'"):
            qds_condition(stats.expon(scale=2), target, rho, alpha)


def test_necessary_bonus() -> None:
    law = stats.expon(scale=2)
    shortfall = 3 - 2 * (1 - math.exp(-1.5))
    assert necessary_bonus(law, 3) == pytest.approx(3 + shortfall / math.exp(-1.5), rel=1e-9)
    assert necessary_bonus(stats.uniform(), 1.5) == math.inf
    assert necessary_bonus(stats.uniform(), -1.0) == -1.0
