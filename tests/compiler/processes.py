"""Processes that run small programs with a Numba cache of their own."""

import os
import subprocess
import sys
from pathlib import Path


def run(folder, code, *arguments, check=True, **environment):
    """Run Python code in a folder, which is on its path; the cache is in its subfolder ``cache``."""
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONHASHSEED": "0",
        **environment,
    }
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, done.stderr
    return done


def printed(folder, code, *arguments, **environment):
    """What such a process prints."""
    return run(folder, code, *arguments, **environment).stdout


def write(folder, **modules):
    """Write modules, dated long ago: nothing is kept of code that may have been edited since a process began."""
    for name, text in modules.items():
        path = Path(folder, f"{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1e9, 1e9))


PARAMETERLESS = """
from dataclasses import dataclass
from typing import NamedTuple
import dirichlet_bandits as db

class MineParams(NamedTuple):
    unused: int

@dataclass(frozen=True)
class Mine(db.Policy):
    assumes = "nothing"
    reference = "none"

    @property
    def params(self):
        return MineParams(0)
"""  # a policy that lacks only its verbs


def cached(folder, pattern="*.nb?"):
    """The files of the cache by name, with their contents."""
    return {path.name: path.read_bytes() for path in (folder / "cache").rglob(pattern)}
