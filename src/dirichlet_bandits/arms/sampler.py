"""Compiled samplers of the built-in laws: a :class:`Kind` and a row of parameters for each arm.

Because every bandit looks the same to the compiler, the simulation is compiled once for each policy and arms
of different laws can stand in one bandit.
"""

import functools
from collections.abc import Callable
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
from numba import types

from dirichlet_bandits.compiler import address_of, by_address, shared
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


_VALUES, _GENERATOR = types.Array(types.float64, 1, "C"), types.npy_rng
_ARGUMENTS = (_VALUES, _VALUES, _GENERATOR, _VALUES)

fill = by_address(*_ARGUMENTS)
"""In compiled code: ``fill(address, row, data, rng, out)``, the address being that of one of the functions below.

Each fills ``out`` with rewards one after the other, so that block sizes leave no trace in the stream; ``data`` is the
arm's own slice of the table. A function for each law: only those are compiled that a bandit has.
"""


@shared
def bernoulli_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    p = row[0]
    for i in range(out.size):
        out[i] = 1.0 if rng.random() < p else 0.0


@shared
def gaussian_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    mean, sigma = row[0], row[1]
    for i in range(out.size):
        out[i] = mean + sigma * rng.standard_normal()


@shared
def exponential_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    mean = row[0]
    for i in range(out.size):
        out[i] = mean * rng.standard_exponential()


@shared
def uniform_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    low, high = row[0], row[1]
    for i in range(out.size):
        out[i] = low + (high - low) * rng.random()


@shared
def beta_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    a, b = row[0], row[1]
    for i in range(out.size):
        out[i] = rng.beta(a, b)


@shared
def poisson_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    mean = row[0]
    for i in range(out.size):
        out[i] = rng.poisson(mean)


@shared
def clipped_gaussian_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    mean, sigma, low, high = row[0], row[1], row[2], row[3]
    for i in range(out.size):
        out[i] = min(max(mean + sigma * rng.standard_normal(), low), high)


@shared
def mixture_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    n = data.size // 3  # cumulative weights, then means, then standard deviations
    for i in range(out.size):
        u, j = rng.random(), 0
        while j < n - 1 and u >= data[j]:
            j += 1
        out[i] = data[n + j] + data[2 * n + j] * rng.standard_normal()


@shared
def empirical_rewards(row: Floats, data: Floats, rng: np.random.Generator, out: Floats) -> None:
    for i in range(out.size):
        out[i] = data[int(rng.random() * data.size)]


SAMPLERS: Final[dict[Kind, Callable[..., None]]] = {
    Kind.BERNOULLI: bernoulli_rewards,
    Kind.GAUSSIAN: gaussian_rewards,
    Kind.EXPONENTIAL: exponential_rewards,
    Kind.UNIFORM: uniform_rewards,
    Kind.BETA: beta_rewards,
    Kind.POISSON: poisson_rewards,
    Kind.CLIPPED_GAUSSIAN: clipped_gaussian_rewards,
    Kind.MIXTURE: mixture_rewards,
    Kind.EMPIRICAL: empirical_rewards,
}


@functools.cache
def sampler_address(kind: Kind) -> int:
    """Where the compiled sampler of a law begins in this process; 0 for a foreign one."""
    return address_of(SAMPLERS[kind], _ARGUMENTS) if kind in SAMPLERS else 0


def compiled(table: ArmTable) -> ArmTable:
    """The table for compiled code: with the addresses of samplers in place of the kinds of laws."""
    addresses = [sampler_address(Kind(kind)) for kind in table.kinds]
    return table._replace(kinds=np.array(addresses, dtype=np.int64))


def compile_samplers() -> None:
    """Compile the samplers of all laws, or find them compiled."""
    for kind in SAMPLERS:
        sampler_address(kind)
