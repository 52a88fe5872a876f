"""One compiled sampler behind all built-in laws: a :class:`Kind` and a row of parameters for each arm.

Because every bandit looks the same to the compiler, the simulation is compiled once for each policy and arms
of different laws can stand in one bandit.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compilation import entry_point, shared
from dirichlet_bandits.types import Floats, Ints


class Kind(IntEnum):
    """Which law an arm has; a foreign one is drawn by Python, in advance."""

    BERNOULLI = 0
    GAUSSIAN = 1
    EXPONENTIAL = 2
    UNIFORM = 3
    BETA = 4
    POISSON = 5
    CLIPPED_GAUSSIAN = 6
    MIXTURE = 7
    EMPIRICAL = 8
    FOREIGN = 9


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


@shared
def fill(kind: int, row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    """Rewards one after the other, so that block sizes leave no trace in the stream.

    ``data`` is the arm's own slice of the table. A loop for each law: what is known before a loop costs nothing in it.
    """
    a, b, low, high = row[0], row[1], row[2], row[3]
    if kind == Kind.EMPIRICAL:
        for i in range(out.size):
            out[i] = data[int(rng.random() * data.size)]
    elif kind == Kind.GAUSSIAN:
        for i in range(out.size):
            out[i] = a + b * rng.standard_normal()
    elif kind == Kind.BERNOULLI:
        for i in range(out.size):
            out[i] = 1.0 if rng.random() < a else 0.0
    elif kind == Kind.EXPONENTIAL:
        for i in range(out.size):
            out[i] = a * rng.standard_exponential()
    elif kind == Kind.UNIFORM:
        for i in range(out.size):
            out[i] = a + (b - a) * rng.random()
    elif kind == Kind.BETA:
        for i in range(out.size):
            out[i] = rng.beta(a, b)
    elif kind == Kind.POISSON:
        for i in range(out.size):
            out[i] = rng.poisson(a)
    elif kind == Kind.CLIPPED_GAUSSIAN:
        for i in range(out.size):
            out[i] = min(max(a + b * rng.standard_normal(), low), high)
    elif kind == Kind.MIXTURE:  # data holds cumulative weights, then means, then standard deviations
        n = data.size // 3
        for i in range(out.size):
            u, j = rng.random(), 0
            while j < n - 1 and u >= data[j]:
                j += 1
            out[i] = data[n + j] + data[2 * n + j] * rng.standard_normal()
    else:
        for i in range(out.size):
            out[i] = math.nan


fill_entry = entry_point(fill)
