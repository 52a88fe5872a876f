"""Small tables in HTML, as results, bandits and studies display in a notebook, and in LaTeX for papers."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from dirichlet_bandits.display.numbers import cell as as_text
from dirichlet_bandits.display.numbers import number

_LEFT = "text-align: left; padding: 2px 8px"
_RIGHT = "text-align: right; padding: 2px 8px; font-variant-numeric: tabular-nums"


class Html(str):
    """Text that is already HTML and is not escaped again."""

    __slots__ = ()


def table(
    caption: str,
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    marked: int | None = None,
    below: str = "",
) -> Html:
    """Return a table with text aligned left and numbers aligned right; the row ``marked`` is bold.

    >>> "a&lt;b</td>" in table("Arms", ["arm", "mean"], [("a<b", 0.25)])
    True
    """
    shown = [list(row) for row in rows]
    sides = [_side(column[0]) for column in zip(*shown, strict=True)] if shown else [_LEFT] * len(headers)
    head = "".join(f'<th style="{side}">{escape(text)}</th>' for side, text in zip(sides, headers, strict=True))
    body = []
    for i, row in enumerate(shown):
        weight = "; font-weight: bold" if i == marked else ""
        cells = "".join(f'<td style="{side}{weight}">{_cell(x)}</td>' for side, x in zip(sides, row, strict=True))
        body.append(f"<tr>{cells}</tr>")
    return Html(
        f"<div>{escape(caption)}<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        f"{escape(below)}</div>"
    )


def interval_bar(low: float, middle: float, high: float, bounds: tuple[float, float]) -> Html:
    """Return a line from ``low`` to ``high`` with a dot in the middle, on an axis between two bounds."""
    left, right = bounds
    width = (right - left) or 1.0
    at = [4 + 112 * (x - left) / width for x in (low, middle, high)]
    return Html(
        f'<svg width="120" height="12" role="img" aria-label="{number(low)} to {number(high)}">'
        f'<line x1="{at[0]:.1f}" x2="{at[2]:.1f}" y1="6" y2="6" stroke="#0072B2" stroke-width="2"/>'
        f'<circle cx="{at[1]:.1f}" cy="6" r="3.5" fill="#0072B2"/></svg>'
    )


def _side(cell: object) -> str:
    return _RIGHT if isinstance(cell, int | float) else _LEFT


def _cell(cell: object) -> str:
    if isinstance(cell, Html):
        return cell
    return escape(as_text(cell))


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


def _latex_cell(text: str) -> str:
    """Return the text of a cell; signs of numbers become those of formulas.

    >>> print(_latex_cell("-1.5 ± 0.2 [-2, -1], so-called"))
    $-$1.5 $\\pm$ 0.2 [$-$2, $-$1], so-called
    """
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", escaped(text)).replace("±", r"$\pm$")


def latex_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for the package ``booktabs``: texts on the left, numbers on the right.

    >>> print(latex_table(("policy", "mean"), [("RDS", "1.5")]))
    \\begin{tabular}{lr}
    \\toprule
    policy & mean \\\\
    \\midrule
    RDS & 1.5 \\\\
    \\bottomrule
    \\end{tabular}
    """
    lines = [" & ".join(map(_latex_cell, row)) + r" \\" for row in (headers, *rows)]
    columns = "l" + "r" * (len(headers) - 1)
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}"])
