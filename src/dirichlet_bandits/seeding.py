"""Create every random generator of the package.

There is one root seed. Replication ``r`` has one stream for each arm and one for the policy, derived from
``(seed, r)`` alone, so results do not depend on the number of workers, the chunking, or the policies compared.

A stream is NumPy's SFC64, the fastest of its bit generators, whose whole state is five words: four that are
mixed, and one for the half of a word that a 32-bit draw leaves for the next one. Compiled code keeps one row
of words per stream and lends a single ``Generator`` to whichever stream draws next, so one compiled loop
serves any number of arms, with NumPy's own distributions.
"""

import ctypes
import functools
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.compiler import entry_point, jit, lent, lent_generator, shared
from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError
from dirichlet_bandits.types import Words

Seed = int | np.random.SeedSequence | np.random.Generator | None

SEED_WORDS = 3  # SFC64 is seeded by three words; its fourth is a counter
STATE_WORDS = 5
_POOL_WORDS = 4  # of a SeedSequence
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio
_WARM_UP = 12  # draws that NumPy discards after seeding SFC64


class Stream(NamedTuple):
    """A generator and a view of the words of its state; write all of them to draw from another state."""

    rng: np.random.Generator
    words: Words


class LentStream(NamedTuple):
    """A stream for calls from Python that must be fast, or must not be broken off: see ``compiler/borrowed.py``."""

    generator: Any
    words: Words


def root_sequence(seed: Seed) -> np.random.SeedSequence:
    """Return the root of all streams for a user's seed: an int, a SeedSequence, a Generator or None.

    >>> root_sequence(7).entropy
    7
    """
    if isinstance(seed, np.random.SeedSequence):
        return seed
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence([int(word) for word in seed.integers(2**32, size=4)])
    if seed is None:
        return np.random.SeedSequence()
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError("seed", "a non-negative int, a SeedSequence, a Generator or None", seed)
    return np.random.SeedSequence(int(seed))


def stream_seeds(root: np.random.SeedSequence, replication: int, n_streams: int) -> Words:
    """Return the seeds of the streams of one replication, one row per stream: the arms in order, then the policy."""
    child = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, replication))
    words = child.generate_state(n_streams * SEED_WORDS, np.uint64)
    return words.astype(np.uint64).reshape(n_streams, SEED_WORDS)


def replication_seeds(root: np.random.SeedSequence, first: int, last: int, n_streams: int) -> Words:
    """Return :func:`stream_seeds` of the replications ``first`` to ``last`` (exclusive), all at once.

    Creating one SeedSequence takes 15 microseconds, more than many short replications. Here, its mixing continues from
    the pool of the root, with the numbers of all replications at once.

    >>> root = root_sequence(7)
    >>> bool((replication_seeds(root, 3, 5, 2)[1] == stream_seeds(root, 4, 2)).all())
    True

    Reference: O'Neill, Developing a seed_seq alternative (2015); :class:`numpy.random.SeedSequence`.
    """
    base = np.random.SeedSequence(root.entropy, spawn_key=root.spawn_key)
    words = max(_POOL_WORDS, _count_words(root.entropy)) + _count_words(root.spawn_key)
    numbers = np.arange(first, last, dtype=np.uint32)[:, None]
    hashed = _hashed(numbers, _constants(0x43B0D7E5, 0x931E8875, _POOL_WORDS * words, _POOL_WORDS))
    pool = base.pool * np.uint32(0xCA01F9DD) - hashed * np.uint32(0x4973F715)
    pool ^= pool >> np.uint32(16)
    count = 2 * n_streams * SEED_WORDS
    columns = np.take(pool, np.arange(count) % _POOL_WORDS, axis=1)
    halves = _hashed(columns, _constants(0x8B51F9DD, 0x58F38DED, 0, count))
    seeds = halves[:, ::2] | halves[:, 1::2].astype(np.uint64) << np.uint64(32)
    return seeds.reshape(last - first, n_streams, SEED_WORDS)


def _count_words(entropy: object) -> int:
    """Return how many 32-bit words NumPy makes of an integer, or of several."""
    if isinstance(entropy, int | np.integer):
        return max(1, -(-int(entropy).bit_length() // 32))
    return sum(map(_count_words, cast(Iterable[int], entropy)))


@functools.cache
def _constants(start: int, factor: int, skipped: int, count: int) -> NDArray[np.uint32]:
    """Return the constants of SeedSequence's hash: each column is mixed with one of them and with the next."""
    powers = [start * pow(factor, k, 2**32) % 2**32 for k in range(skipped, skipped + count + 1)]
    return np.array(powers, dtype=np.uint32)


def _hashed(columns: NDArray[np.uint32], constants: NDArray[np.uint32]) -> NDArray[np.uint32]:
    mixed = (columns ^ constants[:-1]) * constants[1:]
    return mixed ^ (mixed >> np.uint32(16))


def new_stream() -> Stream:
    """Return a generator that :func:`start_stream` can start from any seed."""
    _check_layout()
    bits = np.random.SFC64(0)
    return Stream(np.random.Generator(bits), _words_of(bits))


def lent_stream(stream: Stream) -> LentStream:
    """Return what compiled code needs of a stream; its words keep the stream alive."""
    return LentStream(lent(stream.rng), stream.words)


def _words_of(bits: np.random.SFC64) -> Words:
    """Return a view of the memory in which NumPy keeps the state; the memory lives as long as the view."""
    pointer: Any = (ctypes.c_uint64 * STATE_WORDS).from_address(bits.ctypes.state_address)
    pointer.owner = bits
    return np.ctypeslib.as_array(pointer)


def _public_words(bits: np.random.SFC64) -> Words:
    """Return the same words from NumPy's public description of the state."""
    state = cast(dict[str, Any], bits.state)
    half = int(state["has_uint32"]) | int(state["uinteger"]) << 32
    return np.append(state["state"]["state"], np.array([half], np.uint64)).astype(np.uint64)


@functools.cache
def _check_layout() -> None:
    """Make sure, once per process, that the memory of SFC64 has the layout that compiled code writes.

    NumPy does not promise this layout, and compiled code has no public way to set a state. So we refuse a NumPy that
    has changed it before anything is written or drawn.
    """
    bits, other = np.random.SFC64(1), np.random.SFC64(2)
    for generator in (bits, other):
        np.random.Generator(generator).integers(2**32, dtype=np.uint32)  # leaves half a word for the next draw
    same = bool((_words_of(bits) == _public_words(bits)).all())
    if same:
        _words_of(bits)[:] = _public_words(other)
        draws = [np.random.Generator(generator).integers(2**32, size=3, dtype=np.uint32) for generator in (bits, other)]
        same = bool((draws[0] == draws[1]).all() and (_public_words(bits) == _public_words(other)).all())
    if not same:
        message = f"NumPy {np.__version__} keeps the state of SFC64 in an unknown layout"
        raise DirichletBanditsError(f"{message}: install a version that this release was tested with")


@shared
def start_stream(rng: np.random.Generator, words: Words, seed: Words) -> None:
    """Start a stream's generator from this seed, exactly as NumPy seeds SFC64."""
    for i in range(seed.size):
        words[i] = seed[i]
    words[3] = 1
    words[4] = 0
    for _ in range(_WARM_UP):
        rng.random()


@jit
def further_words(rng: np.random.Generator) -> Words:
    """Return the four mixed words of another SFC64, seeded by the stream's next draws.

    This is for loops in which a call to the generator costs more than the work done with its number: :func:`mixed` is
    compiled into them.
    """
    words = np.empty(STATE_WORDS - 1, np.uint64)
    for i in range(SEED_WORDS):
        words[i] = np.uint64(rng.random() * 9007199254740992.0)  # 2^53: all the bits of a draw
    words[SEED_WORDS] = 1
    a, b, c, counter = words[0], words[1], words[2], words[3]
    for _ in range(_WARM_UP):
        _, a, b, c, counter = mixed(a, b, c, counter)
    words[0], words[1], words[2], words[3] = a, b, c, counter
    return words


@jit
def mixed(a: np.uint64, b: np.uint64, c: np.uint64, counter: np.uint64) -> tuple[np.uint64, ...]:
    """Return SFC64's next word, followed by its state after that word.

    >>> stream = new_stream()
    >>> start_stream(*stream, np.array([1, 2, 3], np.uint64))
    >>> word, *_ = mixed(*stream.words[:4])
    >>> bool(int(word) >> 11 == stream.rng.random() * 2**53)
    True

    Reference: Doty-Humphrey, PractRand (2014); :class:`numpy.random.SFC64`.
    """
    word = a + b + counter
    rotated = (c << np.uint64(24)) | (c >> np.uint64(40))
    return word, b ^ (b >> np.uint64(11)), c + (c << np.uint64(3)), rotated + word, counter + np.uint64(1)


@jit
def scrambled(number: np.uint64) -> np.uint64:
    """Return the finalizer of SplitMix64, a bijection: multiples of ``GOLDEN``, plus any number, give its stream.

    The words of this stream do not depend on each other, so the compiler computes several at once.

    >>> hex(scrambled(GOLDEN))
    '0xe220a8397b1dcdaf'

    Reference: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


def study_words(root: np.random.SeedSequence) -> Words:
    """Return the three words from which all numbered streams of a live study are derived."""
    return root.generate_state(SEED_WORDS, np.uint64).astype(np.uint64)


@jit
def start_numbered(rng: np.random.Generator, words: Words, root: Words, kind: int, number: int) -> None:
    """Start a stream's generator at the beginning of stream (kind, number); different pairs give unrelated streams.

    The number is scrambled by a bijection, so no two streams have equal seeds.
    """
    words[0] = root[0]
    words[1] = root[1] + np.uint64(kind)
    words[2] = scrambled(np.uint64(number) * GOLDEN + root[2])
    words[3] = 1
    words[4] = 0
    for _ in range(_WARM_UP):
        rng.random()


def generator(seed: Words) -> np.random.Generator:
    """Return a separate generator for one seed: plain NumPy, with the same draws as a stream started there.

    >>> seeds = stream_seeds(root_sequence(0), replication=5, n_streams=3)
    >>> stream = new_stream()
    >>> start_stream(*stream, seeds[1])
    >>> bool(generator(seeds[1]).random() == stream.rng.random())
    True
    """
    return np.random.Generator(np.random.SFC64(_FixedSeed(seed)))  # type: ignore[arg-type] # any ISeedSequence will do


class _FixedSeed(np.random.bit_generator.ISeedSequence):
    """Provides SFC64 with the three words of its seed."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: object = np.uint32) -> Words:
        return self.words.copy()


@entry_point
def start_numbered_stream(stream: LentStream, root: Words, kind: int, number: int) -> None:
    """Do the same as :func:`start_numbered`; an entry point."""
    start_numbered(lent_generator(stream.generator), stream.words, root, kind, number)
