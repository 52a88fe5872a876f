"""A generator that is lent by its addresses draws the same numbers, and its memory outlives its owner."""

import gc

import numpy as np

from dirichlet_bandits.compiler import entry_point, lent, lent_generator
from dirichlet_bandits.seeding import lent_stream, new_stream, start_numbered_stream, study_words


@entry_point
def draws(given, sums):
    rng = lent_generator(given)
    for i in range(sums.size):
        sums[i] = rng.random() + rng.standard_exponential() + rng.standard_gamma(2.5) + rng.integers(0, 10)


def test_the_draws_are_those_of_the_generator():
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    found, expected = np.empty(100), np.empty(100)
    draws(lent(one), found)
    draws(other, expected)
    assert found.tolist() == expected.tolist()
    assert one.random() == other.random()


def test_a_lent_stream_keeps_its_memory():
    root = study_words(np.random.SeedSequence(1))
    lent_streams = [lent_stream(new_stream()) for _ in range(100)]  # their streams are gone
    gc.collect()
    seen = []
    for stream in lent_streams:
        start_numbered_stream(stream, root, 0, 7)
        seen.append(stream.words.tolist())
    assert all(words == seen[0] for words in seen)
