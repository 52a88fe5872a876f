"""Compiled code is kept for the next process, and never answers for sources that have changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dirichlet_bandits

SCRIPT = """
import dirichlet_bandits as db
from dirichlet_bandits.engine.loop import runner
bandit = db.Bandit([db.Bernoulli(0.1), db.Bernoulli(0.9)])
policy = {policy}
result = db.simulate(bandit, policy, horizon=50, replications=4, seed=0)
hits = sum(runner(type(policy.params), True).stats.cache_hits.values())
print(int(result.pulls.values[0, :, 0].sum()), hits)
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


def play(folder, policy, imports=""):
    """Arm-0 pulls and cache hits of a simulation in a process of its own, with this folder first on its path."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    code = imports + SCRIPT.format(policy=policy)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def test_an_edited_policy_of_the_users_is_compiled_again(tmp_path):
    source = tmp_path / "mine.py"
    source.write_text(MINE.format(sign="+"))
    best, hits = play(tmp_path, "Mine()", "from mine import Mine\n")
    assert hits == 0
    assert play(tmp_path, "Mine()", "from mine import Mine\n") == [best, 1]
    source.rename(tmp_path / "hidden.py")
    play(tmp_path, "db.UCB1(sigma=0.1)")  # a policy that can no longer be imported does not spoil the others
    source.write_text(MINE.format(sign="-"))
    worst, hits = play(tmp_path, "Mine()", "from mine import Mine\n")
    assert hits == 0
    assert worst > best


def test_an_edited_package_is_compiled_again(tmp_path):
    package = tmp_path / "dirichlet_bandits"
    shutil.copytree(Path(dirichlet_bandits.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    before, hits = play(tmp_path, "db.UCB1(sigma=0.1)")
    assert hits == 0
    tally = package / "engine" / "tally.py"  # not the file of the entry point, nor of the policy
    text = tally.read_text()
    edited = text.replace("min(max((new + carry) / n, low), high)", "1.0 - (new + carry) / n")
    assert edited != text
    tally.write_text(edited)
    after, hits = play(tmp_path, "db.UCB1(sigma=0.1)")
    assert hits == 0
    assert after > before
