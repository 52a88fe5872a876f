"""The queue of clocks knows at every moment what a search through all of them would find."""

import numpy as np
import pytest

from dirichlet_bandits.simulation.clocks import NEVER
from dirichlet_bandits.simulation.queue import change, first, new_queue, next_time, time_of


@pytest.mark.parametrize("n_clocks", [1, 2, 7, 8, 100])
def test_first_of_many(n_clocks):
    rng = np.random.default_rng(n_clocks)
    queue, times = new_queue(n_clocks), np.full(n_clocks, NEVER)
    assert next_time(queue) == NEVER
    for _ in range(2000):
        clock = int(rng.integers(n_clocks))
        times[clock] = rng.integers(50) if rng.random() < 0.9 else NEVER
        change(queue, clock, times[clock])
        assert next_time(queue) == times.min()
        assert first(queue) == times.argmin()
        assert time_of(queue, clock) == times[clock]
