"""The tests of equal law would notice: a copy of the package with one mistake is judged as they judge.

The judge is ``check_equal`` on many more runs, with the package as it is on the other side; a correct pair is
refused once in a million.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dirichlet_bandits
from tests.simulation.test_fast_paths import check_equal

SCRIPT = """
import sys
import numpy as np
import dirichlet_bandits as db
bandit = db.Bandit([db.Gaussian(0.0, 1.0), db.Gaussian(0.6, 1.0)])
result = db.simulate(bandit, db.RDS(), horizon=2000, replications=200_000, seed=int(sys.argv[1]), record=1)
np.save(sys.argv[2], result.pulls.values[0])
"""

MISTAKES = {
    "none": ("duels.py", "now, contested = 0, True", "now, contested = 0, True"),
    "clocks 5 % slower than their certificates say": (
        "clocks.py",
        "log1p(-math.exp(log_p))",
        "log1p(-math.exp(log_p - 0.05))",
    ),
    "leader never changes": ("duels.py", "        if contested:", "        if contested and now == 0:"),
}


def play(folder: Path, mistake: str, seed: int) -> np.ndarray:
    """Pull counts of many runs of a copy of the package with the mistake in it."""
    package = folder / mistake.replace(" ", "-") / "dirichlet_bandits"
    shutil.copytree(Path(dirichlet_bandits.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    file, right, wrong = MISTAKES[mistake]
    source = package / "simulation" / file
    assert source.read_text().count(right) == 1
    source.write_text(source.read_text().replace(right, wrong))
    counts = package.parent / "counts.npy"
    setting = os.environ | {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(package.parent / "cache")}
    subprocess.run([sys.executable, "-c", SCRIPT, str(seed), str(counts)], env=setting, check=True)
    return np.load(counts)


@pytest.mark.slow
def test_mistakes_are_noticed(tmp_path):
    right = play(tmp_path, "none", 1)
    check_equal(play(tmp_path / "again", "none", 2), right)
    for seed, mistake in enumerate(list(MISTAKES)[1:], start=3):
        with pytest.raises(AssertionError):
            check_equal(play(tmp_path, mistake, seed), right)
