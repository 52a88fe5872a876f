"""Whoever compiles is told, and where compiled code is kept."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dirichlet_bandits
from tests.bounds import SECONDS
from tests.conftest import COINS

INIT = """
import logging, sys
import dirichlet_bandits as db
{before}
db.UCB1(sigma=1.0).init(2)
"""
LOG = "logging.basicConfig(level=logging.INFO, format='%(name)s: %(message)s')"
SAID = "dirichlet_bandits: compiling UCB1, once\n"


def init(before, *, path=None, **environment):
    """What a process that needs a compiled function says on its stderr."""
    variables = {**os.environ, **environment}
    if path is not None:
        variables["PYTHONPATH"] = str(path)
    code = INIT.format(before=before)
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    return done.stderr


def on_a_terminal(before, **environment):
    """The same, on a terminal."""
    import pty

    ours, theirs = pty.openpty()
    code = INIT.format(before=before)
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **environment}, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(SECONDS) == 0
    return said.decode()


def test_a_record_the_first_time_and_none_the_second(tmp_path):
    assert init(LOG, NUMBA_CACHE_DIR=str(tmp_path)) == SAID
    assert list(tmp_path.rglob("*.nbc")), "the cache is not where the environment wants it"
    assert init(LOG, NUMBA_CACHE_DIR=str(tmp_path)) == ""


def test_nothing_is_printed_where_there_is_no_terminal(tmp_path):
    assert init("", NUMBA_CACHE_DIR=str(tmp_path)) == ""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_spinner_on_a_terminal(tmp_path):
    where = {"NUMBA_CACHE_DIR": str(tmp_path), "TERM": "xterm"}
    said = on_a_terminal("", **where)
    assert "compiling UCB1, once" in said
    assert said.rstrip().endswith("\x1b[2K")  # the line is wiped out at the end
    assert on_a_terminal("", **where) == ""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("shown", [True, False])
def test_bars_keep_the_terminal_to_themselves(tmp_path, shown):
    opened = f"kept = bars({{'work': 1}}, {shown}, 'parts')\nkept.__enter__()"
    bars = f"from dirichlet_bandits.display.progress import bars\n{opened}"
    said = on_a_terminal(bars, NUMBA_CACHE_DIR=str(tmp_path), TERM="xterm")
    assert said.count("compiling UCB1, once") == shown  # a line, no spinner


def test_a_package_that_cannot_be_written_has_its_code_in_the_users_cache(tmp_path):
    package = tmp_path / "dirichlet_bandits"
    shutil.copytree(Path(dirichlet_bandits.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for room in (package, *(folder for folder in package.rglob("*") if folder.is_dir())):
        (room / "__pycache__").write_text("no folder")  # nobody can write there, not even root
    user = {"NUMBA_CACHE_DIR": "", "HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    (tmp_path / "home").mkdir()
    assert init(LOG, path=tmp_path, **user) == SAID
    assert list((tmp_path / "home" / "cache").rglob("*.nbc"))
    assert init(LOG, path=tmp_path, **user) == ""


INTERRUPTED = """
import logging, os, signal, warnings
import dirichlet_bandits as db
from dirichlet_bandits.compiler import compiling

class Press(logging.Handler):
    def emit(self, record):
        if record.getMessage() == "compiling UCB1, once":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
logging.getLogger("dirichlet_bandits").addHandler(Press())
logging.getLogger("dirichlet_bandits").setLevel(logging.INFO)
{work}
"""
SIMULATION = """
warnings.simplefilter("ignore")
bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
result = db.simulate(bandit, db.UCB1(1.0), horizon=100, replications=20, seed=0)
print(result.undone, compiling())
raise SystemExit(7)
"""
AGAIN = """
import atexit, threading, time

def press_later():
    time.sleep(1.0)  # the compilation takes many times as long
    os.kill(os.getpid(), signal.SIGINT)

atexit.register(lambda: threading.Thread(target=press_later, daemon=True).start())
"""
COMMAND = """
import sys
from dirichlet_bandits.cli import run
sys.argv[1:] = ["simulate", "experiment.toml", "--out", "runs.zarr"]
run()
"""


def interrupted(folder, work):
    """A process in which Ctrl-C comes as soon as a simulation is being compiled."""
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", INTERRUPTED.format(work=work)]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def compiled(folder):
    return list(folder.rglob("*play_chunk*.nbc"))


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_leaves_a_compilation_alone_and_the_end_of_a_script_waits_for_it(tmp_path):
    done = interrupted(tmp_path, SIMULATION)
    assert (done.returncode, done.stdout, done.stderr) == (7, "20 True\n", "")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_a_script_that_waits_for_a_compilation(tmp_path):
    done = interrupted(tmp_path, AGAIN + SIMULATION)
    assert done.returncode == 130
    assert not compiled(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_a_command_that_compiles(tmp_path):
    (tmp_path / "experiment.toml").write_text(COINS.format(horizon=100, replications=20))
    done = interrupted(tmp_path, COMMAND)
    assert done.returncode == 130
    assert done.stderr == "interrupted before the first replication was finished: nothing saved\n"
    assert not compiled(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_processes_that_compile(tmp_path):
    """Also where it reaches their parent alone."""
    command = [sys.executable, "-m", "dirichlet_bandits", "compile", "RDS", "--workers", "1"]
    parent = subprocess.Popen(command, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}, stderr=subprocess.PIPE)
    while not list(tmp_path.rglob("*.nbc")):  # the first of many functions
        time.sleep(0.1)
        assert parent.poll() is None
    parent.send_signal(signal.SIGINT)
    assert parent.communicate()[1] == b""
    assert parent.returncode == 130
    assert not compiled(tmp_path)


def test_functions_from_nowhere_are_none_of_ours(tmp_path):
    """Numba announces everybody's functions, also those without a module."""
    made = "names = {}; exec('def twice(x): return 2 * x', names); import numba; print(numba.njit(names['twice'])(2))"
    assert init(f"{LOG}; {made}", NUMBA_CACHE_DIR=str(tmp_path)) == SAID
