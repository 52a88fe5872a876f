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
    assert "replications were done and are saved in runs.zarr" in seen
    assert "UCB1" in stdout
    done = int(db.load(folder / "runs.zarr").summary().loc["UCB1 [half]", "replications"])
    assert 0 < done < 20_000
