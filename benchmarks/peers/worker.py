"""One library plays everything it offers, in its own environment, and leaves what it measured in a file.

python -m benchmarks.peers.worker LIBRARY FIRST_SEED GAMES FILE
"""

import importlib.metadata
import json
import platform
import sys
import time
from pathlib import Path

from benchmarks.peers.players import PLAYERS, SIZES
from benchmarks.peers.problems import HORIZON, PROBLEMS, regret

DISTRIBUTIONS = ("dirichlet-bandits", "SMPyBandits", "mabwiser", "river", "numpy", "scipy", "numba")


def main(library: str, first: int, games: int) -> dict[str, object]:
    """Rows of regrets and processor seconds, and the versions that made them."""
    play, _, policies = PLAYERS[library]
    more, part = SIZES.get(library, (1.0, 1.0))
    seeds, horizon = range(first, first + max(1, round(more * games))), round(part * HORIZON)
    rows = []
    for problem, coins in PROBLEMS.items():
        for policy in policies:
            play(policy, coins, 4 * len(coins), [0])  # whatever is imported or compiled, before the clock starts
            begin = time.process_time()
            pulls = play(policy, coins, horizon, seeds)
            seconds = time.process_time() - begin
            lost = [regret(game, coins) for game in pulls] if horizon == HORIZON else []
            rows.append((problem, policy, len(seeds) * horizon / seconds, lost))
    return {"versions": versions(), "rows": rows}


def versions() -> dict[str, str]:
    """Of Python and of what is installed here."""
    found = {"Python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    library, first, games, file = sys.argv[1:]
    Path(file).write_text(json.dumps(main(library, int(first), int(games))), encoding="utf-8")
