"""Compiling ahead happens in other processes, and their mistakes come back; what is compiled is not compiled again."""

import operator
import os
import shutil
import signal
import subprocess
import sys
import types
from functools import partial

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.simulation.compile_ahead import Simulation, in_processes
from tests.bounds import SECONDS
from tests.compiler.processes import write

BANDIT = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])


def test_compiling_ahead_reaches_the_simulation_of_every_pair():
    jobs = [Simulation(BANDIT, policy).job for policy in (db.UCB1(0.5), db.NPTS(upper=0.5))]
    with pytest.raises(db.ArgumentError, match="fit for rewards in"):  # what simulate says of the last one
        in_processes(jobs, workers=1, progress=False)


EMPTY = """
import dirichlet_bandits as db
from dirichlet_bandits.simulation.compile_ahead import Simulation
bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
print(*(Simulation(bandit, db.UCB1(0.5)).is_compiled() for _ in range(2)))
"""


def test_whether_something_is_compiled_is_found_out_without_compiling(tmp_path):
    db.simulate(BANDIT, db.UCB1(0.5), horizon=20, replications=1, seed=0)
    assert Simulation(BANDIT, db.UCB1(0.5)).is_compiled()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", EMPTY]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert said == "False False\n"
    assert not list(tmp_path.rglob("*.nbi"))


IDLE = [(f"idle {k}", partial(operator.add, k, 1)) for k in range(6)]


def own_function():
    """A function of a module that exists in this process alone."""
    module = types.ModuleType("made_here")
    exec("def work(): pass", vars(module))
    sys.modules["made_here"] = module
    return module.work


class OddError(Exception):
    """An exception that pickle can write, but not read."""

    def __init__(self, first, second):
        super().__init__("short")


def fail():
    raise OddError(1, 2)


@pytest.mark.parametrize(
    ("job", "kind", "message"),
    [
        (partial(os._exit, 9), db.LostWorkerError, r"that compiled the victim ended unexpectedly \(status 9\)"),
        (
            partial(signal.raise_signal, signal.SIGKILL),  # as the system does if memory runs out
            db.LostWorkerError,
            r"that compiled the victim ended unexpectedly \(status -9\); if memory ran out, use fewer workers",
        ),
        (own_function(), db.LostWorkerError, r"could not import what the victim needs .*made_here.*workers=1"),
        (fail, RuntimeError, "the victim: OddError"),
        (partial(operator.truediv, 1, 0), ZeroDivisionError, "division by zero"),
    ],
    ids=["ends", "is killed", "cannot import", "raises something odd", "raises"],
)
def test_a_failed_process_ends_the_call_and_is_named(job, kind, message):
    """With fewer processes than jobs; a second call works."""
    with pytest.raises(kind, match=message) as caught:
        in_processes([*IDLE[:3], ("the victim", job), *IDLE[3:]], workers=2, progress=False)
    if kind is ZeroDivisionError:
        assert caught.value.__notes__ == ["This happened in a process that compiled the victim."]
    in_processes(IDLE[:2], workers=1, progress=False)


def test_processes_that_cannot_start_end_the_call(monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(db.LostWorkerError, match=r"that compiled idle [01] ended unexpectedly \(status 1\)"):
        in_processes(IDLE, workers=2, progress=False)


def test_a_job_that_cannot_be_sent_ends_the_call():
    with pytest.raises((AttributeError, TypeError), match="pickle"):
        in_processes([*IDLE, ("a generator", (k for k in IDLE))], workers=2, progress=False)


OFFERED = """
import numpy as np
import dirichlet_bandits as db
from dirichlet_bandits.simulation import compile_ahead
from dirichlet_bandits.simulation.plan import make_plan
import elsewhere

compile_ahead.cores = lambda: 2
compile_ahead.Simulation.is_compiled = lambda _: False
compile_ahead.in_processes = lambda jobs, **_: print(*sorted(name for name, _ in jobs))

class Own(elsewhere.Coin):
    pass

class OwnObjective(db.CVaR):
    pass

class OwnPolicy(db.EpsilonGreedy):
    pass

def offer(arm, *more, objective=None):
    policies = {str(k): policy for k, policy in enumerate((db.UCB1(1.0), db.EqualSplit(), *more))}
    bandit = db.Bandit([arm, db.Bernoulli(0.5)], objective=objective)
    plan = make_plan(bandit, policies, horizon=9, replications=1, seed=0, record=1, fast=True)
    compile_ahead.compile_missing(plan, workers=2, progress=False)

offer(elsewhere.Coin())
offer(Own())
offer(db.Bernoulli(0.1), objective=OwnObjective(0.5))
offer(db.Bernoulli(0.1), OwnPolicy(0.5))
offer(elsewhere.on_no_path())
"""
ELSEWHERE = """
import types

class Coin:
    def rvs(self, size, random_state):
        return random_state.integers(0, 2, size) * 1.0

    def mean(self):
        return 0.5

def on_no_path():
    module = types.ModuleType("on_no_path")
    import sys
    sys.modules["on_no_path"] = module
    exec("from elsewhere import Coin\\nclass Own(Coin): pass", vars(module))
    return module.Own()
"""


@pytest.mark.parametrize(
    "command", [["-c", OFFERED], ["-"], ["script.py"], ["-m", "own"]], ids=["prompt", "input", "script", "package"]
)
def test_own_classes_are_compiled_where_they_are_defined(tmp_path, command):
    """A class of the script is not sent to other processes, in whatever part of a job; one of a module is."""
    write(tmp_path, elsewhere=ELSEWHERE, script=OFFERED, **{"own/__init__": "", "own/__main__": OFFERED})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env=environment,
        input=OFFERED,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    ).stdout
    assert said == "EqualSplit() UCB1(sigma=1.0)\n" * 2


SHADOW = "from pathlib import Path; Path(__file__).with_name('executed').touch()"
WORK = """
from pathlib import Path

def work():
    import html, math, sysconfig  # of the standard library
    assert html.escape("<") == "&lt;"
    Path(__file__).with_name("worked").touch()
"""
SEND = """
import sys
from dirichlet_bandits.simulation.compile_ahead import in_processes
sys.path.insert(0, {folder!r})
import own_module
in_processes([("mine", own_module.work)], workers=1, progress=False)
"""


@pytest.mark.parametrize("folder", ["", "modules"])
def test_files_of_the_user_do_not_replace_the_standard_library(tmp_path, folder):
    """Processes that compile find the modules of the user, but run no file just because of its name."""
    write(tmp_path, html=SHADOW, math=SHADOW, sysconfig=SHADOW, site=SHADOW)
    write(tmp_path / folder, own_module=WORK, html=SHADOW)
    command = [sys.executable, "-P", "-c", SEND.format(folder=folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=SECONDS)
    assert (tmp_path / folder / "worked").exists()
    assert not list(tmp_path.rglob("executed"))
