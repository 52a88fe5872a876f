"""The command line as a process of its own: how it starts, and what Ctrl-C leaves."""

import os
import re
import signal
import subprocess
import sys

import pytest

import dirichlet_bandits as db

PROGRAM = [sys.executable, "-W", "error", "-m", "dirichlet_bandits"]


def test_module_shows_errors_without_traceback(tmp_path):
    answer = subprocess.run(
        [*PROGRAM, "simulate", "none.toml", "--out", "runs.zarr"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == "error: no experiment at 'none.toml'\n"


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
def test_a_closed_pipe_is_no_error():
    for words in (["policies", "--markdown"], ["policies"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([*PROGRAM, *words], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_is_heard_however_the_tests_were_started():
    """A shell lets jobs in the background ignore it, and they their children."""
    answer = subprocess.run(
        [sys.executable, "-c", "import os, signal, tests.conftest; os.kill(os.getpid(), signal.SIGINT)"],
        capture_output=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN) and None,
        check=False,
    )
    assert answer.returncode == -signal.SIGINT


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_ctrl_c_saves_what_is_done(coins):
    import pty

    folder = coins(horizon=200_000, replications=20_000)
    ours, theirs = pty.openpty()  # on a terminal progress bars show: they tell when the first replications are done
    process = subprocess.Popen(
        [*PROGRAM, "simulate", "coins.toml", "--out", "runs.zarr"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    try:
        seen = ""
        while not re.search(r"[1-9]\d*/20000", seen):
            seen += os.read(ours, 4096).decode()
        process.send_signal(signal.SIGINT)
        try:
            while True:  # drained to the end, so that it never waits for us
                seen += os.read(ours, 4096).decode()
        except OSError:  # how Linux says that the other side is closed
            pass
        stdout, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert process.returncode == 130
    assert "replications were finished and are saved in runs.zarr" in seen
    assert "UCB1" in stdout
    done = int(db.load(folder / "runs.zarr").summary().loc["UCB1 [half]", "replications"])
    assert 0 < done < 20_000


EARLY_CTRL_C = """
import os, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == pressed:
            os.kill(os.getpid(), signal.SIGINT)

pressed = sys.argv.pop()
sys.meta_path.insert(0, Press())
from dirichlet_bandits.cli import run

sys.argv.append("policies")
run()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("module", ["typer", "dirichlet_bandits.cli.study", "numpy"])
def test_ctrl_c_during_imports_shows_no_traceback(module):
    answer = subprocess.run([sys.executable, "-c", EARLY_CTRL_C, module], capture_output=True, text=True, check=False)
    assert answer.returncode in (-signal.SIGINT, 130)
    assert (answer.stdout, answer.stderr) == ("", "")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_while_the_commands_are_made_shows_no_traceback():
    words = "import os, signal, typer.main as t; t.get_command = lambda app: os.kill(os.getpid(), signal.SIGINT)"
    script = f"{words}\nfrom dirichlet_bandits.cli import run\nrun()"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (130, "", "")


def test_letters_that_a_terminal_does_not_have(tmp_path):
    """The trial is stored by then: its arm must be shown somehow."""
    db.create_study("s", arms=["maïs 🌽"], policy=db.UCB1(sigma=1.0), storage=f"sqlite:///{tmp_path}/s.db", seed=1)
    answer = subprocess.run(
        [*PROGRAM, "study", "ask", "s", "--storage", f"sqlite:///{tmp_path}/s.db"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=False,
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "0\tmaïs \\U0001f33d\t1\n".encode("latin-1"), b"")
