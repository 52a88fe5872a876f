"""Read past rewards from a CSV file: each arm draws from its past rewards."""

import math
import warnings
from os import PathLike
from pathlib import Path

from dirichlet_bandits.csv_tables import BLANK, CSVTable, Line, decoded, is_number, shown
from dirichlet_bandits.environments import Bandit, Empirical, Objective, Piecewise
from dirichlet_bandits.errors import ArgumentError, FormatError, one_of
from dirichlet_bandits.validation import large_count


def read_rewards(
    path: str | PathLike[str],
    *,
    arm: str | None = None,
    reward: str | None = None,
    wide: bool = False,
    forgiving: bool = False,
    objective: Objective | None = None,
) -> Bandit:
    """Read past rewards from a CSV file into a bandit whose arms draw from them with replacement.

    The first line of the file names the columns; commas, semicolons or tabs separate them. A line has an arm and one
    of its rewards, in the columns ``arm`` and ``reward``: by default those called "arm" or "option", and "reward",
    "cost", "value" or "result", in any case, or else the first two. With ``wide``, there is one column per arm
    instead, and empty cells are left out.

    Decimal commas, ``1,234.50``, ``$`` and yes or no are understood. Whether a point or a comma is the decimal mark is
    decided for a whole column, by the cells that can be read in one way only. A file with cells that contradict each
    other, or that can be read in two ways, is refused with the lines and the column.

    With ``forgiving``, blank rewards are left out, arms whose names differ only in case or spaces are merged, and a
    file that is not in UTF-8 is read as Windows-1252. A warning reports everything that was changed or left out, such
    as "24 of 1200 rows: blank".

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "past.csv")
    ...     _ = file.write_text("date,yield\\nMay,4.1\\nMay,3.9\\nJune,5.0\\nJune,2.5\\n")
    ...     read_rewards(file)
    Bandit(May: Empirical(values=[4.1, 3.9]), June: Empirical(values=[5.0, 2.5]))
    """
    if wide and (arm is not None or reward is not None):
        raise ArgumentError("wide", "omitted if columns are named", wide)
    table = _table(path, forgiving)
    found = _by_column(table) if wide else _by_line(table, arm, reward).get("", {})
    _warn(table)
    if len(found) < 2:
        raise FormatError(f"{path}: at least two arms are needed (found {one_of(found) if found else 'none'})")
    return _bandit(found, "" if wide else "; is there a column for each arm? Then say wide", objective)


def read_periods(
    path: str | PathLike[str],
    *,
    period: str,
    horizon: int,
    arm: str | None = None,
    reward: str | None = None,
    objective: Objective | None = None,
) -> Piecewise:
    """Read an environment in which arms draw from the past rewards of one period after another.

    The file is as for :func:`read_rewards`, with one more column that names the period of each line, such as a season.
    Periods follow each other in the order in which the file first names them, and share the ``horizon`` equally, so you
    can test whether a policy keeps up if the future changes as the past did. Each arm needs two rewards in each
    period.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "past.csv")
    ...     _ = file.write_text("arm,reward,year\\nA,1,1\\nA,2,1\\nB,3,1\\nB,4,1\\nA,5,2\\nA,6,2\\nB,3,2\\nB,3,2\\n")
    ...     world = read_periods(file, period="year", horizon=100)
    >>> world.breakpoints, [bandit.best for bandit in world.bandits]
    ((51,), ['B', 'A'])
    """
    table = _table(path)
    found = _by_line(table, arm, reward, period)
    _warn(table)
    names = list(dict.fromkeys(name for rewards in found.values() for name in rewards))
    if len(names) < 2:
        raise FormatError(f"{path}: at least two arms are needed (found {one_of(names) if names else 'none'})")
    horizon = large_count("horizon", horizon, at_least=max(len(names), len(found)))
    segments: dict[int, Bandit] = {}
    for k, (called, rewards) in enumerate(found.items()):
        for name in names:
            if name not in rewards:
                raise FormatError(f"{path}: arm {name!r} has no reward in the period {called!r}")
        segments[1 + k * horizon // len(found)] = _bandit({name: rewards[name] for name in names}, "", objective)
    return Piecewise(segments)


Rewards = dict[str, tuple[str, list[float]]]  # by arm: where it comes first, and its rewards


def _bandit(found: Rewards, hint: str, objective: Objective | None) -> Bandit:
    """Make the bandit of these rewards; each arm needs at least two."""
    for arm, (where, values) in found.items():
        if len(values) < 2:
            raise FormatError(f"{where}: arm {arm!r} has only one reward, but at least two are needed{hint}")
    return Bandit([Empirical(values) for _, values in found.values()], list(found), objective=objective)


def _table(path: str | PathLike[str], forgiving: bool = False) -> CSVTable:
    """Return the table in a file."""
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"no file of rewards at {str(path)!r}")
    text, report = decoded(file.read_bytes(), str(path), forgiving)
    table = CSVTable(text, str(path), forgiving)
    table.report += report
    return table


def _warn(table: CSVTable) -> None:
    """Warn of everything that was changed or left out."""
    if table.report:
        warnings.warn(f"{table.source}: {'; '.join(table.report)}", stacklevel=3)


def read_values(path: str | PathLike[str], column: str | None = None) -> list[float]:
    """Read the numbers of a CSV file's only column, or of the named column; empty cells are left out.

    The first line names the columns; a file with one column may begin with its first number instead.
    """
    table = _table(path)
    if len(table.header) > 1 and column is None:
        raise table.refused(f"name one of the columns {table.found()}")
    if column is None and is_number(table.header[0]):
        table.lines.insert(0, Line(table.first, table.header))
    values = [value for value in table.numbers(table.column(column), {""}) if not math.isnan(value)]
    table.check()
    if not values:
        raise FormatError(f"{path}: there are no numbers")
    return values


def read_means(path: str | PathLike[str]) -> tuple[list[str], list[list[float]]]:
    """Read a CSV file with one column per arm and one line per pull: the names of the arms, and the rows of numbers."""
    table = _table(path)
    columns = [table.numbers(k) for k in range(len(table.header))]
    table.check()
    if not table.lines:
        raise FormatError(f"{path}: there are no numbers")
    return table.header, [list(row) for row in zip(*columns, strict=True)]


def _by_line(table: CSVTable, arm: str | None, reward: str | None, period: str | None = None) -> dict[str, Rewards]:
    """Read rewards, by period, from a file with one arm and reward per line; without periods, the key is ''."""
    at = table.columns({"arm": arm, "reward": reward})
    third = None if period is None else table.column(period)
    table.leave_out(at["arm"], at["reward"])
    values, names = table.numbers(at["reward"]), table.names(at["arm"])
    table.check()
    found: dict[str, Rewards] = {}
    for line, name, value in zip(table.lines, names, values, strict=True):
        when = "" if third is None else line.cells[third]
        found.setdefault(when, {}).setdefault(name, (table.place(line), []))[1].append(value)
    return found


def _by_column(table: CSVTable) -> Rewards:
    """Read rewards from a file that has one column per arm."""
    blank = BLANK if table.forgiving else {""}
    found: Rewards = {}
    for k, arm in enumerate(table.header):
        if not arm or arm in found or is_number(arm):
            raise table.refused(f"column {k + 1} must have its own name of an arm (got {shown(arm)})")
        values = table.numbers(k, blank)
        rows = [row for row, value in enumerate(values) if not math.isnan(value)]
        where = table.place(table.lines[rows[0]]) if rows else ""
        found[arm] = where, [values[row] for row in rows]
    table.check()
    for arm, (where, _) in found.items():
        if not where:
            raise table.refused(f"column {shown(arm)} has no reward")
    return found
