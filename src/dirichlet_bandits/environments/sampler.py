"""Compiled samplers of the built-in distributions: one :class:`Kind` and one row of parameters per arm.

Because every bandit looks the same to the compiler, the simulation is compiled once per policy, and one bandit can mix
arms of different distributions.
"""

import functools
from collections.abc import Callable
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import address_of, by_address, shared, types
from dirichlet_bandits.types import Floats, Ints


class Kind(IntEnum):
    """The distribution of an arm; Python draws from a foreign one in advance."""

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
    """The distributions of K arms as plain arrays.

    ``rows[k]`` holds the parameters of arm k; those with many numbers keep them in ``data[first[k] : last[k]]``. One
    table serves all distributions, so columns have no names of their own: each function below names its parameters.
    """

    kinds: Ints
    rows: Floats
    first: Ints
    last: Ints
    data: Floats


_VALUES, _GENERATOR = types.Array(types.float64, 1, "C"), types.npy_rng
_ARGUMENTS = (_VALUES, _VALUES, _GENERATOR, _VALUES)

fill = by_address(*_ARGUMENTS)
"""In compiled code: ``fill(address, row, data, rng, out)``, where the address is that of one of the functions below.

Each fills ``out`` with rewards one after the other, so block sizes do not affect the stream; ``data`` is the arm's own
slice of the table. There is one function per distribution, so only those that a bandit uses are compiled.
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
    """Return the address of the compiled sampler of a distribution in this process; 0 for a foreign one."""
    return address_of(SAMPLERS[kind], _ARGUMENTS) if kind in SAMPLERS else 0


def compiled(table: ArmTable) -> ArmTable:
    """Return the table for compiled code, with the addresses of samplers instead of the kinds of distributions."""
    addresses = [sampler_address(Kind(kind)) for kind in table.kinds]
    return table._replace(kinds=np.array(addresses, dtype=np.int64))


def compile_samplers() -> None:
    """Compile the samplers of all distributions, or load them if they are compiled."""
    for kind in SAMPLERS:
        sampler_address(kind)
