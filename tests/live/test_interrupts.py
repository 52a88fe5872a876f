"""Ctrl-C, or whatever a signal handler raises, at any step of a call: the study goes on as if nothing had been."""

import linecache
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import dirichlet_bandits as db

UCB1 = db.UCB1(sigma=1.0)
SOURCES = os.path.dirname(db.__file__)
SAFE = ("with ", "try:")  # Python runs no handler on the way into and out of a block

ALARMS = """
import random, signal
import dirichlet_bandits as db

class Alarm(Exception):
    pass

def ring(number, frame):
    raise Alarm

signal.signal(signal.SIGALRM, ring)
rng = random.Random(0)
"""

REAL_SIGNALS = """
study = db.create_study("s", arms=["a", "b", "c"], policy=db.UCB1(sigma=1.0), seed=1)
while len(study) < 5000:
    asked = study.ask(500)
    study.tell_many([trial.id for trial in asked], [rng.random() for _ in asked])
for _ in range(150):
    other = db.load_study("s", study.storage)  # it has everything to derive
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.0005, 0.02))
        try:
            other.ask()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Alarm:
        pass
    trial = other.ask()
    assert trial.id == len(study) - 1, (trial.id, len(study))
    assert other.pending == study.pending
    other.tell(trial.id, rng.random())
assert study.replay().same
print("whole")
"""


SIGNALS_AT_DECISIONS = """
for policy in (db.UCB1(sigma=0.5), db.RDS(), db.NPTS(upper=1.0), db.ThompsonSampling("bernoulli")):
    study = db.create_study("s", arms=["a", "b", "c"], policy=policy, seed=1)

    def pair():
        trial = study.ask()
        study.tell(trial, float(rng.random() < 0.4))

    for _ in range(30):
        pair()
    hits = 0
    while hits < 200 or len(study) <= 100:  # a busy machine makes fewer decisions between two alarms
        try:
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.0001, 0.003))
            while True:
                pair()
        except Alarm:
            hits += 1
    assert study.replay().same
    db.delete_study("s", study.storage, confirm="s")
print("whole")
"""


class Interrupt(BaseException):
    pass


def interrupted(act, step):
    """Act, and raise an interrupt just before the given line of the library's own; what was raised, or None."""
    left = step

    def trace(frame, event, argument):
        nonlocal left
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        if event == "line" and not linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip().startswith(SAFE):
            left -= 1
            if left < 0:
                raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except Interrupt as raised:
        return raised
    finally:
        sys.settrace(before)
    return None


def elsewhere(act):
    """The answer from another thread, which must not find a lock taken."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(act()), daemon=True)
    thread.start()
    thread.join(20)
    assert answers, "a lock was left behind"
    return answers[0]


@pytest.mark.parametrize(
    "verb",  # the slow ones change a study by the same steps as tell
    ["ask", "tell", "add_trials", "propensities"]
    + [pytest.param(verb, marks=pytest.mark.slow) for verb in ("void", "correct", "retire_arm")],
)
def test_an_interrupt_at_any_step_does_no_harm(verb, tmp_path):
    """Each line in turn; the exception is kept as a shell would, with all that its traceback holds."""
    study = db.create_study("s", arms=["a", "b", "c"], policy=UCB1, storage=f"sqlite:///{tmp_path}/s.db", seed=2)
    study.tell_many(range(4), [float(trial.id) for trial in study.ask(4)])
    steps, kept = 0, Interrupt()
    while kept is not None:
        pending = study.ask(2)
        acts = {
            "ask": lambda: study.ask(3),
            "tell": lambda pending=pending: study.tell(pending[0].id, 1.0),
            "void": lambda pending=pending: study.void(pending[0].id - 2, "a mistake"),
            "correct": lambda pending=pending: study.correct(pending[0].id - 2, 5.0),
            "add_trials": lambda: study.add_trials({"arm": ["a", "b"], "reward": [1.0, 2.0]}),
            "retire_arm": lambda: study.retire_arm("c"),
            "propensities": study.propensities,
        }
        kept = interrupted(acts[verb], steps)
        steps += 1
        for trial in study.pending:
            study.tell(trial.id, float(trial.id % 3))
        if "c" not in study.arms:
            study.add_arm("c")
        fresh = db.load_study("s", study.storage)
        assert elsewhere(lambda: len(study)) == len(fresh)
        assert study.trials_dataframe().equals(fresh.trials_dataframe())
        assert study.propensities() == fresh.propensities()
    assert steps > 20
    assert study.replay().same
    study.storage.close()


def test_an_interrupt_of_a_rename_leaves_the_handle_with_the_name_that_is_stored(tmp_path):
    """Each line in turn: the rename was stored or it was not, and the handle knows which."""
    study = db.create_study("0", arms=["a", "b"], policy=UCB1, storage=f"sqlite:///{tmp_path}/s.db", seed=2)
    outcomes, kept = [], Interrupt()
    while kept is not None:
        new = str(len(outcomes) + 1)
        kept = interrupted(lambda new=new: study.rename(new), len(outcomes))
        assert db.study_names(study.storage) == [elsewhere(lambda: study.name)]
        outcomes.append(study.name == new)
        assert study.ask().id == len(outcomes) - 1
    assert len(outcomes) > 20
    assert not outcomes[0]  # before the commit
    assert sum(outcomes) > 5  # after it
    study.storage.close()


@pytest.mark.parametrize("script", [REAL_SIGNALS, SIGNALS_AT_DECISIONS], ids=["derived again", "decisions"])
def test_real_signals_do_not_end_the_process(script):
    """Also on the way into compiled code and out of it: it used to end in a segmentation fault."""
    answer = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", ALARMS + script],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (0, "whole\n"), answer.stderr


LEFT_COMPILING = """
import signal, threading
from numba.core import event
from dirichlet_bandits.compiler import announcements
from dirichlet_bandits.compiler import shielded

left = []

def interrupt(number, frame):
    if not left or frame.f_code is announcements._wait.__code__:
        left.append(number)
        raise KeyboardInterrupt

def compile_for_ever():
    with event.trigger_event("numba:compile", {"dispatcher": compile_for_ever, "args": (), "return_type": None}):
        threading.Event().wait()

compile_for_ever.py_func = compile_for_ever
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
try:
    shielded(compile_for_ever)
except KeyboardInterrupt:
    print("left", flush=True)
"""


def test_a_second_interrupt_ends_a_process_that_waits_for_a_compilation():
    left = subprocess.run([sys.executable, "-c", LEFT_COMPILING], capture_output=True, text=True, timeout=30)
    assert (left.returncode, left.stdout, left.stderr) == (130, "left\n", "")
