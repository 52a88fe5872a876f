"""Sample yields with the crop model: in parallel, resumable, and with the same numbers from the same seed.

How a seed becomes seasons: the model's weather generator is the recurrence s <- 100003 s mod 10^10, started
from a seed of five digits (see its published source, WGEN). A start divisible by 2 or 5 has a shorter
period, so of the 99,999 seeds only the 40,000 others are used. For each planting day, :func:`weather_seeds`
puts these in an order that depends on ``(seed, day)`` alone; chunk j of that day is one call of the model
with the j-th of them, for :data:`CHUNK` consecutive seasons. So a sample of 1,000 seasons is the beginning of
one of 20,000, whatever the number of workers.

The air's carbon dioxide follows the measured record from the first year on, which adds a few kg/ha to the
later seasons of a call, so calls are kept short.

References
----------
Richardson and Wright (1984), WGEN: a model for generating daily weather variables, USDA ARS-8.
"""

import hashlib
import json
import os
import re
import shlex
import struct
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.crops import render
from dirichlet_bandits.crops.dssat import Model, Workspace, find_model
from dirichlet_bandits.crops.samples import FORMAT, Samples, save
from dirichlet_bandits.crops.season import DATES, PUBLISHED, Case, case_from_mapping
from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.files import whole_file
from dirichlet_bandits.validation import whole_number


class Parts:
    """Chunks of ``size`` yields by name, one file per chunk: magic, key, yields, and a digest of all three.

    A chunk that is truncated, or was made under another key, is ignored. Without a folder, nothing is kept. A key is
    made of all that determines the seasons of a chunk, so a longer sample, or one of other dates, reuses what a shorter
    one has left, as a store of results (``results/store.py``) could not.
    """

    MAGIC = b"dban-crops-1"
    OURS = re.compile(r"\d{3}-\d{5}|\.\d{3}-\d{5}\.[0-9a-f]{8}\.part")

    def __init__(self, folder: Path | None, size: int) -> None:
        self.folder = folder
        self.body = struct.Struct(f"<{size}h")

    def get(self, name: str, key: bytes) -> NDArray[np.int16] | None:
        """Return the chunk of this name, if it was made under this key."""
        if self.folder is None:
            return None
        try:
            content = (self.folder / name).read_bytes()
        except OSError:
            return None
        head = self.MAGIC + key
        body, digest = content[len(head) : -16], content[-16:]
        if not content.startswith(head) or len(body) != self.body.size or digest != fingerprint(head + body):
            return None
        return np.array(self.body.unpack(body), dtype=np.int16)

    def put(self, name: str, key: bytes, made: NDArray[np.int16]) -> None:
        """Store a chunk."""
        if self.folder is None:
            return
        self.folder.mkdir(exist_ok=True)
        content = self.MAGIC + key + self.body.pack(*made.tolist())
        with whole_file(self.folder / name) as draft:
            draft.write_bytes(content + fingerprint(content))

    def clear(self) -> None:
        """Remove all chunks, and the folder unless it holds something else."""
        if self.folder is None:
            return
        for path in self.folder.glob("*"):
            if self.OURS.fullmatch(path.name):
                path.unlink(missing_ok=True)
        with suppress(OSError):  # it never existed, or holds files that are not ours
            self.folder.rmdir()


def fingerprint(content: bytes) -> bytes:
    """Return sixteen bytes that distinguish this content from any other."""
    return hashlib.blake2b(content, digest_size=16).digest()


CHUNK = 20
"""Seasons in one call of the model. Changing it changes every sample."""

GOOD_SEEDS: NDArray[np.int32] = np.array([s for s in range(1, 100_000) if s % 2 and s % 5], dtype=np.int32)
"""Seeds of the weather generator with the full period: coprime to ten."""

MAX_SEASONS = CHUNK * len(GOOD_SEEDS)
"""Most seasons per date: by then, every weather seed has been used."""

_BAR = "sampling"


def weather_seeds(seed: int, day: int) -> NDArray[np.int32]:
    """Return the weather seeds of a planting day, in the order in which its chunks use them.

    Only the raw bits of PCG64 are used, which NumPy promises never to change.

    >>> weather_seeds(0, 57).size
    40000
    """
    bits = np.random.PCG64(np.random.SeedSequence([seed, day])).random_raw(len(GOOD_SEEDS))
    return GOOD_SEEDS[np.argsort(bits, kind="stable")]


def sample(
    seasons: int = 1000,
    *,
    dates: Sequence[int] = DATES,
    seed: int = 0,
    case: Case = PUBLISHED,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
) -> Samples:
    """Simulate ``seasons`` seasons for each planting date with the real crop model (extra ``dssat``).

    Parameters
    ----------
    seasons
        Number of seasons per date.
    dates
        Planting dates, as days of the year.
    seed
        Root of all randomness; equal seeds give equal samples, for any number of workers.
    case
        Soil, climate, fertilizer, cultivar and so on; by default, the published case.
    workers
        Number of model processes at a time; by default, the number of processors.
    out
        Where to save. Finished chunks are kept in the folder ``<out>.parts``: if sampling is killed and started again,
        it continues from there, and the file is the same to the byte. A truncated or foreign chunk is made again.
    progress
        Show a progress bar; by default only on a terminal.

    Examples
    --------
    Reproduce the first forty seasons of two dates of the shipped samples::

        sample(40, dates=(57, 72), seed=0).yields

    References
    ----------
    Jones et al. (2003), The DSSAT cropping system model, European Journal of Agronomy 18.
    """
    seasons = whole_number("seasons", seasons, at_least=1, at_most=MAX_SEASONS)
    seed = whole_number("seed", seed, at_least=0, at_most=2**63 - 1)
    workers = (os.cpu_count() or 1) if workers is None else whole_number("workers", workers, at_least=1)
    if not isinstance(case, Case):
        raise ArgumentError("case", "a Case", case)
    dates = _days(dates, case)
    model = find_model()
    model.check(case)
    finished = Parts(None if out is None else Path(f"{out}.parts"), CHUNK)
    if out is not None and not Path(out).parent.is_dir():
        raise ArgumentError("out", "a path in a folder that exists", str(out))
    chunks = -(-seasons // CHUNK)
    rseeds = np.stack([weather_seeds(seed, day)[:chunks] for day in dates])
    tasks = [(row, j) for j in range(chunks) for row in range(len(dates))]
    parts = np.zeros((len(dates), chunks, CHUNK), dtype=np.int16)
    with Workspace(model) as space, bars({_BAR: len(tasks)}, progress, f"calls of {CHUNK} seasons") as shown:

        def make(row: int, j: int) -> NDArray[np.int16]:
            day, rseed = dates[row], int(rseeds[row, j])
            key = _key(model, case, day, rseed)
            name = f"{day:03d}-{j:05d}"
            made = finished.get(name, key)
            if made is None:
                made = space.run(case, day, rseed, CHUNK)
                finished.put(name, key, made)
            return made

        # Closed before the workspace, or an interruption would remove the files of running models.
        with closing(_in_parallel(make, tasks, workers)) as results:
            for done, ((row, j), made) in enumerate(results, start=1):
                parts[row, j] = made
                shown.show(_BAR, done)
        version = space.read_version(case, dates[0])
    samples = Samples(
        days=np.array(dates, dtype=np.int16),
        yields=parts.reshape(len(dates), -1)[:, :seasons].copy(),
        rseeds=rseeds,
        provenance=_provenance(seasons, dates, seed, case, out, model, version),
    )
    if out is not None:
        save(samples, out)
        finished.clear()
    return samples


def _days(dates: Sequence[int], case: Case) -> tuple[int, ...]:
    """Return the planting dates as ints, all different; the days of a sample, which are NumPy's, are accepted too."""
    days = tuple(case.check_day(day, "dates") for day in dates)
    if not days or len(set(days)) != len(days):
        raise ArgumentError("dates", "different days of the year, at least one", tuple(dates))
    return days


def _in_parallel(
    make: Callable[[int, int], NDArray[np.int16]], tasks: list[tuple[int, int]], workers: int
) -> Generator[tuple[tuple[int, int], NDArray[np.int16]]]:
    """Yield results as they arrive. Threads suffice, because each waits for a process of the model."""
    pending: dict[Future[NDArray[np.int16]], tuple[int, int]] = {}
    left = iter(tasks)
    pool = ThreadPoolExecutor(workers)
    try:
        while True:
            # Few tasks are queued in the pool, so that an interruption has little to undo.
            while len(pending) < 2 * workers and (task := next(left, None)) is not None:
                pending[pool.submit(make, *task)] = task
            if not pending:
                return
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield pending.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _key(model: Model, case: Case, day: int, rseed: int) -> bytes:
    """Return a fingerprint of all that determines a chunk: the text of every input file, and the binary."""
    files = sorted(render.files(case, day, rseed, CHUNK).items())
    return fingerprint(json.dumps([files, model.sha256]).encode())


def _provenance(
    seasons: int,
    dates: Sequence[int],
    seed: int,
    case: Case,
    out: str | Path | None,
    model: Model,
    version: str,
) -> dict[str, Any]:
    """Return what reproduces the samples; the same on any machine, at any time, with any number of workers."""
    name = Path(out).name if out is not None else "yields.npz"
    days = ",".join(str(day) for day in dates)
    command = ["dirichlet-bandits", "crops", "sample", "--seasons", str(seasons), "--dates", days]
    command += ["--seed", str(seed), *([] if case == PUBLISHED else ["--case", "case.toml"]), "--out", name]
    provenance = {
        "format": FORMAT,
        "unit": "kg/ha, dry grain yield at maturity (HWAM)",
        "model": {
            "name": "DSSAT-CSM, CERES-Maize",
            "version": version,
            "package": model.package,
            "sha256": model.sha256,
        },
        "seed": seed,
        "seasons": seasons,
        "seasons_per_call": CHUNK,
        "command": shlex.join(command),
        "case": asdict(case),
    }
    plain: dict[str, Any] = json.loads(json.dumps(provenance))  # as it will be read back: lists, not tuples
    return plain


def reproduce(samples: Samples, row: int, chunk: int) -> NDArray[np.int16]:
    """Run the model again for one chunk: ``yields[row, 20 * chunk : 20 * (chunk + 1)]``, bit for bit.

    Example::

        reproduce(load(), row=2, chunk=0)
    """
    rows, chunks = samples.rseeds.shape
    if not (0 <= row < rows and 0 <= chunk < chunks):
        raise ArgumentError("row, chunk", f"below {rows} and {chunks}", (row, chunk))
    case = case_from_mapping(samples.provenance["case"])
    years = int(samples.provenance["seasons_per_call"])
    with Workspace() as space:
        return space.run(case, int(samples.days[row]), int(samples.rseeds[row, chunk]), years)
