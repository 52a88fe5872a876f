"""Other libraries beside ours, in one run: steps per second of one core, and regret.

    python -m benchmarks.peers                # a few minutes; the first time it installs them into .peers/
    python -m benchmarks.peers --games 20     # quicker, less sure
    python -m benchmarks.peers.examples       # where one of them does something else than its documentation says

Libraries take turns, so that a noisy machine is noisy for all; the rate is the median of the turns, the regret is over
all games. Processor time is counted, imports and compilation are not.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.peers.environments import interpreter, run
from benchmarks.peers.players import PLAYERS
from benchmarks.peers.problems import HORIZON, PROBLEMS

TURNS = 3


def main(games: int) -> None:
    """Play, and print the tables as Markdown."""
    rates: dict[tuple[str, str, str], list[float]] = {}
    regrets: dict[tuple[str, str, str], list[float]] = {}
    versions = {}
    pythons = {library: interpreter(library, packages) for library, (_, packages, _) in PLAYERS.items()}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "measured.json"
        for turn in range(TURNS):
            for library, python in pythons.items():
                share = games // TURNS
                run(python, "benchmarks.peers.worker", library, str(1 + turn * share), str(share), str(file))
                measured = json.loads(file.read_text(encoding="utf-8"))
                versions[library] = measured["versions"]
                for problem, policy, rate, lost in measured["rows"]:
                    rates.setdefault((problem, policy, library), []).append(rate)
                    regrets.setdefault((problem, policy, library), []).extend(lost)
    for problem, coins in PROBLEMS.items():
        print(f"\n{problem}: {', '.join(map(str, coins))}; {HORIZON} pulls\n")
        print("| policy | library | steps per second | regret | games |\n|---|---|---:|---:|---:|")
        for (where, policy, library), measured in sorted(rates.items(), key=lambda item: item[0][1]):
            if where == problem:
                lost = regrets[where, policy, library]
                rate = f"{float(f'{statistics.median(measured):.3g}'):,.0f}".replace(",", " ")
                print(f"| {policy} | {library} | {rate} | {mean_of(lost)} | {len(lost) or '-'} |")
    print()
    for library, found in versions.items():
        print(f"- {library}: {', '.join(f'{name} {version}' for name, version in found.items())}")


def mean_of(lost: list[float]) -> str:
    """Mean regret and its standard error, of whole games."""
    if len(lost) < 2:
        return "-"
    return f"{statistics.mean(lost):.1f} ± {statistics.stdev(lost) / len(lost) ** 0.5:.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=60, help="of each policy on each problem")
    main(parser.parse_args().games)
