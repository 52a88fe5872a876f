"""Crossing probabilities in high precision."""

from collections.abc import Sequence

import mpmath as mp
import numpy as np


def crossing_closed_form(values: Sequence[float], threshold: float) -> mp.mpf:
    """The paper's alternating sum, for distinct values and weights of 1; digits pay for the cancellation."""
    with mp.workdps(60 + 8 * len(values)):
        x = [mp.mpf(float(v)) for v in values]
        t = mp.mpf(float(threshold))
        total = mp.mpf(0)
        for i, xi in enumerate(x):
            if xi > t:
                total += (xi - t) ** (len(x) - 1) / mp.fprod(xi - xj for j, xj in enumerate(x) if j != i)
        return +total


def crossing_integer_weights(values: Sequence[float], threshold: float, weights: Sequence[int]) -> mp.mpf:
    """Ties and integer weights: the sum of the residues at the positive poles, each from a Taylor series.

    Around s = 1/a the factor (1 - s a)^(-k) is a pole of order k; the rest is analytic, and its coefficient
    of order k - 1 is found from the series of its logarithmic derivative.
    """
    merged: dict[float, int] = {}
    for v, w in zip(values, weights, strict=True):
        merged[float(v)] = merged.get(float(v), 0) + int(w)
    with mp.workdps(80 + 8 * sum(merged.values())):
        a = [(mp.mpf(v) - mp.mpf(float(threshold)), k) for v, k in merged.items() if v != float(threshold)]
        total = mp.mpf(0)
        for pole, order in a:
            if pole < 0:
                continue
            # s = (1 - d)/pole: 1 - s pole = d and 1 - s b = (1 - b/pole) (1 + d g), g = b/(pole - b)
            head = mp.mpf(1)
            rates = [(mp.mpf(-1), mp.mpf(1))]  # 1/s = pole/(1 - d)
            for other, k in a:
                if other != pole:
                    rest = 1 - other / pole
                    head *= rest ** (-k)
                    rates.append((other / pole / rest, mp.mpf(k)))
            # Coefficients of prod (1 + g d)^(-k), from n c_n = sum_m p_m c_(n-m), p_m = sum k (-1)^m g^m.
            powers = [mp.fsum(k * (-g) ** m for g, k in rates) for m in range(order)]
            series = [mp.mpf(1)]
            for n in range(1, order):
                series.append(mp.fsum(powers[m] * series[n - m] for m in range(1, n + 1)) / n)
            total += head * series[order - 1]
        return +total


def crossing_integral(values: Sequence[float], threshold: float, weights: Sequence[float]) -> mp.mpf:
    """Any positive weights: the contour integral itself, by mpmath's own quadrature in 30 digits."""
    with mp.workdps(30):
        a = [mp.mpf(float(v)) - mp.mpf(float(threshold)) for v in values]
        w = [mp.mpf(float(v)) for v in weights]
        c = 1 / max(a) / 2

        def integrand(x: mp.mpf) -> mp.mpf:
            s = mp.mpc(c, c * mp.sinh(x))
            return mp.re(
                mp.exp(-mp.fsum(wi * mp.log(1 - s * ai) for wi, ai in zip(w, a, strict=True))) / s * c * mp.cosh(x)
            )

        reach = 75 / mp.fsum(w) + 5
        return mp.quad(integrand, list(mp.linspace(0, reach, int(reach / 4) + 2))) / mp.pi


def crossing_draws(values: Sequence[float], threshold: float, weights: Sequence[float], draws: int, seed: int) -> float:
    """The definition itself: the share of Dirichlet draws that reach the threshold."""
    g = np.random.default_rng(seed).gamma(np.asarray(weights), size=(draws, len(weights)))
    return float(np.mean(g @ (np.asarray(values) - threshold) >= 0))
