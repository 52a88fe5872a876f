"""Same seed, same numbers: what every policy did when this was written, it does still.

Every policy with a shortcut has pins, of the shortcut and of the plain loop. Where a shortcut was removed, those of the
plain loop stay.

``python -m tests.simulation.test_pinned`` adds the pins of new policies and leaves the others alone. Where a change is
meant to change decisions, name the policies: their pins are written again, and the changelog says so.
"""

import hashlib
import json
import sys
from pathlib import Path

import pytest

import dirichlet_bandits as db
from tests.policies.twins import PAIRS
from tests.simulation.test_hostile import BANDITS, POLICIES, bandits_for

PINNED = Path(__file__).with_name("pinned.json")


def digest(name, bandit, fast):
    """Of all pull counts along a few runs."""
    hostile = BANDITS[bandit]
    policy = PAIRS[name].make(hostile.world)
    settings = {"horizon": 300, "replications": 8, "seed": 11, "fast": fast, "record": 20}
    result = db.simulate(db.Bandit(hostile.arms), policy, **settings)
    digest = hashlib.blake2b(result.pulls.values.tobytes(), digest_size=8)
    digest.update((result.regret.values / max(result.regret.values.max(), 1e-300)).round(9).tobytes())
    return digest.hexdigest()


def digests(name):
    return {
        f"{bandit}, {'fast' if fast else 'plain'}": digest(name, bandit, fast)
        for bandit in bandits_for(name)
        for fast in ((True, False) if name in POLICIES else (False,))
    }


def pins():
    return json.loads(PINNED.read_text())


def pin_of(name, pinned):
    """The pin of a policy; a policy without one fails with the command that adds it."""
    if name not in pinned:
        pytest.fail(
            f"no pin for {name!r}: `python -m tests.simulation.test_pinned` adds it and leaves the others alone"
        )
    return pinned[name]


def updated(pinned, names, compute=digests):
    """The pins with those of new policies, and of the named ones, computed again."""
    unknown = [name for name in names if name not in PAIRS]
    if unknown:
        raise SystemExit(f"no policies {unknown}; one of {list(PAIRS)}")
    wanted = [name for name in PAIRS if name in POLICIES or name in pinned or name in names]
    return {name: compute(name) if name in names or name not in pinned else pinned[name] for name in wanted}


@pytest.mark.parametrize("name", [name for name in PAIRS if name in POLICIES or name in pins()])
def test_same_seed_same_numbers(name):
    assert digests(name) == pin_of(name, pins())


def test_every_pin_is_of_a_policy():
    assert list(pins()) == [name for name in PAIRS if name in pins()]


def test_a_policy_without_a_pin_fails_with_the_command_that_adds_it():
    with pytest.raises(pytest.fail.Exception, match=r"no pin for 'RDS sqrt-log': `python -m tests.simulation.test_pin"):
        pin_of("RDS sqrt-log", {})


def test_only_missing_and_named_pins_are_computed():
    pinned = pins()
    missing = pinned.pop("RDS sqrt-log")
    found = updated(pinned, ["QDS"], compute=lambda name: {name: "new"})
    assert list(found) == list(pins())
    assert {name for name in found if found[name] == {name: "new"}} == {"RDS sqrt-log", "QDS"}
    assert missing != found["RDS sqrt-log"]
    assert all(found[name] == pinned[name] for name in pinned if name != "QDS")
    with pytest.raises(SystemExit, match="no policies"):
        updated(pinned, ["RDX"])


if __name__ == "__main__":
    PINNED.write_text(json.dumps(updated(pins(), sys.argv[1:]), indent=1) + "\n")
