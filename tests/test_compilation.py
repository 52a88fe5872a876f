"""Shared functions are compiled once, found again by the next process, and never stale."""

import os
import subprocess
import sys

CALLEE = """
import numpy as np
from dirichlet_bandits.compilation import shared

@shared
def scaled(x, factor):
    return np.append(x, {extra}) * factor, factor
"""

CALLER = """
import numpy as np
from dirichlet_bandits.compilation import entry_point, jit
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


def run(folder):
    """The sum, and whether the machine code came from the disk."""
    setting = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run([sys.executable, "-c", "import caller"], env=setting, capture_output=True, text=True)
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


def test_callers_survive_the_loss_of_the_shared_function(tmp_path):
    write(tmp_path, "1.0")
    run(tmp_path)
    lost = list((tmp_path / "cache").rglob("callee*.nb?"))
    assert lost
    for file in lost:
        file.unlink()
    assert run(tmp_path) == (15.0, 1)  # compiled again before the caller is loaded
