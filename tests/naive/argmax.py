"""Which of several independent variables is the largest: a sum over a fine grid."""

import numpy as np
from scipy import special


def normal(mean, deviation):
    def law(v):
        z = (v - mean) / deviation
        return np.exp(-(z**2) / 2) / deviation / np.sqrt(2 * np.pi), special.ndtr(z)

    return law, mean, deviation


def logit_beta(a, b):
    def law(v):
        log_density = a * special.log_expit(v) + b * special.log_expit(-v) - special.betaln(a, b)
        return np.exp(log_density), special.betainc(a, b, special.expit(v))

    return law, np.log(a / b), np.sqrt(1 / a + 1 / b)


def log_gamma(shape, rate):
    def law(v):
        g = rate * np.exp(v)
        return np.exp(shape * np.log(g) - g - special.gammaln(shape)), special.gammainc(shape, g)

    return law, np.log(shape / rate), 1 / np.sqrt(shape)


def log_inverse_gamma(total, shape):
    def law(v):
        g = total * np.exp(-v)
        return np.exp(shape * np.log(g) - g - special.gammaln(shape)), special.gammaincc(shape, g)

    return law, np.log(total / shape), 1 / np.sqrt(shape)


FAMILIES = (normal, logit_beta, log_gamma, log_inverse_gamma)


def argmax_on_a_grid(family, first, second, low, high, nodes=100_000):
    """Trapezoids between two points beyond which nothing counts."""
    v = np.linspace(low, high, nodes)
    densities, below = zip(*(family(a, b)[0](v) for a, b in zip(first, second, strict=True)), strict=True)
    products = (np.prod([f for j, f in enumerate(below) if j != k], axis=0) for k in range(len(first)))
    return np.array([(f * rest).sum() for f, rest in zip(densities, products, strict=True)]) * (v[1] - v[0])
