"""Compiled code is kept for the next process, and never answers for sources that have changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dirichlet_bandits

# A decision, not a simulation: both are kept in the same way, and this compiles in a third of the time.
SCRIPT = """
import numpy as np
import dirichlet_bandits as db
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.policies import interface
policy, rng = {policy}, np.random.default_rng(0)
state = policy.init(2)
for arm, reward in [(0, 0.1), (1, 0.9)] * 2:
    state = policy.update(state, arm, reward, rng)
chosen, = policy.select(state, rng)
print(chosen, *(sum(specialized(verb, policy.params).stats.cache_hits.values())
                for verb in (interface._update, interface._select)))
"""

MINE = """
from dataclasses import dataclass
from typing import NamedTuple
import dirichlet_bandits as db
from dirichlet_bandits.engine.verbs import implements, index

class Params(NamedTuple):
    scale: float

@dataclass(frozen=True)
class Mine(db.Policy):
    @property
    def params(self):
        return Params(1.0)

@implements(index, Params)
def mine(policy, state, arm, total, top, rng):
    return {sign}state.means[arm]
"""


def decide(folder, policy, imports=""):
    """The arm chosen and the cache hits of a process of its own, with this folder first on its path."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    code = imports + SCRIPT.format(policy=policy)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def test_an_edited_policy_of_the_users_is_compiled_again(tmp_path):
    source = tmp_path / "mine.py"
    source.write_text(MINE.format(sign="+"))
    assert decide(tmp_path, "Mine()", "from mine import Mine\n") == [1, 0, 0]
    assert decide(tmp_path, "Mine()", "from mine import Mine\n") == [1, 1, 1]
    source.rename(tmp_path / "hidden.py")
    decide(tmp_path, "db.UCB1(sigma=0.1)")  # a policy that can no longer be imported does not spoil the others
    source.write_text(MINE.format(sign="-"))
    assert decide(tmp_path, "Mine()", "from mine import Mine\n") == [0, 0, 0]


def test_an_edited_package_is_compiled_again(tmp_path):
    package = tmp_path / "dirichlet_bandits"
    shutil.copytree(Path(dirichlet_bandits.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    assert decide(tmp_path, "db.UCB1(sigma=0.1)") == [1, 0, 0]
    tally = package / "engine" / "tally.py"  # not the file of the entry point, nor of the policy
    text = tally.read_text()
    edited = text.replace("min(max((new + carry) / n, low), high)", "1.0 - (new + carry) / n")
    assert edited != text
    tally.write_text(edited)
    assert decide(tmp_path, "db.UCB1(sigma=0.1)") == [0, 0, 0]
