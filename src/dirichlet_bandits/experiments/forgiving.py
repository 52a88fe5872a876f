"""Read numbers and names as people type them into spreadsheets, and report every change."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

_BLANK: Final = frozenset({"", "-", "na", "n/a", "nan", "null", "none", "?"})
_WORDS: Final = {"yes": "1", "y": "1", "true": "1", "no": "0", "n": "0", "false": "0"}
_CURRENCY: Final = re.compile(r"[$€£¥\s\u00a0\u202f']|(?:USD|EUR|GBP)", re.IGNORECASE)


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


def merged_names(names: Iterable[str]) -> tuple[Mapping[str, str], list[str]]:
    """Return the name that each spelling stands for, the most frequent one, and a line of a report for each merger.

    Spellings that differ only in case, spaces, hyphens or underscores are one name.

    >>> merged_names(["Green", "green", "green", "blue"])
    ({'Green': 'green', 'green': 'green', 'blue': 'blue'}, ["'Green' is read as 'green'"])
    """
    counts = Counter(names)
    groups: dict[str, list[str]] = {}
    for name in counts:
        groups.setdefault(re.sub(r"[\s_-]+", " ", name).strip().casefold(), []).append(name)
    chosen = {name: max(group, key=lambda spelling: counts[spelling]) for group in groups.values() for name in group}
    report = [f"{name!r} is read as {to!r}" for name, to in chosen.items() if name != to]
    return {name: chosen[name] for name in counts}, report
