"""Read CSV files: lines and columns, and numbers and names as people type them, with a report of every change."""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from dirichlet_bandits.errors import FormatError

ARM_COLUMNS: Final = ("arm", "option")
REWARD_COLUMNS: Final = ("reward",)
_SEPARATORS: Final = ",;\t"

_BLANK: Final = frozenset({"", "-", "na", "n/a", "nan", "null", "none", "?"})
_WORDS: Final = {"yes": "1", "y": "1", "true": "1", "no": "0", "n": "0", "false": "0"}
_CURRENCY: Final = re.compile(r"[$€£¥\s\u00a0\u202f']|(?:USD|EUR|GBP)", re.IGNORECASE)


class Line(NamedTuple):
    """A line of a file: its position, for messages, and its cells."""

    where: str
    cells: list[str]


def lines_of(text: str, name: str) -> tuple[Line, Iterator[Line]]:
    """Return the header of a file and the other lines that are not empty; commas, semicolons or tabs separate cells.

    >>> header, lines = lines_of("arm;reward\\n\\nred; 1,5\\n", "past.csv")
    >>> header.cells, list(lines)
    (['arm', 'reward'], [Line(where='past.csv, line 3', cells=['red', '1,5'])])
    """
    first = text.lstrip().partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=first.count))
    lines = (
        Line(f"{name}, line {rows.line_num}", [cell.strip() for cell in row])
        for row in rows
        if any(cell.strip() for cell in row)
    )
    header = next(lines, None)
    if header is None:
        raise FormatError(f"{name}: the file is empty")
    return header, lines


def column_at(header: Line, name: str | None, usual: Sequence[str], default: int) -> int:
    """Return the index of a column: the one of this name, else one with a usual name, else the default."""
    if name is None:
        called = [cell.lower() for cell in header.cells]
        return next((called.index(word) for word in usual if word in called), default)
    if header.cells.count(name) != 1:
        raise FormatError(f"{header.where}: there must be one column {name!r} (found {header.cells})")
    return header.cells.index(name)


def check_length(line: Line, header: Line) -> None:
    """Refuse a line that has not as many cells as the header."""
    if len(line.cells) != len(header.cells):
        needed = f"{len(header.cells)} cells are needed, as in the first line"
        raise FormatError(f"{line.where}: {needed} (got {len(line.cells)})")


def forgiven_rows(lines: Sequence[Line], name: int, value: int) -> tuple[list[Line], list[str]]:
    """Return the lines with clean numbers and names in two columns, without blank ones, and a report of the changes.

    >>> header, lines = lines_of("arm;reward\\nred;1,5\\nblue;\\nRed;2\\nred;2\\n", "past.csv")
    >>> rows, report = forgiven_rows(list(lines), 0, 1)
    >>> [row.cells for row in rows]
    [['red', '1.5'], ['red', '2'], ['red', '2']]
    >>> report
    ['1 of 4 rows: blank', '1 of 3 values: decimal commas', "'Red' is read as 'red'"]
    """
    numbers, report = cleaned_numbers(line.cells[value] for line in lines)
    names, changes = merged_names(line.cells[name] for line in lines)
    report += changes
    full = []
    for line in lines:
        line.cells[value] = numbers.get(line.cells[value], "")
        line.cells[name] = names[line.cells[name]]
        if line.cells[value] and line.cells[name]:
            full.append(line)
    if len(full) < len(lines):
        report.insert(0, f"{len(lines) - len(full)} of {len(lines)} rows: blank")
    return full, report


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number; unlike Python, this refuses 1_000.

    >>> is_number("1e3"), is_number("1_000"), is_number("nan")
    (True, False, False)
    """
    try:
        return "_" not in cell and math.isfinite(float(cell))
    except ValueError:
        return False


def is_blank(cell: str) -> bool:
    """Whether a cell represents a missing value.

    >>> is_blank(" n/a "), is_blank("0")
    (True, False)
    """
    return cell.strip().lower() in _BLANK


def cleaned_numbers(cells: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Return the cells of one column as Python writes numbers, and one line of a report for each kind of change.

    The whole column decides what a comma means. If no cell decides it, cells such as ``1,234`` stay as they are, so
    that the caller refuses them.

    >>> cleaned_numbers(["$1,234.50", "7", "yes"])[0]
    {'$1,234.50': '1234.50', '7': '7', 'yes': '1'}
    >>> cleaned_numbers(["3,5", "1.250,0"])[0]
    {'3,5': '3.5', '1.250,0': '1250.0'}
    >>> cleaned_numbers(["1,234", "5"])[0]
    {'1,234': '1,234', '5': '5'}
    """
    found: dict[str, str] = {}
    changes: Counter[str] = Counter()
    cells = [cell for cell in cells if not is_blank(cell)]
    bare = {cell: _WORDS.get(cell.strip().lower(), _CURRENCY.sub("", cell)) for cell in cells}
    decimal = _decimal_mark(bare.values())
    for cell in cells:
        text = bare[cell]
        if cell.strip().lower() in _WORDS:
            changes["yes or no read as 1 or 0"] += 1
        elif text != cell.strip():
            changes["currency signs or spaces removed"] += 1
        if decimal is not None and "," in text:
            changes["decimal commas" if decimal == "," else "thousands separators removed"] += 1
            text = text.replace(".", "").replace(",", ".") if decimal == "," else text.replace(",", "")
        found[cell] = text
    return found, [f"{count} of {len(cells)} values: {change}" for change, count in changes.items()]


def _decimal_mark(texts: Iterable[str]) -> str | None:
    """Return the decimal mark of a column with commas, or None if no cell decides between the two readings."""
    for text in texts:
        if "," not in text:
            continue
        if "." in text:
            return max(",.", key=text.rfind)
        if text.count(",") > 1:
            return "."
        if not re.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}", text):
            return ","
    return None


def name_key(name: str) -> str:
    """Return what spellings of one name have in common: all but case, spaces, hyphens and underscores.

    >>> name_key("Long_Text") == name_key("long  text")
    True
    """
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def merged_names(names: Iterable[str]) -> tuple[Mapping[str, str], list[str]]:
    """Return the name that each spelling stands for, the most frequent one, and a line of a report for each merger.

    Spellings that differ only in case, spaces, hyphens or underscores are one name.

    >>> merged_names(["Green", "green", "green", "blue"])
    ({'Green': 'green', 'green': 'green', 'blue': 'blue'}, ["'Green' is read as 'green'"])
    """
    counts = Counter(names)
    groups: dict[str, list[str]] = {}
    for name in counts:
        groups.setdefault(name_key(name), []).append(name)
    chosen = {name: max(group, key=lambda spelling: counts[spelling]) for group in groups.values() for name in group}
    report = [f"{name!r} is read as {to!r}" for name, to in chosen.items() if name != to]
    return {name: chosen[name] for name in counts}, report
