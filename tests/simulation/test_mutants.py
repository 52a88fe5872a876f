"""The tests of equal law would notice: a copy of the package with one mistake is judged as they judge.

The judge is ``check_equal`` on many more runs, with the package as it is on the other side; a correct pair is
refused once in a million.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import dirichlet_bandits
from tests.simulation.test_fast_paths import check_equal

SCRIPT = """
import sys
import numpy as np
import dirichlet_bandits as db
result = db.simulate({game}, seed=int(sys.argv[1]), record=1)
np.save(sys.argv[2], result.pulls.values[0])
"""
GAMES = {
    "RDS": "db.Bandit([db.Gaussian(0.0, 1.0), db.Gaussian(0.6, 1.0)]), db.RDS(), horizon=2000, replications=200_000",
    "NPTS": "db.Bandit([db.Empirical([0.0]), db.Bernoulli(2 / 3)]), db.NPTS(1.0), horizon=400, replications=100_000",
    "NPTS on Betas": "db.Bandit([db.Beta(2, 6), db.Beta(3, 4), db.Beta(4, 2)]), db.NPTS(1.0), horizon=1000, "
    "replications=150_000",
    "BCVTS": "db.Bandit([db.Beta(2, 6), db.Beta(3, 4), db.Beta(4, 2)]), db.BCVTS(1.0, 0.4), horizon=1000, "
    "replications=100_000",
}


class Mistake(NamedTuple):
    """What stands in a file of the package, and what a careless author might have written."""

    game: str
    file: str
    right: str
    wrong: str


MISTAKES = {
    "clocks 5 % slower than their certificates say": Mistake(
        "RDS", "engine/clocks.py", "log1p(-math.exp(log_p))", "log1p(-math.exp(log_p - 0.05))"
    ),
    "leader never changes": Mistake(
        "RDS", "policies/dirichlet/fast.py", "        if contested:", "        if contested and now == 0:"
    ),
    "a density that has not been told all rewards": Mistake(
        "NPTS on Betas",
        "policies/npts/challengers.py",
        "            contour.append(kept, value, 1)",
        "            pass",
    ),
    "a ceiling that proves too high is given up at a ring": Mistake(
        "NPTS", "policies/npts/fast.py", "ceiling.mean, ceiling.high, calm", "ceiling.mean, math.inf, calm"
    ),
    "a leader's index drawn as if nothing had been tilted": Mistake(
        "BCVTS", "policies/cvar/leader.py", "cells[_NOW, threshold] * math.exp(-mu * score)", "cells[_NOW, threshold]"
    ),
    "ceilings of B-CVTS that are looked at when a block ends": Mistake(
        "BCVTS", "policies/cvar/leader.py", "        if not holds(cells):", "        if not holds(cells) and i > 100:"
    ),
}


def play(package: Path, game: str, seed: int) -> np.ndarray:
    """Pull counts of many runs of a copy of the package."""
    counts = package.parent / "counts.npy"
    setting = os.environ | {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(package.parent / "cache")}
    script = SCRIPT.format(game=GAMES[game])
    subprocess.run([sys.executable, "-c", script, str(seed), str(counts)], env=setting, check=True)
    return np.load(counts)


def copied(folder: Path) -> Path:
    """A copy of the package."""
    package = folder / "dirichlet_bandits"
    shutil.copytree(Path(dirichlet_bandits.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def with_mistake(folder: Path, mistake: Mistake) -> Path:
    """A copy of the package with the mistake in it."""
    package = copied(folder)
    source = package / mistake.file
    assert source.read_text().count(mistake.right) == 1
    source.write_text(source.read_text().replace(mistake.right, mistake.wrong))
    return package


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_mistakes_are_noticed(game, tmp_path):
    package = copied(tmp_path / "right")
    right = play(package, game, 1)
    check_equal(play(package, game, 2), right)
    mistakes = [mistake for mistake in MISTAKES.values() if mistake.game == game]
    for seed, mistake in enumerate(mistakes, start=3):
        with pytest.raises(AssertionError):
            check_equal(play(with_mistake(tmp_path / str(seed), mistake), game, seed), right)
