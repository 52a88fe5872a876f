"""The queue knows at every moment what a search through all its members would find."""

import numpy as np
import pytest

from dirichlet_bandits.engine.tournament import NEVER, change, first, new_bounds, new_queue, smallest, up_to, value_of


@pytest.mark.parametrize(("make", "empty"), [(new_queue, NEVER), (new_bounds, np.inf)])
@pytest.mark.parametrize("size", [1, 2, 7, 8, 100])
def test_first_of_many(make, empty, size):
    rng = np.random.default_rng(size)
    queue, numbers, found = make(size), np.full(size, empty), np.empty(size, np.int64)
    assert smallest(queue) == empty
    for _ in range(1000):
        member = int(rng.integers(size))
        numbers[member] = rng.integers(50) if rng.random() < 0.9 else empty
        change(queue, member, numbers[member])
        assert smallest(queue) == numbers.min()
        assert first(queue) == numbers.argmin()
        assert value_of(queue, member) == numbers[member]
        limit = int(rng.integers(60))
        np.testing.assert_array_equal(found[: up_to(queue, limit, found)], np.flatnonzero(numbers <= limit))
