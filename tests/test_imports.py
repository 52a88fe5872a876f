"""Starting costs little: heavy packages are imported by those who use them, not by everybody."""

import subprocess
import sys

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of

HEAVY = {
    "dirichlet_bandits.policies.subsampling",  # in these tests nobody asks for a policy of this family
    "fastapi",
    "jinja2",
    "matplotlib",
    "numba",
    "numba.np.arraymath",
    "numba.np.arrayobj",
    "numpy",
    "numpy.f2py",
    "pandas",
    "pyarrow",
    "rich.console",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.signal",
    "scipy.special",
    "scipy.stats",
    "sqlalchemy",
    "urllib3",
    "xarray",
    "zarr",
}
COMPILED = {"numba", "numba.np.arraymath", "numba.np.arrayobj", "numpy", "numpy.f2py", "scipy.linalg"}
"""What Numba itself imports before it loads a compiled function."""
HELP = """
import sys
from dirichlet_bandits.cli import app
try:
    app({arguments!r})
except SystemExit as end:
    assert end.code == 0
"""


def heavy(code: str) -> set[str]:
    """Heavy modules that a process has imported after this."""
    code += f"\nimport sys\nprint(*({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split())


def test_the_import_itself():
    assert heavy("import dirichlet_bandits") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["study", "--help"], ["paper", "--help"], ["serve", "--help"]])
def test_help(arguments):
    assert heavy(HELP.format(arguments=arguments)) == set()


def test_completion():
    asked = {"_DIRICHLET_BANDITS_COMPLETE": "complete_bash", "COMP_WORDS": "dirichlet-bandits stu", "COMP_CWORD": "1"}
    code = HELP.format(arguments=[]).replace("app([])", "app([], prog_name='dirichlet-bandits')")
    assert heavy(f"import os\nos.environ |= {asked!r}\n{code}") == set()


def test_policies():
    assert heavy("import dirichlet_bandits as db; db.RDS()") == {"numpy", "numba"}


def test_a_simulation_from_the_cache():
    code = """
import dirichlet_bandits as db
bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
result = db.simulate(bandit, db.UCB1(sigma=0.5), horizon=20, replications=2, seed=0, progress=False)
"""
    heavy(code)  # may compile
    assert heavy(code) == COMPILED


def test_an_ask_and_a_tell_from_the_shell(tmp_path):
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study = db.create_study("s", arms=["a", "b"], storage=storage, seed=0)
    for k in range(3):
        study.tell(study.ask().id, float(k))
    study.ask()
    local_of(study).storage.close()
    for arguments in (["ask", "s"], ["tell", "s", "3", "1"], ["ask", "s"]):
        told = HELP.format(arguments=["study", *arguments, "--storage", storage])
        assert heavy(told) <= COMPILED | {"sqlalchemy"}


@pytest.mark.parametrize("policy", ["NPTS(upper=1)", "QDS()", "BCVTS(level=0.5, upper=1)"])
def test_an_ask_of_policies_that_look_at_every_reward(tmp_path, policy):
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study = db.create_study("s", arms=["a", "b"], policy=policy, storage=storage, seed=0)
    rewards = np.random.default_rng(0).random(200)
    study.add_trials({"arm": ["a", "b"] * 100, "reward": rewards})
    study.ask()  # may compile
    local_of(study).storage.close()
    assert heavy(HELP.format(arguments=["study", "ask", "s", "--storage", storage])) == COMPILED | {"sqlalchemy"}


def test_every_public_name_is_known_before_its_first_use():
    code = """
import dirichlet_bandits as db
assert set(db.__all__) <= set(dir(db))
from dirichlet_bandits import *
RDS, simulate
"""
    assert "numba" in heavy(code)


def test_rooms_and_functions_of_one_name_do_not_hide_each_other():

    assert db.experiments.shipped("robustness").title
    assert db.policies.registry.all_policies()["RDS"] is db.RDS
    with pytest.raises(AttributeError, match="module 'dirichlet_bandits' has no attribute 'RDX'"):
        db.RDX  # noqa: B018


def test_errors_need_nothing_heavy():
    assert heavy("import dirichlet_bandits as db; db.ArgumentError, db.errors.ArgumentError, dir(db.theory)") == set()


def test_an_experiment_of_a_paper_loads_what_it_plays(tmp_path):
    """The robustness experiment plays UCB1, R-UCB-LT and RDS; neither the crop model nor another family is loaded."""
    code = f"""
import sys
import dirichlet_bandits as db
from dirichlet_bandits.experiments import runner
runner.QUICK = 2
db.experiments.reproduce({str(tmp_path)!r}, only=["robustness"], progress=False)
print(*sys.modules, file=sys.stderr)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [module.split(".")[1:] for module in run.stderr.split() if module.startswith("dirichlet_bandits.")]
    assert not {"crops", "live", "storage", "service"} & {module[0] for module in loaded}
    found = {module[1] for module in loaded if module[0] == "policies" and len(module) > 1}
    classes = [getattr(db.policies, name) for name in dir(db.policies) if name[0].isupper()]
    families = {kind.__module__.split(".")[2] for kind in classes if hasattr(kind, "reference")}
    assert families & found - {"interface"} == {"dirichlet", "ucb"}


def test_a_report_runs_nothing():
    code = """
import sys
from dirichlet_bandits.report import regret_chapter, write
print(*sys.modules, file=sys.stderr)
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()
    assert not [module for module in loaded if module.startswith("dirichlet_bandits.simulation")]
