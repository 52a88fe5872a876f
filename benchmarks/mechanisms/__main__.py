"""``python -m benchmarks.mechanisms [family ...]``: leave out one mechanism at a time, and print the table of the docs.

With ``--write`` the rows replace those of the family in ``docs/shortcuts.md``. Each row takes about a minute. A factor
is the ratio of two processor times, each of at least half a second.
"""

import ast
import functools
import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.simulation.copies import Edit, edited_copy, environment

import dirichlet_bandits as db
from benchmarks.mechanisms import Mechanism
from benchmarks.mechanisms.measure import HORIZONS
from benchmarks.mechanisms.problems import PROBLEMS

FAMILIES = ("dirichlet", "npts", "cvar")
DOCS = Path(__file__).parents[2] / "docs" / "shortcuts.md"
HEAD = f"| mechanism | shown with | lines | {' | '.join(PROBLEMS)} |\n|{'---|' * (3 + len(PROBLEMS))}\n"


def lines(part: str) -> int:
    """Count the lines of a file, or of one function or class of it."""
    file, _, name = part.partition(":")
    text = (Path(db.__file__).parent / file).read_text()
    if not name:
        return text.count("\n")
    (found,) = (node for node in ast.parse(text).body if getattr(node, "name", "") == name)
    first = min([found.lineno, *(mark.lineno for mark in found.decorator_list)])  # type: ignore[attr-defined]
    return int(found.end_lineno or 0) - first + 1


@functools.cache
def costs(policy: str, without: tuple[Edit, ...] = ()) -> dict[str, float]:
    """Return microseconds per pull, with the edits that leave a mechanism out."""
    with tempfile.TemporaryDirectory() as folder:
        copy = edited_copy(Path(folder), without)
        command = [sys.executable, "-m", "benchmarks.mechanisms.measure", policy]
        printed = subprocess.run(command, env=environment(copy), check=True, capture_output=True, text=True).stdout
    found = json.loads(printed.splitlines()[-1])
    if not found.pop("package").startswith(folder):
        raise RuntimeError("the copy was not imported")
    return dict(found)


def row(mechanism: Mechanism) -> str:
    """Measure one mechanism: a row of the table, with the factors at both horizons."""
    kept, left_out = costs(mechanism.policy), costs(mechanism.policy, mechanism.without)
    cells = [
        " / ".join(f"{left_out[f'{problem}, {horizon}'] / kept[f'{problem}, {horizon}']:.1f}" for horizon in HORIZONS)
        for problem in PROBLEMS
    ]
    size = sum(lines(part) for part in mechanism.parts)
    return f"| {mechanism.name} | {mechanism.policy} | {size} | {' | '.join(cells)} |\n"


if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if not name.startswith("--")] or list(FAMILIES)
    print(HEAD, end="", flush=True)
    for family in chosen:
        table = ""
        for mechanism in importlib.import_module(f"benchmarks.mechanisms.{family}").MECHANISMS:
            table += row(mechanism)
            print(table.splitlines()[-1], flush=True)
        if "--write" in sys.argv:
            text, begin, end = DOCS.read_text(), f"<!-- mechanisms: {family} -->\n", f"<!-- end: {family} -->\n"
            before, _, after = text.partition(begin)
            DOCS.write_text(before + begin + "\n" + HEAD + table + "\n" + end + after.partition(end)[2])
