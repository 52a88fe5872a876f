"""How long the first simulation with each policy takes from an empty cache, beside a reference compilation.

``python -m benchmarks.compiling [POLICY ...]``. Processor seconds; each policy compiles in a process and with a cache
of its own, so what policies share is compiled again for each. The reference is a function of a hundred lines, compiled
by Numba in the same process: where it takes twice as long, so does everything.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from typing import Any


def first(name: str) -> tuple[float, float]:
    """Seconds of the first simulation with a policy in this process, and of the reference."""
    import numba
    import numpy as np

    import dirichlet_bandits as db
    from dirichlet_bandits.cli.compile import sound_example

    bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
    policy = sound_example(getattr(db, name))
    begin = time.process_time()
    db.simulate(bandit, policy, horizon=20, replications=2, seed=0, workers=1, progress=False)
    end = time.process_time()
    numba.njit(lambda x: x + 1)(1.0)  # what Numba loads once
    fixed = numba.njit(reference())
    compiling = time.process_time()
    fixed(np.ones(3))
    return end - begin, time.process_time() - compiling


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


def timed(name: str, cache: str) -> list[float]:
    """What :func:`first` says in a process of its own."""
    command = [sys.executable, "-c", f"from benchmarks.compiling import first; print(*first({name!r}))"]
    done = subprocess.run(command, env={**os.environ, "NUMBA_CACHE_DIR": cache}, stdout=subprocess.PIPE, text=True)
    done.check_returncode()
    return [float(word) for word in done.stdout.split()]


def main(names: list[str]) -> None:
    """A row for each policy."""
    print(f"  {'policy':18s} {'cold':>7s} {'/ reference':>12s} {'reference':>10s} {'from cache':>11s}")
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            cold, fixed = timed(name, cache)
            again, _ = timed(name, cache)
        print(f"  {name:18s} {cold:7.2f} {cold / fixed:12.1f} {fixed:10.2f} {again:11.2f}", flush=True)


if __name__ == "__main__":
    from dirichlet_bandits.policies import POLICIES

    main(sys.argv[1:] or list(POLICIES))
