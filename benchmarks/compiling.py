"""How long the first simulation with each policy takes from an empty cache, beside a reference compilation.

``python -m benchmarks.compiling [POLICY ...]``, or ``--write`` for the table in ``docs/howto_compile.md``. Processor
seconds; each policy compiles in a process and with a cache of its own, so what policies share is compiled again for
each. The reference is a function of a hundred lines, compiled by Numba in the same process: where it takes twice as
long, so does everything.

A second process finds the machine code in the cache. What it needs before its first answer is the import of NumPy and
Numba, which anybody pays who uses them, the import of the policies, and the first simulation.
"""

import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple


class Seconds(NamedTuple):
    """What a process needs for its first simulation, and for the reference."""

    numba: float
    library: float
    first: float
    reference: float


def first(name: str) -> Seconds:
    """Processor seconds of the imports and of the first simulation with a policy in this process."""
    start = time.process_time()
    import numba
    import numpy as np

    imported = time.process_time()
    import dirichlet_bandits as db

    bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
    policy = getattr(db, name).example()
    begin = time.process_time()
    db.simulate(bandit, policy, horizon=20, replications=2, seed=0, workers=1, progress=False)
    end = time.process_time()
    numba.njit(lambda x: x + 1)(1.0)  # what Numba loads once
    fixed = numba.njit(reference())
    compiling = time.process_time()
    fixed(np.ones(3))
    return Seconds(imported - start, begin - imported, end - begin, time.process_time() - compiling)


def reference() -> Any:
    """A function of a hundred lines: loops, branches and square roots."""
    lines = ["def fixed(x):", "    total, largest, turns = 0.0, 0.0, 0"]
    for k in range(19):
        lines += [
            f"    for i in range({k}, x.size):",
            f"        y = x[i] * {k + 1}.0 + total",
            "        if y > largest:",
            f"            largest, turns = y, turns + {k + 1}",
            "        total += math.sqrt(abs(y)) / (1.0 + i)",
        ]
    names: dict[str, Any] = {"math": math}
    exec("\n".join([*lines, "    return total + largest * turns"]), names)
    return names["fixed"]


def timed(name: str, cache: str) -> Seconds:
    """What :func:`first` says in a process of its own."""
    command = [sys.executable, "-c", f"from benchmarks.compiling import first; print(*first({name!r}))"]
    done = subprocess.run(command, env={**os.environ, "NUMBA_CACHE_DIR": cache}, stdout=subprocess.PIPE, text=True)
    done.check_returncode()
    return Seconds(*map(float, done.stdout.split()))


HEAD = ("cold", "/ reference", "reference", "from cache", "numpy, numba", "policies")
PAGE = Path(__file__).parent.parent / "docs" / "howto_compile.md"
MARKS = "<!-- compile times -->\n", "<!-- end of compile times -->"


def row(name: str) -> tuple[float, ...]:
    """Measure one policy."""
    with tempfile.TemporaryDirectory() as cache:
        cold, again = timed(name, cache), timed(name, cache)
    return cold.first, cold.first / cold.reference, cold.reference, again.first, again.numba, again.library


def write(rows: dict[str, tuple[float, ...]]) -> None:
    """Put the table into the page, slowest first."""
    slowest_first = sorted(rows, key=lambda name: -rows[name][0])
    lines = [f"| {name} | {rows[name][0]:.1f} | {rows[name][1]:.0f} |" for name in slowest_first]
    machine = f"{platform.machine()}, Python {platform.python_version()}, Numba {version('numba')}, {date.today()}"
    table = "\n".join(
        [f"Measured on {machine}.", "", "| policy | seconds | times the reference |", "|---|---|---|", *lines]
    )
    before, _, rest = PAGE.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}{table}\n{MARKS[1]}{after}")


def main(names: list[str], to_page: bool) -> None:
    """Print one row per policy."""
    print(f"  {'policy':18s}" + "".join(f"{title:>14s}" for title in HEAD))
    rows = {}
    for name in names:
        rows[name] = row(name)
        print(f"  {name:18s}" + "".join(f"{value:14.2f}" for value in rows[name]), flush=True)
    if to_page:
        write(rows)


if __name__ == "__main__":
    from dirichlet_bandits.policies.registry import all_policies

    given = sys.argv[1:]
    main([name for name in given if name != "--write"] or list(all_policies()), "--write" in given)
