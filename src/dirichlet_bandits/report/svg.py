"""Figures that follow the reader's choice of light or dark."""

from dirichlet_bandits.results.plot import PALETTE

# Each color on white, and its counterpart on black. Text is black, the background white, notes are gray.
_DARK = {
    "#ffffff": "#14171c",
    "#000000": "#e8eaed",
    "#4d4d4d": "#b4b9c0",
    "#595959": "#b4b9c0",
    **dict(
        zip(
            map(str.lower, PALETTE),
            ("#58a6e8", "#ff8f45", "#3ecf9f", "#e8a3c9", "#f2b632", "#a5dcff", "#e8eaed", "#cbaa68"),
            strict=True,
        )
    ),
}


def themed(svg: str) -> str:
    """Return the SVG with colors that follow the reader's dark mode on screen, but not in print.

    >>> themed('<svg><path style="fill: #ffffff"/></svg>').endswith('<path style="fill: var(--ffffff)"/></svg>')
    True
    """
    light = "".join(f"--{color[1:]}:{color};" for color in _DARK)
    dark = "".join(f"--{color[1:]}:{other};" for color, other in _DARK.items())
    rules = f":root{{{light}fill:var(--000000)}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    for color in _DARK:
        svg = svg.replace(f": {color}", f": var(--{color[1:]})")
    head = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:head]}<style>{rules}</style>{svg[head:]}"
