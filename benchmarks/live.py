"""``python -m benchmarks.live``: does a study get slower with age, and what does durability leave of its time?

Three numbers, each a ratio measured in one run: ask and tell at trial 200 000 against trial 100; ask+tell pairs
against bare pairs of commits in the same folder; and the seconds that a study of 200 000 trials needs to open.
"""

import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dirichlet_bandits as db
from dirichlet_bandits.storage import MemoryStorage, open_storage

OLD = 200_000
YOUNG = 100
PAIRS = 400
OPEN = (
    "import sys, time, dirichlet_bandits as db\n"
    "begin = time.perf_counter()\n"
    "study = db.load_study('old', sys.argv[1])\n"
    "n = len(study)\n"
    "opened = time.perf_counter()\n"
    "study.ask()\n"
    "print(n, opened - begin, time.perf_counter() - opened)\n"
)


def rewards(bandit: db.Bandit, seed: int) -> Callable[[str], float]:
    """A reward of an arm by its name."""
    rng = np.random.default_rng(seed)
    stock = {name: np.asarray(law.rvs(OLD, rng)) for name, law in zip(bandit.names, bandit.arms, strict=True)}
    used = dict.fromkeys(bandit.names, 0)

    def draw(arm: str) -> float:
        used[arm] += 1
        return float(stock[arm][used[arm] % OLD])

    return draw


def played(bandit: db.Bandit, policy: db.Policy, trials: int, draw: Callable[[str], float]) -> db.Study:
    """A study in memory with so many trials told, two hundred at a time to save time."""
    study = db.create_study("s", arms=list(bandit.names), policy=policy, storage=MemoryStorage(), seed=0)
    while len(study) < trials:
        asked = study.ask(min(trials - len(study), max(1, len(study) // 1000)))
        study.tell_many([trial.id for trial in asked], [draw(trial.arm) for trial in asked])
    return study


def copied(study: db.Study, url: str, name: str) -> db.Study:
    """The same study in a database."""
    settings = study.storage.settings("s")
    assert settings is not None
    open_storage(url, create=True).create(name, settings, study.storage.read("s", data=True))
    return db.load_study(name, url)


def timed(study: db.Study, draw: Callable[[str], float], asks: list[float], tells: list[float]) -> None:
    """One ask and one tell."""
    begin = time.perf_counter()
    trial = study.ask()
    middle = time.perf_counter()
    study.tell(trial.id, draw(trial.arm))
    tells.append(time.perf_counter() - middle)
    asks.append(middle - begin)


def bare(folder: Path) -> Callable[[], None]:
    """A pair of commits, each of one row, as durable as those of a study."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE events (number INTEGER PRIMARY KEY, value REAL)")

    def pair() -> None:
        for _ in range(2):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO events (value) VALUES (0.5)")
            connection.execute("COMMIT")

    return pair


def age(name: str, bandit: db.Bandit, policy: db.Policy, folder: Path) -> None:
    """All three numbers for one policy; old and young take turns, so that both meet the same noise."""
    draw = rewards(bandit, 0)
    url = f"sqlite:///{folder}/{name}.db"
    old = copied(played(bandit, policy, OLD, draw), url, "old")
    young = copied(played(bandit, policy, YOUNG, draw), url, "young")
    pair, commits = bare(folder), list[float]()
    times: dict[str, tuple[list[float], list[float]]] = {"old": ([], []), "young": ([], [])}
    for study in (old, young):
        timed(study, draw, [], [])
    for _ in range(PAIRS):
        timed(old, draw, *times["old"])
        timed(young, draw, *times["young"])
        begin = time.perf_counter()
        pair()
        commits.append(time.perf_counter() - begin)
    middle = {key: [statistics.median(values) for values in both] for key, both in times.items()}
    (old_ask, old_tell), (young_ask, young_tell) = middle["old"], middle["young"]
    bare_pair = statistics.median(commits)
    print(f"{name}: after {OLD} trials, told by arm {old.summary()['told'].tolist()}")
    print(f"  ask   {1e6 * old_ask:6.0f} us, {old_ask / young_ask:5.2f} times that at trial {YOUNG}")
    print(f"  tell  {1e6 * old_tell:6.0f} us, {old_tell / young_tell:5.2f} times that at trial {YOUNG}")
    print(
        f"  rate  {bare_pair / (old_ask + old_tell):6.2f} of that of bare pairs of commits ({1e6 * bare_pair:.0f} us)"
    )
    answer = subprocess.run([sys.executable, "-c", OPEN, url], capture_output=True, text=True, check=True).stdout
    trials, opened, asked = answer.split()
    print(
        f"  opens in {float(opened):.2f} s in a fresh process ({trials} trials), the first ask in {float(asked):.2f} s"
    )


def main() -> None:
    """The default policy on four planting dates, on two that are almost equal, and some other policies."""
    from benchmarks.problems import near_tie, upper

    maize = db.crops.maize_planting("spring")
    cases: dict[str, tuple[db.Bandit, db.Policy]] = {
        "RDS": (maize, db.RDS()),
        "RDS-near-tie": (near_tie(), db.RDS()),
        "UCB1": (maize, db.UCB1(sigma=upper(maize) / 2)),
        "QDS": (maize, db.QDS()),
        "RBSDA": (maize, db.RBSDA()),
        "NPTS": (maize, db.NPTS(upper(maize))),
    }
    for name in sys.argv[1:] or cases:
        with tempfile.TemporaryDirectory() as folder:
            age(name, *cases[name], Path(folder))


if __name__ == "__main__":
    main()
