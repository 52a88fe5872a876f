"""Read past rewards from a CSV file: each option becomes an arm that draws from its past rewards."""

import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from dirichlet_bandits.arms import Bandit, Empirical, Objective
from dirichlet_bandits.csv_tables import (
    ARM_COLUMNS,
    REWARD_COLUMNS,
    Line,
    check_length,
    cleaned_numbers,
    column_at,
    forgiven_rows,
    is_number,
    lines_of,
)
from dirichlet_bandits.errors import ArgumentError, FormatError, one_of
from dirichlet_bandits.validation import whole_number
from dirichlet_bandits.worlds import Piecewise


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

    The first line of the file names the columns; commas, semicolons or tabs separate them. A line has an option and one
    of its rewards, in the columns ``arm`` and ``reward``: by default those called "arm" or "option", and "reward", or
    else the first two. With ``wide``, there is one column per option instead, and empty cells are left out.

    With ``forgiving``, blank rewards are left out, decimal commas, ``1,234.50``, ``$`` and yes or no are understood,
    and options whose names differ only in case or spaces are merged. A warning reports everything that was done, such
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
    header, lines = _lines(path)
    if forgiving:
        lines = _forgiven(str(path), header, list(lines), arm, reward, wide)
    found = _by_column(header, lines) if wide else _by_line(header, lines, arm, reward).get("", {})
    if len(found) < 2:
        raise FormatError(f"{path}: at least two options are needed (found {one_of(found) if found else 'none'})")
    return _bandit(found, "" if wide else "; is there a column for each option? Then say wide", objective)


def read_periods(
    path: str | PathLike[str],
    *,
    period: str,
    horizon: int,
    arm: str | None = None,
    reward: str | None = None,
    objective: Objective | None = None,
) -> Piecewise:
    """Read a world in which arms draw from the past rewards of one period after another.

    The file is as for :func:`read_rewards`, with one more column that names the period of each line, such as a season.
    Periods follow each other in the order in which the file first names them, and share the ``horizon`` equally, so you
    can test whether a policy keeps up if the future changes as the past did. Each option needs two rewards in each
    period.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "past.csv")
    ...     _ = file.write_text("arm,reward,year\\nA,1,1\\nA,2,1\\nB,3,1\\nB,4,1\\nA,5,2\\nA,6,2\\nB,3,2\\nB,3,2\\n")
    ...     world = read_periods(file, period="year", horizon=100)
    >>> world.breakpoints, [bandit.best for bandit in world.bandits]
    ((51,), ['B', 'A'])
    """
    header, lines = _lines(path)
    found = _by_line(header, lines, arm, reward, period)
    names = list(dict.fromkeys(option for rewards in found.values() for option in rewards))
    if len(names) < 2:
        raise FormatError(f"{path}: at least two options are needed (found {one_of(names) if names else 'none'})")
    horizon = whole_number("horizon", horizon, at_least=max(len(names), len(found)))
    segments: dict[int, Bandit] = {}
    for k, (called, rewards) in enumerate(found.items()):
        for option in names:
            if option not in rewards:
                raise FormatError(f"{path}: option {option!r} has no reward in the period {called!r}")
        segments[1 + k * horizon // len(found)] = _bandit({name: rewards[name] for name in names}, "", objective)
    return Piecewise(segments)


Rewards = dict[str, tuple[str, list[float]]]  # by option: where it comes first, and its rewards


def _bandit(found: Rewards, hint: str, objective: Objective | None) -> Bandit:
    """Make the bandit of these rewards; each option needs at least two."""
    for option, (where, values) in found.items():
        if len(values) < 2:
            raise FormatError(f"{where}: option {option!r} has only one reward, but at least two are needed{hint}")
    return Bandit([Empirical(values) for _, values in found.values()], list(found), objective=objective)


def _lines(path: str | PathLike[str]) -> tuple[Line, Iterator[Line]]:
    """Return the header and the other lines that are not empty."""
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"no file of rewards at {str(path)!r}")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not a CSV file: {error}") from error
    return lines_of(text, str(path))


def _forgiven(
    path: str, header: Line, lines: list[Line], arm: str | None, reward: str | None, wide: bool
) -> Iterator[Line]:
    """Return the lines with clean numbers and names, without blank ones, and warn about what was done."""
    for line in lines:
        check_length(line, header)
    if wide:
        report: list[str] = []
        for k in range(len(header.cells)):
            numbers, changes = cleaned_numbers(line.cells[k] for line in lines)
            report += changes
            for line in lines:
                line.cells[k] = numbers.get(line.cells[k], "")
    else:
        name, value = column_at(header, arm, ARM_COLUMNS, 0), column_at(header, reward, REWARD_COLUMNS, 1)
        lines, report = forgiven_rows(lines, name, value)
    if report:
        warnings.warn(f"{path}: {'; '.join(report)}", stacklevel=3)
    return iter(lines)


def read_values(path: str | PathLike[str], column: str | None = None) -> list[float]:
    """Read the numbers of a CSV file's only column, or of the named column; empty cells are left out.

    The first line names the columns; a file with one column may begin with its first number instead.
    """
    header, lines = _lines(path)
    if len(header.cells) > 1 and column is None:
        raise FormatError(f"{header.where}: name one of the columns {header.cells}")
    at = 0 if column is None else column_at(header, column, (), 0)
    values = [float(header.cells[0])] if column is None and is_number(header.cells[0]) else []
    for where, cells in lines:
        check_length(Line(where, cells), header)
        if cells[at]:
            values.append(_number(where, header.cells[at], cells[at]))
    if not values:
        raise FormatError(f"{path}: there are no numbers")
    return values


def read_means(path: str | PathLike[str]) -> tuple[list[str], list[list[float]]]:
    """Read a CSV file with one column per arm and one line per pull: the names of the arms, and the rows of numbers."""
    header, lines = _lines(path)
    rows = []
    for where, cells in lines:
        check_length(Line(where, cells), header)
        rows.append([_number(where, name, cell) for name, cell in zip(header.cells, cells, strict=True)])
    if not rows:
        raise FormatError(f"{path}: there are no numbers")
    return header.cells, rows


def _by_line(
    header: Line, lines: Iterator[Line], arm: str | None, reward: str | None, period: str | None = None
) -> dict[str, Rewards]:
    """Read rewards, by period, from a file with one option and reward per line; without periods, the key is ''."""
    if len(header.cells) < 2:
        raise FormatError(f"{header.where}: two columns are needed, an option and a reward (found {header.cells})")
    if is_number(header.cells[1]) and arm is None and reward is None:
        raise FormatError(f"{header.where}: the first line must name the columns (found {header.cells})")
    first, second = column_at(header, arm, ARM_COLUMNS, 0), column_at(header, reward, REWARD_COLUMNS, 1)
    if first == second:
        raise FormatError(f"{header.where}: option and reward must be two columns (both {header.cells[first]!r})")
    third = None if period is None else column_at(header, period, (), 2)
    found: dict[str, Rewards] = {}
    for where, cells in lines:
        check_length(Line(where, cells), header)
        option = cells[first]
        if not option:
            raise FormatError(f"{where}: column {header.cells[first]!r} must name an option (it is empty)")
        value = _number(where, header.cells[second], cells[second])
        when = "" if third is None else cells[third]
        found.setdefault(when, {}).setdefault(option, (where, []))[1].append(value)
    return found


def _by_column(header: Line, lines: Iterator[Line]) -> Rewards:
    """Read rewards from a file that has one column per option."""
    options = header.cells
    for k, option in enumerate(options):
        if not option or option in options[:k] or is_number(option):
            raise FormatError(f"{header.where}: column {k + 1} must have its own option name (got {option!r})")
    found: Rewards = {}
    for where, cells in lines:
        check_length(Line(where, cells), header)
        for option, cell in zip(options, cells, strict=True):
            if cell:
                found.setdefault(option, (where, []))[1].append(_number(where, option, cell))
    for option in options:
        if option not in found:
            raise FormatError(f"{header.where}: column {option!r} has no reward")
    return {option: found[option] for option in options}


def _number(where: str, column: str, text: str) -> float:
    if not is_number(text):
        raise FormatError(f"{where}: column {column!r} must be a finite number (got {text!r})")
    return float(text)
