"""Yield samples on disk: the shipped ones, made by our own command, and yours."""

import functools
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.crops.season import SPRING, date_label
from dirichlet_bandits.environments.bandit import Bandit
from dirichlet_bandits.environments.laws import Empirical
from dirichlet_bandits.environments.objective import Objective
from dirichlet_bandits.errors import ArgumentError, FormatError, one_of
from dirichlet_bandits.files import whole_file

FORMAT = "dirichlet-bandits crop yields 1"
SHIPPED = "maize_yields.npz"


@dataclass(frozen=True)
class Samples:
    """Yields in kg/ha, one row per planting date, with the weather seeds and all else needed to reproduce them.

    >>> load().yields.shape
    (7, 20000)
    """

    days: NDArray[np.int16]
    yields: NDArray[np.int16]
    rseeds: NDArray[np.int32]
    provenance: dict[str, Any]

    @property
    def labels(self) -> list[str]:
        """The planting dates as text."""
        return [date_label(int(day)) for day in self.days]


def yields(dates: Literal["all", "spring"] = "all") -> dict[str, NDArray[np.float64]]:
    """Return the shipped yields by planting date: the seven dates, or the four early ones. This needs no extra.

    >>> list(yields("spring"))
    ['26 Feb', '13 Mar', '28 Mar', '12 Apr']
    """
    if dates not in ("all", "spring"):
        raise ArgumentError("dates", one_of(("all", "spring")), dates)
    samples = load()
    return {
        label: row.astype(np.float64)
        for label, day, row in zip(samples.labels, samples.days, samples.yields, strict=True)
        if dates == "all" or int(day) in SPRING
    }


def load(path: str | Path | None = None) -> Samples:
    """Read samples: the shipped ones, or a file of ``crops sample``; raise a ``FormatError`` for anything else.

    >>> load().provenance["seed"]
    0
    """
    return _shipped() if path is None else _read(Path(path).read_bytes(), str(path))


@functools.cache
def _shipped() -> Samples:
    return _read(resources.files("dirichlet_bandits.crops").joinpath(SHIPPED).read_bytes(), SHIPPED)


def save(samples: Samples, path: str | Path) -> None:
    """Write samples to a compressed file, whole or not at all; equal samples give equal bytes."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        days=samples.days,
        yields=samples.yields,
        rseeds=samples.rseeds,
        provenance=np.array(json.dumps(samples.provenance, sort_keys=True)),
    )
    with whole_file(Path(path)) as draft:
        draft.write_bytes(buffer.getvalue())


def _read(content: bytes, name: str) -> Samples:
    """Return the samples in the bytes of a file, after checking all of it."""
    # Checked first, because NumPy reacts to a file that is no archive by advising you to unpickle it.
    if not content.startswith(b"PK"):
        raise FormatError(f"{name} is not a file of crop yields")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {key: file[key] for key in ("days", "yields", "rseeds", "provenance")}
        provenance = json.loads(str(arrays["provenance"]).replace('"fertiliser"', '"fertilizer"'))  # as it was spelled
        samples = Samples(arrays["days"], arrays["yields"], arrays["rseeds"], provenance)
        _check(samples, name)
    except FormatError:
        raise
    except Exception as error:  # a corrupt archive makes its readers raise almost anything
        raise FormatError(f"{name} is not a file of crop yields, or is corrupt ({error})") from None
    for array in (samples.days, samples.yields, samples.rseeds):
        array.flags.writeable = False  # the shipped ones are shared
    return samples


def _check(samples: Samples, name: str) -> None:
    """Refuse samples whose arrays do not match each other."""
    provenance = samples.provenance
    if not isinstance(provenance, dict) or provenance.get("format") != FORMAT:
        raise FormatError(f"{name} is not a file of crop yields: its format is not {FORMAT!r}")
    for field, dtype, ndim in (("days", np.int16, 1), ("yields", np.int16, 2), ("rseeds", np.int32, 2)):
        array = getattr(samples, field)
        if array.dtype != dtype or array.ndim != ndim or array.size == 0:
            raise FormatError(f"{name} has a wrong array '{field}' ({array.dtype}, {array.ndim} dimensions)")
    rows, seasons = samples.yields.shape
    calls = -(-seasons // int(provenance.get("seasons_per_call", 0) or 1))
    if samples.days.shape != (rows,) or samples.rseeds.shape != (rows, calls):
        raise FormatError(f"{name} has arrays of different lengths")
    if samples.yields.min() < 0 or samples.days.min() < 1 or samples.days.max() > 365:
        raise FormatError(f"{name} has yields below zero, or dates out of the year")


def maize_planting(
    dates: Literal["all", "spring"] | Sequence[str] = "all", *, objective: Objective | None = None
) -> Bandit:
    """Return a bandit with planting dates as arms; rewards, in kg/ha, are drawn from 20,000 simulated seasons per date.

    ``"all"`` gives the seven dates, and ``"spring"`` the four early ones, of which the third is best by a small gap. A
    list of dates gives those dates; a date that occurs twice becomes two arms.

    ``objective`` decides what makes a date good, by default the mean. Rewards are yields of dry grain.

    >>> maize_planting("spring").best
    '28 Mar'
    >>> from dirichlet_bandits import CVaR
    >>> maize_planting("spring", objective=CVaR(0.2)).best
    '12 Apr'

    >>> maize_planting(["28 Mar", "12 Apr", "12 Apr"]).names
    ('28 Mar', '12 Apr', '12 Apr (2)')

    Reference: Baudry, Saux and Maillard, NeurIPS 2021, section 5; the seasons are our own (see ``docs/crops.md``).
    """
    if not isinstance(dates, list | tuple):
        samples = yields(dates)  # type: ignore[arg-type]
        return Bandit([Empirical(values) for values in samples.values()], names=list(samples), objective=objective)
    samples = yields()
    if not dates or not all(isinstance(date, str) and date in samples for date in dates):
        raise ArgumentError("dates", f"'all', 'spring' or a list of dates, each {one_of(samples)}", dates)
    seen = [dates[: k + 1].count(date) for k, date in enumerate(dates)]
    names = [date if n == 1 else f"{date} ({n})" for date, n in zip(dates, seen, strict=True)]
    return Bandit([Empirical(samples[date]) for date in dates], names=names, objective=objective)
