"""Same seed, same numbers: what every policy did when this was written, it does still.

Where a change is meant to change decisions, ``python -m tests.simulation.test_pinned`` writes the file anew, and the
changelog says so.
"""

import hashlib
import json
from pathlib import Path

import pytest

import dirichlet_bandits as db
from tests.simulation.test_hostile import BANDITS, POLICIES, bandits_for

PINNED = Path(__file__).with_name("pinned.json")


def digest(name, bandit, fast):
    """Of all pull counts along a few runs."""
    hostile = BANDITS[bandit]
    policy = POLICIES[name].make(hostile.world)
    settings = {"horizon": 300, "replications": 8, "seed": 11, "fast": fast, "record": 20}
    result = db.simulate(db.Bandit(hostile.arms), policy, **settings)
    digest = hashlib.blake2b(result.pulls.values.tobytes(), digest_size=8)
    digest.update((result.regret.values / max(result.regret.values.max(), 1e-300)).round(9).tobytes())
    return digest.hexdigest()


def digests(name):
    return {
        f"{bandit}, {'fast' if fast else 'plain'}": digest(name, bandit, fast)
        for bandit in bandits_for(name)
        for fast in (True, False)
    }


@pytest.mark.parametrize("name", POLICIES)
def test_same_seed_same_numbers(name):
    assert digests(name) == json.loads(PINNED.read_text())[name]


if __name__ == "__main__":
    PINNED.write_text(json.dumps({name: digests(name) for name in POLICIES}, indent=1) + "\n")
