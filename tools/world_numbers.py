"""Play the published problems of changing environments, store the regrets, and write them into docs/worlds.md.

    python -m tools.world_numbers 400        # all rows, with this many runs: twenty minutes of processor time
    python -m tools.world_numbers 400 PB1    # those whose names contain a word
    python -m tools.world_numbers            # only the table, from the stored numbers

Rows that are stored with as many runs are not played again; delete their file to do so. A test compares the stored
numbers with the references, and the page with the numbers.
"""

import json
import sys

from tests.environments.test_published import EXPLAINED, MEASURED, ROWS, TABLES, Row, disagreements, played
from tools.world_pictures import PAGE, between_marks

HEADINGS = {
    "thesis": "Besson (2019), problem 1, 5,000 pulls",
    "Bernoulli": "Baudry, Russac and Cappé (2021), coins, 10,000 pulls",
    "Gaussian": "Baudry, Russac and Cappé (2021), Gaussian arms, 10,000 pulls",
    "PB1": "Besson et al. (2022), problem 1, 20,000 pulls",
    "PB2": "Besson et al. (2022), problem 2, 20,000 pulls",
}


def stored() -> dict[str, dict[str, float]]:
    """The rows that have been measured."""
    known: dict[str, dict[str, float]] = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    return known


def measure(runs: int, words: list[str]) -> None:
    """Play the rows whose names contain all words, except those stored with as many runs, and store each at once."""
    for name in ROWS:
        if all(word in name for word in words) and stored().get(name, {"runs": 0})["runs"] < runs:
            mean, error = played(name, runs)
            known = {**stored(), name: {"mean": round(mean, 3), "error": round(error, 3), "runs": runs}}
            ordered = {row: known[row] for row in ROWS if row in known}
            MEASURED.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
            verdict = disagreements(name, mean, error) or ["agrees"]
            print(f"{name:28s} {mean:7.1f} ± {error:4.1f}", *verdict, flush=True)


def references(row: Row) -> list[str]:
    """The three cells of the references."""
    pairs = [f"{pair[0]:.1f} ± {pair[1]:.1f}" if pair else "" for pair in (row.printed, row.simulated)]
    return [*pairs, "" if row.drawn is None else f"{row.drawn:g}"]


def table() -> list[str]:
    """All measured rows in Markdown, beside their references."""
    measured = stored()
    lines = [
        "| | runs | regret | printed | independent simulation | off a figure, or no s.e. |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, rows in TABLES.items():
        lines.append(f"| **{HEADINGS[name]}** | | | | | |")
        for policy, row in rows.items():
            if f"{name} {policy}" not in measured:
                continue
            found = measured[f"{name} {policy}"]
            mark = " ★" if f"{name} {policy}" in EXPLAINED else ""
            cells = [policy + mark, str(found["runs"]), f"{found['mean']:.1f} ± {found['error']:.1f}", *references(row)]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def with_published(page: str) -> str:
    """The page with the table of published numbers written again."""
    return between_marks(page, "published", "tools/world_numbers.py", table())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]), sys.argv[2:])
    PAGE.write_text(with_published(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
