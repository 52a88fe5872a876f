"""One library plays everything it offers, in its own environment, and leaves what it measured in a file.

python -m benchmarks.peers.worker LIBRARY FIRST_SEED GAMES FILE
"""

import importlib.metadata
import json
import platform
import sys
import time
from pathlib import Path

from benchmarks.peers.players import FEWER, PLAYERS
from benchmarks.peers.problems import HORIZON, PROBLEMS, regret

DISTRIBUTIONS = ("dirichlet-bandits", "SMPyBandits", "mabwiser", "river", "numpy", "scipy", "numba")


def main(library: str, first: int, games: int) -> dict[str, object]:
    """Rows of regrets and processor seconds, and the versions that made them."""
    play, _, policies = PLAYERS[library]
    games = max(1, games // FEWER.get(library, 1))
    rows = []
    for problem, coins in PROBLEMS.items():
        for policy in policies:
            play(policy, coins, 4 * len(coins), [0])  # whatever is imported or compiled, before the clock starts
            begin = time.process_time()
            pulls = play(policy, coins, HORIZON, range(first, first + games))
            seconds = time.process_time() - begin
            rows.append((problem, policy, games * HORIZON / seconds, [regret(game, coins) for game in pulls]))
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
