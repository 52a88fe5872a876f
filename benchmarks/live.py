"""``python -m benchmarks.live``: does a study get slower with age, and what does durability leave of its time?

Ask and tell at trial 200 000 against trial 100, by the clock and in processor time (a slow disk hides what a
busy processor does); ask+tell pairs against bare pairs of commits in the same folder; and the seconds that a study
of 200 000 trials needs to open and to decide for the first time. All ratios are measured in one run, the two sides
taking turns. ``python -m benchmarks.live memory`` counts decisions per second in memory instead, with propensities
(``--write`` puts them into ``docs/live.md``), and ``python -m benchmarks.live forgetting`` measures how an ask of a
policy that forgets depends on the age of the study.
"""

import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import dirichlet_bandits as db
from dirichlet_bandits.storage import MemoryStorage, open_storage

OLD = 200_000
YOUNG = 100
PAIRS = 400
PAGE = Path(__file__).parents[1] / "docs/live.md"
MARKS = "<!-- decisions per second -->\n", "<!-- end of decisions per second -->"
OPEN = (
    "import sys, time, dirichlet_bandits as db\n"
    "begin, work = time.perf_counter(), time.process_time()\n"
    "study = db.load_study('old', sys.argv[1])\n"
    "n = len(study)\n"
    "opened, worked = time.perf_counter(), time.process_time()\n"
    "study.ask()\n"
    "print(n, opened - begin, worked - work, time.perf_counter() - opened, time.process_time() - worked)\n"
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


def empty(bandit: db.Bandit, policy: db.policies.Policy) -> db.Study:
    """A study in memory without trials."""
    return db.create_study("s", arms=list(bandit.names), policy=policy, storage=MemoryStorage(), seed=0)


def played(bandit: db.Bandit, policy: db.policies.Policy, trials: int, draw: Callable[[str], float]) -> db.Study:
    """A study in memory with so many trials told, in batches of up to one percent of them to save time."""
    study = empty(bandit, policy)
    while len(study) < trials:
        asked = study.ask(min(trials - len(study), max(1, len(study) // 100)))
        study.tell_many([trial.id for trial in asked], [draw(trial.arm) for trial in asked])
    return study


def copied(study: db.Study, url: str, name: str) -> db.Study:
    """The same study in a database."""
    settings = study.storage.settings("s")
    assert settings is not None
    open_storage(url, create=True).create(name, settings, study.storage.read("s", data=True))
    return db.load_study(name, url)


class Times:
    """Seconds of asks and tells, by the clock and of the processor."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, float, float, float]] = []

    def pair(self, study: db.Study, draw: Callable[[str], float]) -> None:
        """One ask and one tell."""
        clock, work = [time.perf_counter()], [time.process_time()]
        trial = study.ask()
        reward = draw(trial.arm)
        clock.append(time.perf_counter())
        work.append(time.process_time())
        study.tell(trial.id, reward)
        clock.append(time.perf_counter())
        work.append(time.process_time())
        self.rows.append((clock[1] - clock[0], clock[2] - clock[1], work[1] - work[0], work[2] - work[1]))

    @property
    def medians(self) -> tuple[float, ...]:
        """Of ask and tell by the clock, of ask and tell of the processor."""
        return tuple(statistics.median(column) for column in zip(*self.rows, strict=True))


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


def age(name: str, bandit: db.Bandit, policy: db.policies.Policy, folder: Path) -> None:
    """All three numbers for one policy; old and young take turns, so that both meet the same noise."""
    draw = rewards(bandit, 0)
    url = f"sqlite:///{folder}/{name}.db"
    old = copied(played(bandit, policy, OLD, draw), url, "old")
    young = copied(played(bandit, policy, YOUNG, draw), url, "young")
    pair, commits, times = bare(folder), list[float](), {"old": Times(), "young": Times()}
    for study in (old, young):
        Times().pair(study, draw)
    for _ in range(PAIRS):
        times["old"].pair(old, draw)
        times["young"].pair(young, draw)
        begin = time.perf_counter()
        pair()
        commits.append(time.perf_counter() - begin)
    print(f"{name}: after {OLD} trials, told by arm {old.summary()['told'].tolist()}")
    before, after = times["young"].medians, times["old"].medians
    for k, verb in enumerate(("ask", "tell")):
        clock, work = after[k] / before[k], after[k + 2] / before[k + 2]
        print(f"  {verb:4s}  {1e6 * after[k]:6.0f} us: {clock:.2f} times that at trial {YOUNG}", end="")
        print(f"; processor {1e6 * after[k + 2]:6.0f} us: {work:.2f} times")
    bare_pair = statistics.median(commits)
    print(
        f"  rate  {bare_pair / (after[0] + after[1]):.2f} of that of bare pairs of commits ({1e6 * bare_pair:.0f} us)"
    )
    answer = subprocess.run([sys.executable, "-c", OPEN, url], capture_output=True, text=True, check=True).stdout
    trials, *seconds = answer.split()
    print(f"  in a fresh process, {trials} trials:")
    for what, clock, work in (("opens", *seconds[:2]), ("first ask", *seconds[2:])):
        print(f"    {what} in {float(clock):.2f} s, {float(work):.2f} s of the processor")


def memory(write: bool) -> None:
    """Print how many ask and tell pairs one thread makes per second in memory, and how an ask depends on age."""
    coins = db.Bandit([db.Bernoulli(0.3 + 0.02 * k) for k in range(10)])
    few = db.Bandit([db.Bernoulli(0.3 + 0.02 * k) for k in range(4)])
    shares = db.Bandit([db.Beta(2.0 + 0.2 * k, 3.0) for k in range(4)])
    cases: dict[str, tuple[db.Bandit, db.policies.Policy]] = {
        "UCB1, 4 arms": (few, db.UCB1(sigma=0.5)),
        "RDS, 4 arms": (few, db.RDS()),
        "Thompson Sampling, 10 arms": (coins, db.ThompsonSampling("bernoulli")),
        "NPTS, 4 arms": (few, db.NPTS(upper=1.0)),
        "NPTS, 4 arms, continuous rewards": (shares, db.NPTS(upper=1.0)),
    }
    ages = f"an ask at {AGES[-1]:,} trials over one at {YOUNG}"
    lines = [f"| at {YOUNG} trials | pairs per second | per second of the processor | {ages} |", "|---|---:|---:|---:|"]
    print(*lines, sep="\n")
    for name, (bandit, policy) in cases.items():
        draw = rewards(bandit, 0)
        studies = {trials: played(bandit, policy, trials, draw) for trials in (YOUNG, AGES[-1])}
        times = {trials: Times() for trials in studies}
        for _ in range(PAIRS // 4):
            for trials, study in studies.items():
                times[trials].pair(study, draw)
        ask, tell, work_ask, work_tell = times[YOUNG].medians
        rates = f"{1.0 / (ask + tell):,.0f} | {1.0 / (work_ask + work_tell):,.0f}"
        lines.append(f"| {name} | {rates} | {times[AGES[-1]].medians[2] / work_ask:.2f} |")
        print(lines[-1], flush=True)
    if write:
        machine = f"{platform.machine()}, Python {platform.python_version()}, Numba {version('numba')}, {date.today()}"
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        text = "\n".join([*lines, "", f"Measured on {machine}."])
        PAGE.write_text(f"{before}{MARKS[0]}{text}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")


AGES = (100, 1_000, 10_000, 100_000)


def forgetting(words: list[str]) -> None:
    """Print the processor time of an ask at several ages, as a ratio to that of a full memory, and the state's size.

    The past is added at once. A memory is full after ``window`` trials, or after 14 / (1 - gamma) with discounts: 400
    and 1,400 here. Studies of all ages take turns.
    """
    arms = db.Bandit([db.Uniform(0.0, 0.6), db.Uniform(0.0, 1.0), db.Uniform(0.1, 1.0)], names=["a", "b", "c"])
    inner: dict[str, db.policies.Policy] = {"UCB1": db.UCB1(0.5), "RDS": db.RDS(), "NPTS": db.NPTS(1.0)}
    cases: dict[str, db.policies.Policy] = {f"{name}, window": db.SlidingWindow(x, 400) for name, x in inner.items()}
    cases |= {f"{name}, discount": db.policies.Discounted(x, 0.99) for name, x in inner.items()}
    cases["SWLBSDA"] = db.policies.SWLBSDA(400)
    for name, policy in cases.items():
        if not all(word in name for word in words):
            continue
        draw, studies = rewards(arms, 0), {}
        past = np.random.default_rng(0).choice(list(arms.names), AGES[-1])
        history = pd.DataFrame({"arm": past, "reward": [draw(arm) for arm in past]})
        for trials in AGES:
            studies[trials] = study = empty(arms, policy)
            study.add_trials(history[-trials:])  # so those with a full memory remember the same rewards
            Times().pair(study, draw)
        times = {trials: Times() for trials in AGES}
        for _ in range(PAIRS // 20):
            for trials, study in studies.items():
                times[trials].pair(study, draw)
        asks = {trials: timed.medians[2] for trials, timed in times.items()}
        ratios = ", ".join(f"{asks[trials] / asks[10_000]:.2f} at {trials:,}" for trials in AGES)
        state = policy.init(len(arms))
        size = sum(part.nbytes for part in state)
        print(f"{name:16s} {1e3 * asks[10_000]:7.2f} ms at 10,000 trials; ratios {ratios}; state of {size:,} bytes")


def main() -> None:
    """The default policy on four planting dates, on two that are almost equal, and some other policies."""
    from benchmarks.problems import near_tie, upper

    if sys.argv[1:2] == ["memory"]:
        memory("--write" in sys.argv)
        return
    if sys.argv[1:2] == ["forgetting"]:
        forgetting(sys.argv[2:])
        return
    maize = db.crops.maize_planting("spring")
    counts = db.Bandit([db.Poisson(3.0), db.Poisson(3.3), db.Poisson(2.0)], names=["a", "b", "c"])
    cases: dict[str, tuple[db.Bandit, db.policies.Policy]] = {
        "RDS": (maize, db.RDS()),
        "RDS-near-tie": (near_tie(), db.RDS()),
        "UCB1": (maize, db.UCB1(sigma=upper(maize) / 2)),
        "BDS": (maize, db.BDS(upper=upper(maize))),
        "QDS": (maize, db.QDS()),
        "RBSDA": (maize, db.RBSDA()),
        "EmpiricalIMED": (maize, db.EmpiricalIMED(upper=upper(maize))),
        "EmpiricalKLUCB": (maize, db.policies.EmpiricalKLUCB(upper=upper(maize))),
        "NPTS": (maize, db.NPTS(upper=upper(maize))),
        "TS-Poisson": (counts, db.ThompsonSampling("poisson")),
    }
    for name in sys.argv[1:] or cases:
        with tempfile.TemporaryDirectory() as folder:
            age(name, *cases[name], Path(folder))


if __name__ == "__main__":
    main()
