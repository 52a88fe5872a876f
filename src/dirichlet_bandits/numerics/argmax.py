"""Compute which of several independent random variables is the largest, and with what probability.

    P(X_k is the largest) = integral of  prod_{j != k} F_j(v)  dF_k(v)

The distribution functions suffice: on a panel of Gauss-Lobatto nodes, F_k is differentiated as the polynomial
through its values, or through those of 1 - F_k, whichever is smaller and so keeps its digits. Panels are halved
until their last coefficients are negligible.

Random variables with finitely many values: binomial distributions, and which of several variables is the largest.

Probabilities are sums of positive terms, each right to a few units in its last place, however small it is.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import scipy

from dirichlet_bandits.compiler import shared
from dirichlet_bandits.numerics.tolerances import PANEL_AGREEMENT, PANEL_LIMIT, PANEL_NEGLIGIBLE, PANEL_ROUNDING
from dirichlet_bandits.types import Flags, Floats

Tails = Callable[[Floats], tuple[Floats, Floats]]

_NODES: Final = 16
_STEPS: Final = np.concatenate([-(2.0 ** np.arange(10, -1, -1)), [0.0], 2.0 ** np.arange(11)])  # edges, in widths


class RandomVariable(NamedTuple):
    """A random variable: its approximate location, and its tails P(X <= v) and P(X > v) for rows of values v.

    Neighbors in a row are close to each other. ``knots`` are points where the distribution function is not
    smooth, and ``rounding`` is the relative error of both tails. ``least`` is the smallest value, the only one that
    may have positive probability. A width of 0 makes it the constant ``center``.
    """

    center: float
    width: float
    tails: Tails
    knots: Floats = np.empty(0)
    rounding: float = float(np.finfo(np.float64).eps)
    least: float = -np.inf


def constant(value: float) -> RandomVariable:
    """Return the variable that always equals this value."""
    return RandomVariable(
        value, 0.0, lambda v: (np.where(v >= value, 1.0, 0.0), np.where(v >= value, 0.0, 1.0)), least=value
    )


def gaussian(mean: float, deviation: float) -> RandomVariable:
    """Return a normal variable."""

    def tails(v: Floats) -> tuple[Floats, Floats]:
        z = (v - mean) / deviation
        return scipy.special.ndtr(z), scipy.special.ndtr(-z)

    return RandomVariable(mean, deviation, tails)


def argmax_probabilities(variables: Sequence[RandomVariable]) -> Floats:
    """Return the probability that each of these independent variables is the largest; ties share theirs equally.

    The sum is 1 up to the error of the quadrature, so a caller can check it.

    >>> def uniform(high):
    ...     tails = lambda v: (np.clip(v / high, 0, 1), 1 - np.clip(v / high, 0, 1))
    ...     return RandomVariable(high / 2, high / 4, tails, np.array([0.0, high]))
    >>> argmax_probabilities([uniform(1.0), uniform(2.0)]).round(12)
    array([0.25, 0.75])
    >>> argmax_probabilities([constant(1.5), constant(1.5), uniform(2.0)])
    array([0.375, 0.375, 0.25 ])

    Reference: the docstring of this module.
    """
    chances = np.zeros(len(variables))
    moving = [k for k, variable in enumerate(variables) if variable.width > 0.0]
    floor = max(variable.least for variable in variables)
    if (
        floor > -np.inf or not moving
    ):  # below the floor there is no largest variable; at it are those whose least value it is
        tied = [k for k, variable in enumerate(variables) if variable.least == floor]
        chances[tied] = np.prod([variables[k].tails(np.array([[floor]]))[0] for k in moving]) / len(tied)
    if moving:
        chances[moving] += _integrals([variables[k] for k in moving], floor)
    return chances


def _integrals(variables: Sequence[RandomVariable], floor: float) -> Floats:
    """Return the integral for each variable over v > floor, from panels that are halved where necessary."""
    left, right, asked = _first_panels(variables, floor)
    value, error, rounding = _panels(variables, left, right, asked)
    while True:
        # Check all panels again: the first sums, and so the error allowed, may be far too large.
        allowed = np.maximum(PANEL_AGREEMENT * value.sum(axis=1, keepdims=True), rounding)
        rough = (error > allowed).any(axis=0)
        if not rough.any() or left.size > PANEL_LIMIT:
            break
        middle = 0.5 * (left + right)[rough]
        parts = np.concatenate([left[rough], middle]), np.concatenate([middle, right[rough]])
        asked_of_parts = np.tile(asked[:, rough], 2)
        new_value, new_error, new_rounding = _panels(variables, *parts, asked_of_parts)
        left = np.concatenate([left[~rough], parts[0]])
        right = np.concatenate([right[~rough], parts[1]])
        asked = np.concatenate([asked[:, ~rough], asked_of_parts], axis=1)
        value = np.concatenate([value[:, ~rough], new_value], axis=1)
        error = np.concatenate([error[:, ~rough], new_error], axis=1)
        rounding = np.concatenate([rounding[:, ~rough], new_rounding], axis=1)
    return np.maximum(value.sum(axis=1), 0.0)


def _first_panels(variables: Sequence[RandomVariable], floor: float) -> tuple[Floats, Floats, Flags]:
    """Return the panels that can matter between the edges of all variables, and which variables to evaluate on each.

    Distribution functions increase, so their values at the two ends bound each integral over a panel. A variable that
    lies below a panel, up to a negligible probability, and whose own integral there is negligible is not evaluated:
    P(X <= v) is 1.
    """
    edges = np.concatenate([np.append(x.center + x.width * _STEPS, x.knots) for x in variables])
    edges = np.unique(np.append(edges[edges > floor], floor if floor > -np.inf else edges.min()))
    below, above = _tails(variables, edges[:, None], np.ones((len(variables), edges.size), bool))
    below, above = below[:, :, 0], above[:, :, 0]
    rise = np.where(below[:, 1:] < 0.5, np.diff(below), -np.diff(above))
    most = rise * product_of_others(below[:, 1:])
    least = (rise * product_of_others(below[:, :-1])).sum(axis=1, keepdims=True)
    counts = most > PANEL_NEGLIGIBLE * least
    keep = counts.any(axis=0)
    asked = counts | (above[:, :-1] > PANEL_NEGLIGIBLE)
    return edges[:-1][keep], edges[1:][keep], asked[:, keep]


def _panels(
    variables: Sequence[RandomVariable], left: Floats, right: Floats, asked: Flags
) -> tuple[Floats, Floats, Floats]:
    """Return the integral over each panel for each variable, an estimate of its error, and the part due to rounding."""
    nodes, weights, slope, last = _RULE
    half = 0.5 * (right - left)[:, None]
    # Rounding must not push the first node below a value that has positive probability.
    v = np.clip(0.5 * (left + right)[:, None] + half * nodes, left[:, None], right[:, None])
    below, above = _tails(variables, v, asked)
    others = product_of_others(below)
    upper_half = below[:, :, :1] >= 0.5
    height = np.where(upper_half, above, below)
    density = np.where(upper_half, -1.0, 1.0) * (height @ slope.T)  # in units of the half width, which cancels
    integrand = density * others
    error = np.abs(integrand @ last.T).sum(axis=2)
    # Two sources: the rounding of a tail, and that of v where the tail is steep.
    of_tails = np.array([variable.rounding for variable in variables])[:, None, None] * height
    of_v = np.finfo(np.float64).eps * np.abs(v) / half * np.abs(density)
    return integrand @ weights, error, PANEL_ROUNDING * ((of_tails + of_v) * others).max(axis=2)


def _tails(variables: Sequence[RandomVariable], v: Floats, asked: Flags) -> tuple[Floats, Floats]:
    """Return P(X <= v) and P(X > v) for each variable; 1 and 0 in the rows in which it is not evaluated."""
    below, above = np.ones((len(variables), *v.shape)), np.zeros((len(variables), *v.shape))
    for k, variable in enumerate(variables):
        if asked[k].any():
            below[k, asked[k]], above[k, asked[k]] = variable.tails(v[asked[k]])
    return below, above


def product_of_others(below: Floats) -> Floats:
    """Return the product over all j != k for each k, without division because a factor may be 0."""
    ones = np.ones_like(below[:1])
    before = np.cumprod(np.concatenate([ones, below[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([ones, below[:0:-1]]), axis=0)[::-1]
    return np.asarray(before * after)


def _rule() -> tuple[Floats, Floats, Floats, Floats]:
    """Return nodes and weights on [-1, 1], the differentiation matrix, and the rows for the last two coefficients.

    Gauss-Lobatto nodes include both ends, so they see a thin layer at an end of a panel.
    """
    legendre = np.polynomial.legendre
    last = legendre.Legendre.basis(_NODES - 1)
    nodes = np.concatenate([[-1.0], np.sort(last.deriv().roots().real), [1.0]])
    coefficients = np.linalg.inv(legendre.legvander(nodes, _NODES - 1))
    derivatives = np.array([legendre.legval(nodes, legendre.legder(row)) for row in np.eye(_NODES)])
    return nodes, 2.0 * coefficients[0], derivatives.T @ coefficients, coefficients[-2:]


_RULE: Final = _rule()


_LOG_UNDERFLOW: Final = 690.0  # exp(-690) is 1e-300; rarer values are left out


class Discrete(NamedTuple):
    """A random variable with finitely many values, in any order, and their probabilities; values may repeat."""

    values: Floats
    chances: Floats


def binomial_law(n: int, p: float) -> tuple[int, Floats]:
    """Return the first of some consecutive numbers of heads among n coins, and the probabilities of these numbers.

    By Bernstein's inequality, all other numbers together have a probability below 1e-300. From the mode on, each
    probability follows from that of its neighbor.

    >>> binomial_law(3, 0.5)
    (0, array([0.125, 0.375, 0.375, 0.125]))

    Reference: Bernstein's inequality, for instance in Boucheron, Lugosi and Massart (2013), section 2.8.
    """
    if p <= 0.0 or p >= 1.0:
        return (0 if p <= 0.0 else n), np.ones(1)
    third = _LOG_UNDERFLOW / 3.0
    reach = third + math.sqrt(third**2 + 2.0 * _LOG_UNDERFLOW * n * p * (1.0 - p))
    first, last = max(math.floor(n * p - reach), 0), min(math.ceil(n * p + reach), n)
    mode = min(max(int((n + 1) * p), first), last)
    odds = p / (1.0 - p)
    up, down = np.arange(mode, last), np.arange(mode, first, -1)
    rising, falling = np.cumprod((n - up) / (up + 1.0) * odds), np.cumprod(down / (n - down + 1.0) / odds)
    chances = np.concatenate([falling[::-1], [1.0], rising])
    return first, chances / chances.sum()


@shared
def log_binomial(n: int, level: float) -> Floats:
    """Return the logarithms of the probabilities of 0, 1, ..., n successes, by ratios from the mode, then normalized.

    >>> np.exp(log_binomial(2, 0.5)).round(12)
    array([0.25, 0.5 , 0.25])

    Reference: Loader (2000), Fast and accurate computation of binomial probabilities, on why not to use factorials.
    """
    logs = np.full(n + 1, -math.inf)
    if level >= 1.0:
        logs[n] = 0.0
        return logs
    mode = min(int((n + 1) * level), n)
    logs[mode] = 0.0
    odds = level / (1.0 - level)
    for k in range(mode, n):
        logs[k + 1] = logs[k] + math.log((n - k) / (k + 1.0) * odds)
    for k in range(mode, 0, -1):
        logs[k - 1] = logs[k] + math.log(k / (n - k + 1.0) / odds)
    total = 0.0
    for k in range(n + 1):
        total += math.exp(logs[k])
    total = math.log(total)
    for k in range(n + 1):
        logs[k] -= total
    return logs


def discrete_argmax_probabilities(variables: Sequence[Discrete]) -> Floats:
    """Return the probability that each of these independent variables is the largest, with ties broken at random.

    Ties are broken as if by independent uniform variables: among variables of value v, the largest of these wins, so

        P(k) = sum over v of  P(X_k = v)  integral over u in [0, 1] of  prod_{j != k} (P(X_j < v) + u P(X_j = v)),

    where the integrand is a polynomial in u, which Gauss's rule integrates exactly.

    >>> coin, dice = Discrete(np.array([0.0, 1.0]), np.full(2, 1 / 2)), Discrete(np.arange(1.0, 7.0), np.full(6, 1 / 6))
    >>> discrete_argmax_probabilities([coin, coin, dice]).round(6)
    array([0.034722, 0.034722, 0.930556])

    Reference: the formula above.
    """
    points = np.unique(np.concatenate([x.values for x in variables]))
    points = points[points >= max(x.values.min() for x in variables)]  # nothing less can be the largest
    at, below = np.zeros((len(variables), points.size)), np.empty((len(variables), points.size))
    for k, (values, chances) in enumerate(variables):
        high = values >= points[0]
        np.add.at(at[k], np.searchsorted(points, values[high]), chances[high])
        below[k] = np.concatenate([[0.0], np.cumsum(at[k])[:-1]]) + chances[~high].sum()
    tied = (at > 0.0).sum(axis=0) > 1
    found = (at[:, ~tied] * product_of_others(below[:, ~tied])).sum(axis=1)
    at, below = at[:, tied], below[:, tied]
    nodes, weights = np.polynomial.legendre.leggauss((len(variables) + 1) // 2)
    for node, weight in zip(0.5 + 0.5 * nodes, 0.5 * weights, strict=True):
        found += weight * (at * product_of_others(below + node * at)).sum(axis=1)
    return np.asarray(found)
