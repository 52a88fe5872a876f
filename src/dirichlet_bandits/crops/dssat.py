"""Run the real crop model, DSSAT-CSM with CERES-Maize, from the files of the optional package DSSATTools.

The package is never imported: only its binary and its data folder are used, through ``importlib.resources``.
"""

import csv
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.crops import render
from dirichlet_bandits.crops.season import Case
from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError, missing_extra, one_of

PACKAGE = "DSSATTools"
BINARY = "dscsm048"

LONGEST_FOLDER = 24
"""Longest path of a temporary folder, in characters: the model truncates paths from about 40 characters on."""

MAX_YEARS = 90
"""Most seasons in one call of the model: the largest number that we tried."""

LAST_RSEED = 99_999
"""The model reads five digits of a seed; it replaces 0 by its own seed."""

SECONDS_PER_SEASON = 2.0
"""A hundred times as long as a season takes; a model that takes longer counts as stuck."""

ABANDONED_AFTER = 3600.0
"""Age, in seconds, from which a temporary folder without a lock counts as abandoned."""


class CropModelError(DirichletBanditsError, RuntimeError):
    """The crop model cannot run here, failed, or wrote something that is not a yield."""


@dataclass(frozen=True)
class Model:
    """The model's own files: its binary and its data folder, and their version.

    Find it with :func:`find_model`.
    """

    binary: Path
    data: Path
    package: str

    @functools.cached_property
    def sha256(self) -> str:
        """SHA-256 hash of the binary."""
        with open(self.binary, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @functools.cached_property
    def cultivars(self) -> dict[str, str]:
        """Code and name of every maize cultivar in the model's genotype file."""
        lines = (self.data / "Genotype" / "MZCER048.CUL").read_text(encoding="latin-1").splitlines()
        found = [re.match(r"([A-Z0-9]{6}) (.{16})", line) for line in lines]
        # Rows 99999x hold the bounds of the coefficients, not plants.
        return {m[1]: m[2].strip() for m in found if m and not m[1].startswith("99999")}

    @functools.cached_property
    def fertilizers(self) -> dict[str, str]:
        """Code and name of every fertilizer in the model's files."""
        lines = (self.data / "StandardData" / "FERCH048.SDA").read_text(encoding="latin-1").splitlines()
        found = [re.match(r"\s*(FE\d{3})\s+(.{1,30})", line) for line in lines]
        return {m[1]: m[2].strip() for m in found if m}

    def check(self, case: Case) -> None:
        """Refuse a case whose cultivar or fertilizer is not in the model's files; the error lists the allowed ones."""
        if case.cultivar not in self.cultivars:
            raise ArgumentError("cultivar", one_of(self.cultivars), case.cultivar)
        for dose in case.fertilizer:
            if dose.material not in self.fertilizers:
                raise ArgumentError("fertilizer.material", one_of(self.fertilizers), dose.material)


def find_model() -> Model:
    """Return the installed crop model; an error states what is missing and what still works without it.

    Example::

        sorted(find_model().cultivars)
    """
    still = "the shipped samples need neither: dirichlet_bandits.crops.yields()"
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None:
        raise missing_extra("The crop model needs", "dssat", f" ({still})")
    system = f"{platform.system()} {platform.machine()}"
    if not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "AMD64"):
        raise CropModelError(
            f"The crop model's binary runs on Linux x86_64, not on {system} "
            f"(on Windows, use the Linux subsystem, WSL); {still}"
        )
    # Given a name, resources.files() would import the package; an unexecuted module gives it the location.
    root = Path(str(resources.files(importlib.util.module_from_spec(spec))))
    model = Model(root / "bin" / BINARY, root / "dssat-csm-os" / "Data", _version())
    for path in (model.binary, model.data / "Genotype" / "MZCER048.CUL"):
        if not path.is_file():
            raise CropModelError(f"The package {PACKAGE} has no file {path.name}: tried with version 3.0.2 ({still})")
    return model


def _version() -> str:
    try:
        return f"{PACKAGE} {importlib.metadata.version(PACKAGE)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{PACKAGE} (unknown version)"


class Workspace:
    """A short temporary folder in which the model runs; it is removed when the ``with`` block ends, however it ends.

    Folders that a killed process left behind are removed by the next one.

    Example::

        with Workspace() as space:
            space.run(Case(), day=57, rseed=1, years=3)  # 604, 747, 1732
    """

    def __init__(self, model: Model | None = None) -> None:
        self.model = find_model() if model is None else model
        self.version = ""

    def __enter__(self) -> Self:
        base = _short_base()
        sweep(base)
        self.root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        try:
            self._lock = _lock(self.root)
            # A link, because the model would truncate the long path of an installed package.
            (self.root / "d").symlink_to(self.model.data.resolve(), target_is_directory=True)
            self._binary = _runnable(self.model.binary, self.root)
        except BaseException:
            shutil.rmtree(self.root, ignore_errors=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        os.close(self._lock)

    def run(self, case: Case, day: int, rseed: int, years: int) -> NDArray[np.int16]:
        """Return the yields, in kg/ha, of ``years`` consecutive seasons planted on ``day``; safe for many threads.

        The first seasons do not depend on how many follow: ``run(..., 5)[:3]`` equals ``run(..., 3)``.
        """
        self.model.check(case)
        case.check_day(day)
        if not 1 <= rseed <= LAST_RSEED:
            raise ArgumentError("rseed", f"from 1 to {LAST_RSEED}", rseed)
        if not 1 <= years <= MAX_YEARS:
            raise ArgumentError("years", f"from 1 to {MAX_YEARS}", years)
        work = Path(tempfile.mkdtemp(prefix="w", dir=self.root))
        try:
            for name, text in render.files(case, day, rseed, years).items():
                (work / name).write_text(text, encoding="ascii")
            (work / "DSSATPRO.L48").write_text(render.profile(f"{self.root}/d", str(work)), encoding="ascii")
            self._call(work, SECONDS_PER_SEASON * years + 30.0)
            self.version = self.version or _read_version(work)
            return read_summary(work / "summary.csv", case.first_year, day, years)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def read_version(self, case: Case, day: int) -> str:
        """Return the version of the model, such as 4.8.2.000; run a season if none has run."""
        if not self.version:
            self.run(case, day, 1, 1)
        return self.version

    def _call(self, work: Path, timeout: float) -> None:
        """Run the model's binary in a folder; raise its own message if something goes wrong."""
        try:
            done = subprocess.run(
                [str(self._binary), "C", render.EXPERIMENT, "1"],
                cwd=work,
                env={"DSSAT_HOME": f"{self.root}/d/", "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,  # a failed run waits for a key
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CropModelError(f"The crop model did not finish in {timeout:.0f} s. {_complaint(work)}") from None
        except OSError as error:
            raise CropModelError(f"The crop model's binary does not start: {error}") from None
        if done.returncode != 0 or (work / "ERROR.OUT").exists():
            tail = done.stdout.decode("latin-1", "replace")[-300:]
            raise CropModelError(f"The crop model failed (exit status {done.returncode}). {_complaint(work) or tail}")


_PREFIX = "dban"


def _short_base() -> str:
    """Return a writable folder for temporary files whose path the model does not truncate."""
    room = LONGEST_FOLDER - len(_PREFIX) - 9
    for base in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"):
        if len(base) <= room and " " not in base and os.access(base, os.W_OK | os.X_OK):
            return base
    raise CropModelError(
        f"The crop model needs a writable temporary folder of at most {room} characters and no space, "
        f"such as /tmp (got {tempfile.gettempdir()!r}): set TMPDIR"
    )


def _lock(root: Path) -> int:
    """Hold a lock for the life of this process; rename it into place so that no process sees it unlocked."""
    import fcntl

    handle = os.open(root / "new", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.rename(root / "new", root / "lock")
    return handle


def sweep(base: str) -> None:
    """Remove the folders of processes that were killed: those whose lock no process holds."""
    import fcntl

    for root in Path(base).glob(_PREFIX + "*"):
        with suppress(OSError):  # another process may sweep or own it
            if root.is_symlink() or root.stat().st_uid != os.getuid():
                continue
            if not (root / "lock").exists():
                if time.time() - root.stat().st_mtime > ABANDONED_AFTER:
                    shutil.rmtree(root, ignore_errors=True)
                continue
            handle = os.open(root / "lock", os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(root, ignore_errors=True)
            finally:
                os.close(handle)


def _runnable(binary: Path, root: Path) -> Path:
    """Return the binary, or a copy with the run bit that installers drop; the installation is not ours to change."""
    if os.access(binary, os.X_OK):
        return binary
    copy = root / "m"
    shutil.copyfile(binary, copy)
    copy.chmod(stat.S_IRUSR | stat.S_IXUSR)
    return copy


def _complaint(work: Path) -> str:
    """Return what the model wrote to ERROR.OUT, on one line."""
    try:
        text = (work / "ERROR.OUT").read_text(encoding="latin-1")
    except OSError:
        return ""
    lines = [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith(("*", "EXPERIMENT", "DATA PATH", "TREATMENT", "MODEL"))
    ]
    return "It says: " + " ".join(lines)


def _read_version(work: Path) -> str:
    """Return the version that the model writes beside its results, such as 4.8.2.000."""
    try:
        found = re.search(r"\d+\.\d+\.\d+\.\d+", (work / "Version.OUT").read_text(encoding="latin-1"))
    except OSError:
        return "unknown"
    return found[0] if found else "unknown"


def read_summary(path: Path, first: int, day: int, years: int) -> NDArray[np.int16]:
    """Return the yields in the model's summary, one row per season, and check that each is the requested season."""
    try:
        with open(path, encoding="latin-1", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        raise CropModelError("The crop model wrote no summary") from None
    if len(rows) != years:
        raise CropModelError(f"The crop model wrote {len(rows)} seasons where {years} were asked for")
    asked = [1000 * (first + n) + day for n in range(years)]
    return np.array([_read_yield(row, date) for row, date in zip(rows, asked, strict=True)], dtype=np.int16)


def _read_yield(row: dict[str, str], date: int) -> int:
    """Return the yield in one row of the summary, if the row is of the requested season."""
    try:
        harvest, planted = int(row["HWAM"]), int(row["PDAT"])
    except (KeyError, TypeError, ValueError):
        raise CropModelError("The crop model's summary has no whole number under HWAM and PDAT") from None
    if planted != date:
        raise CropModelError(f"The crop model planted on {planted} (year and day) where {date} was asked for")
    # -99 means a missing value: it is never a yield.
    if not 0 <= harvest <= np.iinfo(np.int16).max:
        raise CropModelError(f"The crop model gave no yield for a season (HWAM is {harvest})")
    return harvest
