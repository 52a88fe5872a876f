"""``python -m benchmarks.service [URL]``: how many asks and tells does one service answer?

Ask+tell pairs of eight client processes at one service, on an SQLite file with full durability or on the storage at the
URL, beside the pairs of one process on an SQLite file without a service; each in turn, three times, in one run. On
Linux it also prints the processor time that the service takes per pair, which depends least on what else is running.
"""

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dirichlet_bandits as db
from dirichlet_bandits.service.keys import add_key

CLIENTS = 8
PAIRS = 100
ROUNDS = 3
NAME = f"benchmark {time.time()}"  # a database may have those of earlier runs
CLIENT = (
    "import sys, dirichlet_bandits as db\n"
    "url, key, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3])\n"
    "study = db.connect(url, key).load_study(sys.argv[4])\n"
    "for line in sys.stdin:\n"
    "    for k in range(pairs):\n"
    "        study.tell(study.ask().id, float(k % 7))\n"
    "    print('done', flush=True)\n"
)


def in_process(study: db.Study) -> float:
    """Pairs per second here."""
    begin = time.perf_counter()
    for k in range(2 * PAIRS):
        study.tell(study.ask().id, float(k % 7))
    return 2 * PAIRS / (time.perf_counter() - begin)


def processor_seconds(process: int) -> float:
    """What a process has used so far; NaN where the system does not show it."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # user and system


def over_http(clients: list["subprocess.Popen[str]"], service: int) -> tuple[float, float]:
    """Pairs per second of all clients together, and processor milliseconds of the service per pair."""
    begin, used = time.perf_counter(), processor_seconds(service)
    for client in clients:
        assert client.stdin is not None
        client.stdin.write("go\n")
        client.stdin.flush()
    for client in clients:
        assert client.stdout is not None
        assert client.stdout.readline() == "done\n"
    pairs = CLIENTS * PAIRS
    return pairs / (time.perf_counter() - begin), 1000.0 * (processor_seconds(service) - used) / pairs


def main() -> None:
    """Start everything, take turns, print what was found."""
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys.txt"
        key = add_key(keys, "bench", "manage")
        storage = sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{folder}/service.db"
        port = 8917
        command = [sys.executable, "-m", "dirichlet_bandits", "serve", "--storage", storage, "--keys", str(keys)]
        service = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL)
        url = f"http://127.0.0.1:{port}"
        clients = []
        try:
            db.connect(url, key).create_study(NAME, arms=["a", "b", "c"], seed=1)
            here = db.create_study("s", arms=["a", "b", "c"], seed=1, storage=f"sqlite:///{folder}/here.db")
            for _ in range(CLIENTS):
                words = [sys.executable, "-c", CLIENT, url, key, str(PAIRS), NAME]
                clients.append(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            over_http(clients, service.pid), in_process(here)  # everybody is awake
            found = [(in_process(here), *over_http(clients, service.pid)) for _ in range(ROUNDS)]
        finally:
            for process in [*clients, service]:
                process.kill()
                process.communicate()
    for direct, remote, used in found:
        print(
            f"{direct:6.0f} pairs per second in process, {remote:6.0f} of {CLIENTS} clients: {remote / direct:.2f}; "
            f"{used:.2f} ms of the service's processor time per pair"
        )
    ratio, used = (statistics.median(column) for column in ((b / a for a, b, _ in found), (c for _, _, c in found)))
    print(f"medians: {ratio:.2f}, {used:.2f} ms")


if __name__ == "__main__":
    main()
