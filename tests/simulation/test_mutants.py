"""The tests of equal law would notice: a copy of the package with one mistake is judged as they judge.

The judge is ``check_equal`` on many more runs, with the package as it is on the other side; a correct pair is
refused once in a million.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.simulation.copies import PACKAGE, Edit, edited_copy, environment
from tests.simulation.test_fast_paths import check_equal

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
import numpy as np
import dirichlet_bandits as db
result = db.simulate({game}, seed=int(sys.argv[1]), record=1)
np.save(sys.argv[2], result.pulls.values[0])
"""
GAMES = {
    "RDS": "db.Bandit([db.Gaussian(0.0, 1.0), db.Gaussian(0.6, 1.0)]), db.RDS(), horizon=2000, replications=200_000",
    "RDS in a round that is cut": "db.Bandit([db.Bernoulli(0.5)] * 5), db.RDS(), horizon=13, replications=30_000",
    "NPTS": "db.Bandit([db.Empirical([0.0]), db.Bernoulli(2 / 3)]), db.NPTS(1.0), horizon=400, replications=100_000",
    "NPTS on Betas": "db.Bandit([db.Beta(2, 6), db.Beta(3, 4), db.Beta(4, 2)]), db.NPTS(1.0), horizon=1000, "
    "replications=150_000",
    "NPTS in a short game": "db.Bandit([db.Beta(2, 6), db.Beta(4, 2)]), db.NPTS(1.0), horizon=300, replications=3000",
    "BCVTS in a short game": "db.Bandit([db.Beta(2, 6), db.Beta(4, 2)]), db.BCVTS(1.0, 0.4), horizon=300, "
    "replications=3000",
    "BCVTS": "db.Bandit([db.Beta(2, 6), db.Beta(3, 4), db.Beta(4, 2)]), db.BCVTS(1.0, 0.4), horizon=1000, "
    "replications=20_000",
}
QUICK = (  # in every run of the tests: one of each family with a shortcut
    "RDS pulls the winners of a round in their order",
    "NPTS pulls the best of the near arms when the clock rings",
    "B-CVTS ignores its clocks",
)

MISTAKES = {
    "clocks 5 % slower than their certificates say": (
        "RDS",
        Edit("engine/clocks.py", "math.log1p(-p) if", "math.log1p(-0.95 * p) if"),
    ),
    "leader never changes": (
        "RDS",
        Edit("policies/dirichlet/fast.py", "        if contested:", "        if contested and now == 0:"),
    ),
    "RDS pulls the winners of a round in their order": (
        "RDS in a round that is cut",
        Edit("policies/dirichlet/fast.py", "        shuffle(winners[:n_winners], rng)\n", ""),
    ),
    "a density that has not been told all rewards": (
        "NPTS on Betas",
        Edit("policies/npts/challengers.py", "            contour.append(stored, value, 1)", "            pass"),
    ),
    "NPTS gives up contests whose clock is about to ring": (
        "NPTS",
        Edit("policies/npts/fast.py", "        steps -= 1\n", "        steps = steps - 1 if quiet > 1 else 0\n"),
    ),
    "NPTS pulls the best of the near arms when the clock rings": (
        "NPTS in a short game",
        Edit(
            "policies/npts/fast.py", "return arm if above and is_largest(", "return arm if total < 0.0 and is_largest("
        ),
    ),
    "B-CVTS keeps every tilted draw": (
        "BCVTS",
        Edit("policies/cvar/fast.py", "rng.random() < math.exp(-lam * weights * (v - q))", "q > -math.inf"),
    ),
    "B-CVTS ignores its clocks": (
        "BCVTS in a short game",
        Edit(
            "policies/cvar/fast.py",
            "        if not math.isnan(v):\n            draft",
            "        if v > math.inf:\n            draft",
        ),
    ),
    "B-CVTS gives up clocks that are about to ring": (
        "BCVTS",
        Edit(
            "policies/cvar/fast.py", "        if arm == best or ", "        if arm == best or challenger.steps < 12 or "
        ),
    ),
}

STEPS_MISTAKEN = {  # noticed by the tests of single steps, where rare events are made frequent
    "NPTS compares only near arms, wherever their indices are": (
        "test_npts_steps.py",
        Edit("policies/npts/fast.py", "draws[best].low <= foot - challengers.upper:", "draws[best].low < -math.inf:"),
    ),
    "B-CVTS forgets arms below their thresholds": (
        "test_cvar_fast.py",
        Edit("policies/cvar/fast.py", "challengers[arm].threshold > floor:", "challengers[arm].threshold > math.inf:"),
    ),
}


def play(game: str, seed: int, folder: Path, settings: dict[str, str] | None = None) -> np.ndarray:
    """Pull counts of many runs in a process of its own, of the package itself or of a copy."""
    counts = folder / f"counts{seed}.npy"
    script = SCRIPT.format(game=GAMES[game])
    subprocess.run([sys.executable, "-c", script, str(seed), str(counts)], env=settings, check=True)
    return np.load(counts)


def test_every_edit_finds_its_passage():
    for _, edit in [*MISTAKES.values(), *STEPS_MISTAKEN.values()]:
        assert edit.new in edit.made(PACKAGE)


def judge(game, folder, mistakes):
    """Compare the package with itself, and with mistakes in a game."""
    right = play(game, 1, folder)
    check_equal(*np.array_split(right, 2))
    assert mistakes
    for seed, mistake in enumerate(mistakes, start=3):
        edit = MISTAKES[mistake][1]
        copy = edited_copy(folder / str(seed), [edit])
        with pytest.raises(AssertionError):
            check_equal(play(game, seed, folder, environment(copy)), right)


@pytest.mark.parametrize("mistake", QUICK)
def test_a_mistake_is_noticed_at_once(mistake, tmp_path):
    judge(MISTAKES[mistake][0], tmp_path, [mistake])


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_mistakes_are_noticed(game, tmp_path):
    judge(game, tmp_path, [mistake for mistake, (found, _) in MISTAKES.items() if found == game])


@pytest.mark.slow
@pytest.mark.parametrize("mistake", STEPS_MISTAKEN)
def test_mistakes_in_single_steps_are_noticed(mistake, tmp_path):
    tests, edit = STEPS_MISTAKEN[mistake]
    settings = environment(edited_copy(tmp_path, [edit]))
    settings["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", f"tests/policies/{tests}"]
    assert subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode == pytest.ExitCode.TESTS_FAILED
