"""One compiled sampler behind all built-in laws: a kind code and a row of parameters for each arm.

Because every bandit looks the same to the compiler, the simulation is compiled once for each policy and arms
of different laws can stand in one bandit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.numerics.jit import entry, fingerprint, jit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BERNOULLI, GAUSSIAN, EXPONENTIAL, UNIFORM, BETA, POISSON, CLIPPED_GAUSSIAN, MIXTURE, EMPIRICAL, FOREIGN = range(10)

N_PARAMETERS = 4


class ArmTable(NamedTuple):
    """The laws of K arms as plain arrays.

    ``rows[k]`` holds the parameters of arm k; laws of many numbers keep them in ``data[first[k] : last[k]]``.
    """

    kinds: Ints
    rows: Floats
    first: Ints
    last: Ints
    data: Floats


@jit
def draw(kind: int, row: Floats, data: Floats, rng: np.random.Generator) -> float:
    """One reward. ``data`` is the arm's own slice of the table."""
    if kind == EMPIRICAL:
        return data[int(rng.random() * data.size)]
    if kind == GAUSSIAN:
        return row[0] + row[1] * rng.standard_normal()
    if kind == BERNOULLI:
        return 1.0 if rng.random() < row[0] else 0.0
    if kind == EXPONENTIAL:
        return row[0] * rng.standard_exponential()
    if kind == UNIFORM:
        return row[0] + (row[1] - row[0]) * rng.random()
    if kind == BETA:
        return rng.beta(row[0], row[1])
    if kind == POISSON:
        return float(rng.poisson(row[0]))
    if kind == CLIPPED_GAUSSIAN:
        return min(max(row[0] + row[1] * rng.standard_normal(), row[2]), row[3])
    if kind == MIXTURE:  # data holds cumulative weights, then means, then standard deviations
        n = data.size // 3
        u = rng.random()
        i = 0
        while i < n - 1 and u >= data[i]:
            i += 1
        return data[n + i] + data[2 * n + i] * rng.standard_normal()
    return np.nan


@jit
def fill(kind: int, row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    """Rewards one after the other, so that block sizes leave no trace in the stream."""
    for i in range(out.size):
        out[i] = draw(kind, row, data, rng)


def _build_fill(stamp: str):  # type: ignore[no-untyped-def]
    @entry
    def fill_entry(kind: int, row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        fill(kind, row, data, rng, out)

    return fill_entry


fill_entry = _build_fill(fingerprint())
