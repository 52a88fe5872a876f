"""Tables for papers."""

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
