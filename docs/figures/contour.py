"""Draws contour.png: the integrand of a crossing probability, and how fast the trapezoid rule converges."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from dirichlet_bandits.numerics.crossing import log_factor, log_upper_tail, multiply, saddle

NONE = np.empty(0)
STYLES = {
    2: ("#0072B2", "o"),
    5: ("#D55E00", "s"),
    50: ("#009E73", "^"),
    500: ("#CC79A7", "D"),
}  # Okabe and Ito


def integrand(offsets: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The real part of the integrand in x, so that its integral over x >= 0 is the probability."""
    top = float(offsets.max())
    e, width = saddle(offsets, NONE, top)
    y = width * np.sinh(x)
    out = np.empty((4, x.size))
    multiply(offsets, NONE, top, e, y, out[0], out[1], out[2], out[3])
    inverse = np.exp(1j * out[3] - out[2]) / (out[0] + 1j * out[1])  # may underflow to 0, which is right
    height = np.log1p(e) - sum(log_factor(a, top, e) for a in offsets)
    return np.exp(height) * (width * np.cosh(x) * inverse / (1 + 1j * y * (1 + e))).real / np.pi


def error(offsets: np.ndarray, nodes: int) -> float:
    """Relative error of the rule with so many nodes, for the best of several reaches."""
    exact = np.exp(log_upper_tail(offsets, NONE, float(offsets.max())))
    best = np.inf
    for reach in np.arange(1.5, 30.0, 0.25):
        x = np.linspace(0.0, reach, nodes)
        f = integrand(offsets, x)
        best = min(best, abs((f.sum() - 0.5 * f[0]) * (x[1] - x[0]) / exact - 1.0))
    return float(max(best, 1e-16))


def main() -> None:
    rng = np.random.default_rng(7)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for n, (color, marker) in STYLES.items():
        data = rng.gamma(2.0, 1.0, n)
        offsets = np.append(data, 1.5 * data.max()) - 1.2 * data.mean()
        x = np.linspace(0.0, 5.0, 400)
        f = integrand(offsets, x)
        left.plot(x, f / f[0], color=color, label=f"n = {n}")
        counts = np.arange(4, 66, 4)
        right.semilogy(
            counts,
            [error(offsets, int(k)) for k in counts],
            color=color,
            marker=marker,
            ms=4,
            label=f"n = {n}",
        )
    left.set(xlabel="x, where s = c + i width sinh(x)", ylabel="integrand, relative to x = 0")
    right.set(xlabel="nodes of the trapezoid rule", ylabel="relative error of p", ylim=(1e-17, 10))
    left.legend(frameon=False)
    right.legend(frameon=False)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
