"""Tables for papers."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

_SPECIAL: Final = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def escaped(text: str) -> str:
    """Return a text in which LaTeX takes every character literally.

    >>> print(escaped("5 % of c_1"))
    5 \\% of c\\_1
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def number(x: float, digits: int) -> str:
    """Return a number with so many digits or more, and without an exponent unless it is tiny or huge.

    >>> number(1052.6, 3), number(474.3, 3), number(0.01234, 3), number(0.0, 3), number(1e-9, 3)
    ('1053', '474', '0.0123', '0', '1e-09')
    """
    if not 1e-4 <= abs(x) < 1e15:
        return f"{x:.{digits}g}"
    return f"{x:.{max(0, digits - 1 - math.floor(math.log10(abs(x))))}f}"


def _cell(text: str) -> str:
    """Return the text of a cell; signs of numbers become those of formulas.

    >>> print(_cell("-1.5 ± 0.2 [-2, -1], so-called"))
    $-$1.5 $\\pm$ 0.2 [$-$2, $-$1], so-called
    """
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", escaped(text)).replace("±", r"$\pm$")


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for the package ``booktabs``: texts on the left, numbers on the right.

    >>> print(table(("policy", "mean"), [("RDS", "1.5")]))
    \\begin{tabular}{lr}
    \\toprule
    policy & mean \\\\
    \\midrule
    RDS & 1.5 \\\\
    \\bottomrule
    \\end{tabular}
    """
    lines = [" & ".join(map(_cell, row)) + r" \\" for row in (headers, *rows)]
    columns = "l" + "r" * (len(headers) - 1)
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}"])
