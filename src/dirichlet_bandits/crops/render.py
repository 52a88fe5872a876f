"""Write a :class:`~dirichlet_bandits.crops.season.Case` as the files that the crop model reads.

The model reads fixed columns, so every number is written with as many digits as its column holds. Beside this module,
``experiment.txt``, ``soil.txt`` and ``climate.txt`` are the files with names for numbers; a line ``months =>...`` is
written for each of several items.
"""

import operator
import string
from importlib import resources
from typing import Any

from dirichlet_bandits.crops.season import Case
from dirichlet_bandits.errors import ArgumentError

EXPERIMENT = "DBAN0001.MZX"
"""Name of the experiment file: eight characters and the extension of a maize experiment."""


def column(value: float, width: int = 5) -> str:
    """Write a number into a column, with as many decimals as fit, and never more than are needed.

    >>> column(0.1125), column(82.37, 9), column(1300.0)
    ('.1125', '    82.37', ' 1300')
    """
    for decimals in range(width):
        text = f"{value:.{decimals}f}"
        if float(text) == value:
            break
    while True:
        short = text.replace("-0.", "-.", 1) if text.startswith("-0.") else text.removeprefix("0") or "0"
        if len(short) <= width:
            return short.rjust(width)
        decimals -= 1
        if decimals < 0:
            raise ArgumentError("number", f"one that fits {width} columns", value)
        text = f"{value:.{decimals}f}"


class _Columns(string.Formatter):
    """Formats a text as it is, and a number in a column after a space; ``{x:8}`` is a column of eight characters."""

    def format_field(self, value: object, spec: str) -> str:
        return value if isinstance(value, str) else " " + column(float(value), int(spec or 5))  # type: ignore[arg-type]


def _filled(file: str, case: Case, **facts: Any) -> str:
    """Return the text of a file of the model for a case."""
    facts |= {"case": case, "depth": case.soil.layers[-1].bottom}
    form = resources.files("dirichlet_bandits.crops").joinpath(file).read_text(encoding="ascii")
    lines = []
    for line in form.splitlines():
        many, arrow, one = line.rpartition(" =>")
        items = operator.attrgetter(many)(case) if arrow else [None]
        lines += [_Columns().format(one, it=item, number=k, **facts) for k, item in enumerate(items, 1)]
    return "\n".join([*lines, ""])


def experiment(case: Case, day: int, rseed: int, years: int) -> str:
    """Return the experiment file: ``years`` consecutive seasons, planted on ``day``, with the weather of ``rseed``."""
    year = f"{case.first_year % 100:02d}"
    text = _filled(
        "experiment.txt",
        case,
        title=f"PLANTED ON DAY {day}".ljust(25),
        fertilized=str(int(bool(case.fertilizer))),
        start=f"{year}{case.first_day:03d}",
        plant=f"{year}{day:03d}",
        rseed=rseed,
        years=years,
    )
    head, _, rest = text.partition("*FERTILIZERS")
    return text if case.fertilizer else head + rest[rest.index("*SIMULATION") :]


def profile(data: str, work: str) -> str:
    """Return the profile file: where the model finds its data and ours. The model truncates long paths."""
    # Columns 5 and 6 are read as a drive, so the path starts after them.
    folders = {
        "WED": work,
        "CLD": work,
        "MMZ": f"{data} dscsm048 MZCER048",
        "CRD": f"{data}/Genotype",
        "PSD": f"{data}/Pest",
        "SLD": work,
        "STD": f"{data}/StandardData",
    }
    return "".join(f"{code}    {folder}\n" for code, folder in folders.items())


def files(case: Case, day: int, rseed: int, years: int) -> dict[str, str]:
    """Return the name and text of every input file except the profile.

    >>> from dirichlet_bandits.crops.season import PUBLISHED
    >>> sorted(files(PUBLISHED, 57, 1, 1))
    ['DBAN0001.MZX', 'SOIL.SOL', 'UFGA.CLI']
    """
    return {
        EXPERIMENT: experiment(case, day, rseed, years),
        "SOIL.SOL": _filled("soil.txt", case),
        f"{case.climate.station}.CLI": _filled("climate.txt", case),
    }
