"""Functions are compiled once, with their callees linked in; shared ones are found again by the next process."""

import os
import subprocess
import sys

CALLEE = """
import numpy as np
from dirichlet_bandits.compiler import shared

@shared
def scaled(x, factor):
    return np.append(x, {extra}) * factor, factor
"""

CALLER = """
import numpy as np
from dirichlet_bandits.compiler import entry_point, jit
from callee import scaled

@jit
def between(x, factor):
    y, used = scaled(x, factor)
    return y.sum() + used

@entry_point
def total(x, n):
    found = 0.0
    for i in range(n):
        found += between(x, float(i))
    return found

if __name__ == "caller":
    print(total(np.ones(3), 3), sum(total.stats.cache_hits.values()))
"""


LINKS = """
import numba
import numpy as np
from dirichlet_bandits.compiler import jit
from caller import total

for decorator in (numba.njit, jit):
    assert decorator(lambda x: total(x, 3) + 1.0)(np.ones(3)) == 16.0
"""


def run(folder, code="import caller"):
    """The sum, and whether the machine code came from the disk."""
    setting = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run([sys.executable, "-c", code], env=setting, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, hits = done.stdout.split()
    return float(found), int(hits)


def write(folder, extra):
    for name, text in {"callee": CALLEE.format(extra=extra), "caller": CALLER}.items():
        (folder / f"{name}.py").write_text(text)
        os.utime(folder / f"{name}.py", (1e9, 1e9))  # an editor's time of long ago


def test_a_shared_function_is_there_for_the_next_process(tmp_path):
    write(tmp_path, "1.0")
    assert run(tmp_path) == (15.0, 0)
    assert run(tmp_path) == (15.0, 1)


def test_what_is_found_on_the_disk_can_be_linked_into_callers(tmp_path):
    write(tmp_path, "1.0")
    run(tmp_path)
    assert run(tmp_path, LINKS) == (15.0, 1)


def test_callers_survive_the_loss_of_the_shared_function(tmp_path):
    write(tmp_path, "1.0")
    run(tmp_path)
    lost = list((tmp_path / "cache").rglob("callee*.nb?"))
    assert lost
    for file in lost:
        file.unlink()
    assert run(tmp_path) == (15.0, 1)  # compiled again before the caller is loaded


SECOND_TIME = """
import numba
import numba.core.event as event
compiled = []

class Listener(event.Listener):
    def on_start(self, happened):
        compiled.append(happened.data["dispatcher"].py_func.__qualname__)
    def on_end(self, happened):
        pass

event.register("numba:compile", Listener())
numba.njit(lambda x: x)(1)  # it listens
import dirichlet_bandits as db

for law in (db.Bernoulli, db.Poisson):
    db.simulate(db.Bandit([law(0.3), law(0.6)]), db.UCB1(sigma=1.0), horizon=20, replications=2, seed=0, progress=False)
for policy in (db.UCB1(sigma=1.0), db.ThompsonSampling("bernoulli"), db.RDS()):
    study = db.create_study(type(policy).__name__, arms=["a", "b"], policy=policy, seed=1)
    for trial in range(6):
        study.tell(study.ask().id, trial % 2)
    study.summary()
print(compiled)
"""


def test_nothing_is_compiled_a_second_time():
    """In the cache of all tests: what they compiled is not compiled again for this one."""

    def compiled():
        command = [sys.executable, "-c", SECOND_TIME]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    compiled()
    assert compiled() == "['<lambda>']\n"
