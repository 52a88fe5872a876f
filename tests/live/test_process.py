"""Decisions depend on the seed and the events, not on the process that makes them."""

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.seeding import lent_stream, new_stream, root_sequence, start_numbered_stream, study_words

UCB1 = db.UCB1(sigma=1.0)


def test_a_process_that_takes_over_decides_the_same():
    """In all seeds: with two rounds of untried arms, what the first leaves in the generator must not matter."""
    for seed in range(50):
        alone = db.create_study("s", arms=list("abcd"), policy=UCB1, seed=seed)
        shared = db.create_study("s", arms=list("abcd"), policy=UCB1, seed=seed)
        trials = alone.ask(8)
        assert [trial[:3] for trial in trials] == [
            trial[:3] for trial in [*shared.ask(4), *db.load_study("s", shared.storage).ask(4)]
        ]
        for study in (alone, shared):
            assert study.replay().same, seed


@pytest.mark.parametrize("draws", [0, 1, 2, 3])
def test_a_stream_begins_the_same_whatever_was_drawn_before(draws):
    desk, root = new_stream(), study_words(root_sequence(3))
    desk.rng.integers(2**32, size=draws, dtype="u4")  # an odd number leaves half a word
    start_numbered_stream(lent_stream(desk), root, 0, 7)
    fresh = new_stream()
    start_numbered_stream(lent_stream(fresh), root, 0, 7)
    assert (
        desk.rng.integers(2**32, size=5, dtype="u4").tolist() == fresh.rng.integers(2**32, size=5, dtype="u4").tolist()
    )
