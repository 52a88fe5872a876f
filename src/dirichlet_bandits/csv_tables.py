"""Read CSV files of rewards: separators, columns, names, and numbers as people type them; all problems in one error."""

import csv
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from dirichlet_bandits.errors import FormatError

COLUMNS: Final = {
    "arm": ("arm", "option"),
    "reward": ("reward", "cost", "value", "result"),
    "time": ("time", "date", "when"),
    "propensity": ("propensity", "probability"),
}
"""What a row may hold, with the usual names of its column, in any case."""

BLANK: Final = frozenset({"", "-", "na", "n/a", "nan", "null", "none", "?"})
WORDS: Final = {"yes": 1.0, "y": 1.0, "true": 1.0, "no": 0.0, "n": 0.0, "false": 0.0}
MOST_COLUMNS: Final = 10_000
_MOST_SHOWN: Final = 20
_LONGEST_SHOWN: Final = 80
_END: Final = "\x00end"  # comes last; if it is not a line of its own, a quote before it was never closed

_MONEY: Final = "[$€£¥]|USD|EUR|GBP"
_CELL: Final = re.compile(rf"([-+]?) ?({_MONEY})? ?([-+]?)([0-9.,].*?) ?({_MONEY})?", re.IGNORECASE | re.DOTALL)
_ALIKE: Final = str.maketrans("\u2212\u00a0\u202f\u2007\u2009\u2019", "-    '")  # minus, spaces, apostrophe
_OTHER: Final = {".": ",", ",": "."}
_PLAIN: Final = {mark: str.maketrans(mark, ".", f" '{other}") for mark, other in _OTHER.items()}
_NUMBER: Final = {  # by the decimal mark; the other mark, a space or an apostrophe may separate thousands
    mark: re.compile(
        rf"(?=[{mark}]?[0-9])[0-9]*([{mark}][0-9]*)?(e[-+]?[0-9]+)?"
        rf"|[1-9][0-9]{{0,2}}([{other} '])[0-9]{{3}}(\3[0-9]{{3}})*([{mark}][0-9]*)?",
        re.IGNORECASE,
    )
    for mark, other in _OTHER.items()
}


class Line(NamedTuple):
    """A line of a file that is not empty: its number and its cells."""

    number: int
    cells: list[str]


class CSVTable:
    """The lines of a file under its header, and what is wrong with them; commas, semicolons or tabs separate cells.

    ``report`` lists what was changed or left out. Call :meth:`check` before you use what the other methods return.

    >>> table = CSVTable("arm;reward\\n\\nred; 1,5\\nblue;2\\n", "past.csv")
    >>> table.names(0), table.numbers(1), table.report
    (['red', 'blue'], [1.5, 2.0], ['1 of 2 values: decimal commas'])
    """

    def __init__(self, text: str, source: str, forgiving: bool = False) -> None:
        self.source = source
        self.forgiving = forgiving
        self.report: list[str] = []
        self._problems: list[tuple[int, str]] = []
        lines = self._lines(text)
        if not lines:
            raise FormatError(f"{source}: the file is empty")
        self.first, self.header = lines[0]
        width = len(self.header)
        if width > MOST_COLUMNS:
            raise self.refused(f"at most {MOST_COLUMNS:,} columns can be read (found {width:,})")
        self.lines = [line for line in lines[1:] if len(line.cells) == width]
        for number, cells in lines[1:]:
            if len(cells) != width:
                self._problems.append((number, f"{width} cells are needed, as in the first line (got {len(cells)})"))

    def _lines(self, text: str) -> list[Line]:
        """Return the lines that are not empty, after finding the separator that splits the first one most often."""
        lines, begins, cells = [], 1, list[str]()
        first = next((line for line in io.StringIO(text, newline=None) if line.strip()), "")
        self._separator = max(",;\t", key=re.sub('"[^"]*"', "", first).count)
        rows = csv.reader(itertools.chain(io.StringIO(text, newline=""), ["\n", _END]), delimiter=self._separator)
        try:
            for cells in rows:
                if any(cell.strip() for cell in cells):
                    lines.append(Line(begins, [cell.strip() for cell in cells]))
                begins = rows.line_num + 1
        except csv.Error:
            most = f"{csv.field_size_limit():,}"
            hint = "is a quote never closed?"
            raise FormatError(f"{self.source}, line {begins}: a cell has more than {most} characters; {hint}") from None
        if cells != [_END]:
            raise FormatError(f"{self.source}, line {lines[-1].number}: a quote is never closed")
        return lines[:-1]

    def refused(self, problem: str) -> FormatError:
        """Return the error for a header that cannot be used."""
        return FormatError(f"{self.source}, line {self.first}: {problem}")

    def place(self, line: Line) -> str:
        """Return where a line is, for an error."""
        return f"{self.source}, line {line.number}"

    def wrong(self, row: int, at: int, expected: str) -> None:
        """Note that the cell of a row in a column must be something else."""
        self.problem(row, at, f"must be {expected} (got {shown(self.lines[row].cells[at])})")

    def problem(self, row: int, at: int, words: str) -> None:
        """Note what is wrong with the cell of a row in a column."""
        self._problems.append((self.lines[row].number, f"column {shown(self.header[at])} {words}"))

    def check(self) -> None:
        """Refuse the file if anything is wrong, with a list of at most 20 problems."""
        problems = [f"line {number}: {problem}" for number, problem in sorted(self._problems)]
        if len(problems) == 1:
            raise FormatError(f"{self.source}, {problems[0]}")
        if problems:
            most = f", of which the first {_MOST_SHOWN} are" if len(problems) > _MOST_SHOWN else ""
            listed = "\n".join(f"- {problem}" for problem in problems[:_MOST_SHOWN])
            raise FormatError(f"{self.source}: {len(problems):,} problems{most}:\n{listed}")

    # Columns

    def column(self, name: str | None, usual: Sequence[str] = (), default: int = 0) -> int:
        """Return the index of a column: the one of this name, else one with a usual name, else the default.

        The case of a name matters only if columns differ by nothing else.
        """
        lowered = [cell.lower() for cell in self.header]
        for word in usual if name is None else (name,):
            for called, cells in ((word, self.header), (word.lower(), lowered)):
                if cells.count(called) == 1:
                    return cells.index(called)
            if name is not None or word in lowered:
                raise self.refused(f"there must be one column {shown(word)} (found {self.found()})")
        return default

    def found(self) -> str:
        """Return the names of the first columns, for an error."""
        more = ", ..." if len(self.header) > _MOST_SHOWN else ""
        return f"[{', '.join(map(shown, self.header[:_MOST_SHOWN]))}{more}]"

    def columns(self, named: Mapping[str, str | None], guess: bool = True) -> dict[str, int]:
        """Return the columns by what they hold: each as named, or the one with a usual name if the name is None.

        A ``guess`` takes the first two for the arm and the reward if no column has one of their usual names.

        >>> CSVTable("Date;Arm;Reward", "past.csv").columns(dict.fromkeys(COLUMNS))
        {'arm': 1, 'reward': 2, 'time': 0}
        """
        if len(self.header) < 2:
            raise self.refused(f"two columns are needed, an arm and a reward (found {self.found()})")
        firsts = {"arm": 0, "reward": 1} if guess else {}
        found = {kind: self.column(name, COLUMNS[kind], firsts.get(kind, -1)) for kind, name in named.items()}
        at = {kind: k for kind, k in found.items() if k >= 0}
        if not {"arm", "reward"} <= at.keys():
            raise self.refused(f"there must be columns arm and reward (found {self.found()})")
        if named["reward"] is None and is_number(self.header[at["reward"]]):
            raise self.refused(f"the first line must name the columns (found {self.found()})")
        if at["arm"] == at["reward"]:
            raise self.refused(f"arm and reward must be two columns (both {shown(self.header[at['arm']])})")
        return at

    # Cells

    def leave_out(self, name: int, value: int) -> None:
        """Leave out the lines without a name or value, if the reader is forgiving, and report how many."""
        if self.forgiving:
            full = [line for line in self.lines if line.cells[name] and not is_blank(line.cells[value])]
            if len(full) < len(self.lines):
                self.report.append(f"{len(self.lines) - len(full)} of {len(self.lines)} rows: blank")
            self.lines = full

    def names(self, at: int, arms: Collection[str] = ()) -> list[str]:
        """Return the names in a column, which must be among the ``arms`` of a study if these are given.

        A forgiving reader merges spellings that differ only in case, spaces, hyphens or underscores, leaves out lines
        of arms that the study does not have, and reports both.

        >>> table = CSVTable("arm,reward\\nGreen,1\\ngreen,2\\ngreen,3\\n", "past.csv", forgiving=True)
        >>> table.names(0), table.names(0, ["GREEN"]), table.names(0, ["red"])
        (['green', 'green', 'green'], ['GREEN', 'GREEN', 'GREEN'], [])
        """
        names = [line.cells[at] for line in self.lines]
        arms = dict.fromkeys(arms)
        if not self.forgiving:
            for k, name in enumerate(names):
                if not name:
                    self.problem(k, at, "must name an arm (it is empty)")
                elif arms and name not in arms:
                    self.wrong(k, at, "an arm of the study")
            return names
        counts = Counter(names)
        alike: dict[str, list[str]] = {}
        for name in arms or dict(counts.most_common()):
            alike.setdefault(_key(name), []).append(name)
        meant: dict[str, str | None] = {}
        changes = []
        for name, count in counts.items():
            same = alike.get(_key(name), [])
            meant[name] = name if name in arms else None if arms and len(same) != 1 else same[0]
            if meant[name] is None:
                changes.append(f"{count:,} of {len(names):,} rows: this study has no arm {name!r}")
            elif meant[name] != name:
                changes.append(f"{name!r} is read as {meant[name]!r}")
        more = [f"{len(changes) - _MOST_SHOWN:,} more changes of this kind"] if len(changes) > _MOST_SHOWN else []
        self.report += changes[:_MOST_SHOWN] + more
        self.lines = [line for line, name in zip(self.lines, names, strict=True) if meant[name] is not None]
        return [to for name in names if (to := meant[name]) is not None]

    def numbers(self, at: int, blank: Collection[str] = ()) -> list[float]:
        """Return the numbers in a column as floats; NaN stands for the ``blank`` texts, and for what is wrong.

        The whole column decides whether a point or a comma is the decimal mark: cells such as ``3,5``, ``1,234.50`` or
        ``1,234,567`` can be read in one way only, and show what the marks in them mean everywhere in the column. Where
        a file has commas between its cells, a point is the decimal mark unless they show otherwise.

        >>> CSVTable("x;y\\n$1,234.50;3,5\\n1,234;0,125\\nyes;1,234\\n", "past.csv").numbers(0)
        [1234.5, 1234.0, 1.0]
        >>> table = CSVTable("x;y\\n3,5;1,234\\n1.250;5\\n", "past.csv")
        >>> table.numbers(0), table.numbers(1)
        ([3.5, nan], [nan, 5.0])
        >>> table.check()
        Traceback (most recent call last):
        dirichlet_bandits.errors.FormatError: past.csv: 2 problems:
        - line 2: column 'y' must be 1234 or 1.2340: the comma may mean either (got '1,234')
        - line 3: column 'x' must be 1250 or 1.2500: the point may mean either (got '1.250')
        """
        cells = [line.cells[at] for line in self.lines]
        values = [WORDS.get(cell.lower(), math.nan) for cell in cells]
        changes = Counter({"yes or no read as 1 or 0": sum(value == value for value in values)})
        amounts: dict[int, Amount] = {}
        currency = ""
        for k, cell in enumerate(cells):
            if values[k] == values[k] or cell.lower() in blank:
                continue
            amount = amount_of(cell)
            if amount is None:
                self.wrong(k, at, "a finite number")
                continue
            amounts[k] = amount
            if amount.currency:
                changes["currency signs removed"] += 1
                currency = currency or amount.currency
                if amount.currency != currency:
                    self.wrong(k, at, f"in {currency}, like the cells before it")
        decimal = self._decimal_mark(at, amounts)
        for k, amount in amounts.items():
            changes["decimal commas"] += decimal == "," and "," in amount.digits
            changes["thousands separators removed"] += any(mark in amount.digits for mark in " '" + _OTHER[decimal])
            values[k] = float(amount.readings[decimal])
            if math.isinf(values[k]):
                values[k] = math.nan
                self.wrong(k, at, "a finite number")
        count = sum(cell.lower() not in blank for cell in cells)
        self.report += [f"{n} of {count} values: {change}" for change, n in changes.items() if n]
        return values

    def _decimal_mark(self, at: int, amounts: dict[int, "Amount"]) -> str:
        """Return the decimal mark of a column; amounts that contradict it, or may mean two numbers, are taken out."""
        clear = {mark: [k for k, amount in amounts.items() if list(amount.readings) == [mark]] for mark in _OTHER}
        decimal, rare = (".", ",") if len(clear["."]) >= len(clear[","]) else (",", ".")
        for k in clear[rare]:
            number, cells = self.lines[clear[decimal][0]]
            self.wrong(k, at, f"written with the same decimal mark as {shown(cells[at])} in line {number}")
            del amounts[k]
        explained = {mark for mark in _OTHER if any(mark in amounts[k].digits for k in clear[decimal])}
        if decimal == "." and self._separator == ",":
            explained.add(".")
        for k, amount in list(amounts.items()):
            if len(amount.readings) == 2 and not any(mark in amount.digits for mark in explained) and amount.doubt():
                self.wrong(k, at, amount.doubt())
                del amounts[k]
        return decimal


def decoded(content: bytes, source: str, forgiving: bool = False) -> tuple[str, list[str]]:
    """Return the text of a file, and a report if it is not in UTF-8, which only a forgiving reader accepts."""
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        if not forgiving:
            raise FormatError(f"{source}: not a CSV file: {error}") from error
    return content.decode("cp1252", "replace"), ["The file is not in UTF-8; it is read as Windows-1252."]


class Amount(NamedTuple):
    """A number as it was typed: its digits and marks, its currency, and how Python writes it by each decimal mark."""

    digits: str
    currency: str
    readings: dict[str, str]

    def doubt(self) -> str:
        """Return what the number may mean if the decimal mark decides that, else an empty text."""
        numbers = sorted(set(self.readings.values()), key=lambda number: "." in number)
        mark = "comma" if "," in self.digits else "point"
        return "" if len(numbers) == 1 else f"{numbers[0]} or {numbers[1]}0: the {mark} may mean either"


def amount_of(text: str) -> Amount | None:
    """Take a number as people type it apart; None if it is no number, whatever the decimal mark is.

    >>> amount_of("$-1,234.50").readings, amount_of("1,234").readings
    ({'.': '-1234.50'}, {'.': '1234', ',': '1.234'})
    """
    parts = _CELL.fullmatch(text.translate(_ALIKE))
    before, currency, after, digits, behind = (part or "" for part in parts.groups()) if parts else [""] * 5
    if (before and after) or (currency and behind):
        return None
    sign = before + after
    forms = _NUMBER.items()
    readings = {mark: sign + digits.translate(_PLAIN[mark]) for mark, form in forms if form.fullmatch(digits)}
    return Amount(digits, (currency or behind).upper(), readings) if readings else None


def shown(text: str) -> str:
    """Return a text of the file in quotes, cut if it is long."""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


def is_number(cell: str) -> bool:
    """Whether a cell is a number without a currency, rather than the name of a column.

    >>> is_number("1,5"), is_number("$3"), is_number("nan")
    (True, False, False)
    """
    amount = amount_of(cell)
    return amount is not None and not amount.currency


def is_blank(cell: str) -> bool:
    """Whether a cell represents a missing value.

    >>> is_blank(" n/a "), is_blank("0")
    (True, False)
    """
    return cell.strip().lower() in BLANK


def _key(name: str) -> str:
    """Return what spellings of one name have in common."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()
