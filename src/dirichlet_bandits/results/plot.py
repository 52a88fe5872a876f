"""Plots of results, ready to print: labels, units, a color-blind palette and a legend beside the data.

This module has what all kinds of plots share; ``kinds`` has what each kind draws.
"""

import functools
import itertools
import re
import textwrap
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.results.comparison import student
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import number_between, positive_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dirichlet_bandits.results.result import Result

# Okabe and Ito's palette is safe for all kinds of color vision; dashes help in gray and where lines coincide.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
_DASHES = ("-", (0, (5, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
PLACES: Final = ("right", "below", "inside")
_BESIDE = 5.5  # inches: a figure as wide as this has room for a legend beside the axes
_NARROW = 5.0  # inches: a figure for one column of a page, with letters of that size

Band = float | bool | Literal["mean"]


_USUAL: Final = {"RDS": 0, "UCB1": 1, "NPTS": 2, "TS": 3, "BDS": 4, "QDS": 5, "IMED": 6, "RBSDA": 7}
_DIRECT: Final = 3  # with more lines than this, names are at their ends instead of in a legend
_PANELS: Final = 8  # with more lines than this, each has a panel of its own


def style(i: int) -> dict[str, Any]:
    """Return the color and the dashes of the i-th line."""
    return {"color": PALETTE[i % len(PALETTE)], "linestyle": _DASHES[i % len(_DASHES)]}


def slots(policies: Sequence[str]) -> dict[str, int]:
    """Return the number of the style of each policy, which is the same in every plot unless another has its color.

    >>> slots(["UCB1", "mine", "RDS, bound 9"])
    {'UCB1': 1, 'RDS, bound 9': 0, 'mine': 3}
    """
    words = {
        policy: re.sub(r"\W.*", "", policy.replace("-", "").replace("ThompsonSampling", "TS")) for policy in policies
    }
    chosen: dict[str, int] = {}
    for policy in sorted(policies, key=lambda policy: words[policy] not in _USUAL):  # frequent policies first
        wanted = _USUAL.get(words[policy], zlib.crc32(words[policy].encode()) % len(PALETTE))
        free = itertools.chain([wanted], itertools.count())
        chosen[policy] = next(slot for slot in free if slot not in chosen.values())
    return chosen


def plain(text: str) -> str:
    """Escape a name, because matplotlib would treat text between two dollar signs as a formula.

    >>> print(plain("$5 or $6"))
    \\$5 or \\$6
    """
    return text.replace("$", r"\$")


@dataclass(frozen=True)
class View:
    """What to draw, and how.

    With ``direct``, the names and the bands of policies are at the ends of their lines: many bands hide each other.
    """

    result: "Result"
    policies: Sequence[str]
    band: Band = 0.9
    log_time: bool = False
    log_regret: bool = False
    lower_bound: float | None = None
    unit: str = ""
    narrow: bool = False
    direct: bool = False

    @functools.cached_property
    def slots(self) -> dict[str, int]:
        """The number of the style of each policy of the result, whichever of them are drawn."""
        return slots(self.result.policies)

    def style(self, policy: str) -> dict[str, Any]:
        """Return the color and the dashes of a policy."""
        return style(self.slots[policy])

    @property
    def line(self) -> float:
        """The width of the main lines, in points."""
        return 1.4 if self.narrow else 1.8

    def with_unit(self, label: str) -> str:
        """Return the label of an axis with its unit."""
        return plain(label) + (f" ({plain(self.unit)})" if self.unit else "")

    def spread(self, runs: Floats) -> tuple[Floats, Floats] | None:
        """Return the lower and upper edges of the band over replications, which are rows; None without a band."""
        if self.band is False:
            return None
        if self.band == "mean":
            if len(runs) < 2:
                return None
            ends = [student(column, 0.95) for column in runs.T]
            return np.array([end.low for end in ends]), np.array([end.high for end in ends])
        outside = (1.0 - float(self.band)) / 2
        low, high = np.quantile(runs, [outside, 1.0 - outside], axis=0)
        return low, high

    @property
    def band_label(self) -> str:
        """What the line and the band show, for the legend."""
        if self.band is False:
            return "mean"
        if self.band == "mean":
            return "mean, 95% interval"
        outside = 50.0 * (1.0 - float(self.band))
        return f"mean, {outside:.3g}-{100 - outside:.3g}% band"


def checked_band(band: object) -> Band:
    """Check and return the requested band: a share of replications, "mean" or none."""
    if band is True or band is None:
        return 0.9 if band else False
    if band is False or band == "mean":
        return band
    if isinstance(band, str):
        raise ArgumentError("band", "a share of the replications such as 0.9, 'mean', or False", band)
    return number_between("band", band, 0, 1)


def checked_legend(legend: object) -> bool | str:
    """Check and return where the legend goes: True finds a place, False draws none."""
    if not isinstance(legend, bool) and legend not in PLACES:
        raise ArgumentError("legend", f"True, False or {one_of(PLACES)}", legend)
    return legend


def checked_size(figsize: object) -> tuple[float, float]:
    """Check and return width and height in inches."""
    if not isinstance(figsize, tuple | list) or len(figsize) != 2:
        raise ArgumentError("figsize", "width and height in inches", figsize)
    width, height = (positive_number(f"figsize[{k}]", side) for k, side in enumerate(figsize))
    return width, height


def picture(
    view: View,
    kind: str,
    path: str | PathLike[str] | None,
    *,
    ax: Any,
    figsize: tuple[float, float] | None,
    legend: bool | str,
    title: str | None,
) -> "Figure":
    """Draw into the user's axes, or a figure of our own, and save it if there is a path."""
    from dirichlet_bandits.results.kinds import (
        KINDS,
        Picture,  # takes half a second: only those who plot wait for it
        default_size,
        panels,
    )

    if kind not in KINDS:
        raise ArgumentError("kind", one_of(KINDS), kind)
    if ax is None:
        size = default_size(view, kind) if figsize is None else checked_size(figsize)
        direct = kind == "regret" and len(view.policies) > _DIRECT and legend is True and view.result.values is None
        view = replace(view, narrow=size[0] < _NARROW, direct=direct)
        figure: Figure = Picture(figsize=size)
        if kind == "regret" and len(view.policies) > _PANELS:
            return _saved(panels(figure, view, title), path, view)
        axes = figure.add_subplot()
    elif figsize is not None:
        raise ArgumentError("figsize", "left out where axes are given: their figure has a size", figsize)
    elif not hasattr(ax, "transAxes"):
        raise ArgumentError("ax", "axes of matplotlib", ax)
    else:
        axes, figure = ax, ax.get_figure(root=True)
    entries = KINDS[kind](axes, view)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if title:
        axes.set_title(plain(title), fontsize=9 if view.narrow else 11)
    if view.narrow:
        axes.tick_params(labelsize=7)
        for label in (axes.xaxis.label, axes.yaxis.label):
            label.set_fontsize(8)
    if legend and entries.handles:
        beside = entries.place if figure.get_figwidth() >= _BESIDE else "below"
        anywhere = beside if ax is None else "inside"
        _draw_legend(axes, entries, legend if isinstance(legend, str) else anywhere, view.narrow)
    return _saved(figure, path, view)


def _saved(figure: "Figure", path: str | PathLike[str] | None, view: View) -> "Figure":
    """Write the figure if there is a path, and return it."""
    if path is not None:
        figure.savefig(path, dpi=300 if view.narrow else 150)
    return figure


@dataclass(frozen=True)
class Entries:
    """The content of a legend: one line per handle, what all of them show, and the preferred places."""

    handles: Sequence[Any] = ()
    labels: Sequence[str] = ()
    title: str = ""
    place: str = "right"
    inside: Literal["upper left", "upper center"] = "upper left"


def _draw_legend(axes: "Axes", entries: Entries, place: str, narrow: bool) -> None:
    """Draw the legend beside the data, never on top of it."""
    figure: Any = axes.get_figure(root=True)
    small = narrow or place == "inside"
    look: dict[str, Any] = {
        "frameon": False,
        "title": entries.title or None,
        "alignment": "left",
        "handlelength": 2.4 if narrow else 3,
        "fontsize": 7 if narrow else 8 if small else 10,
        "title_fontsize": 7 if narrow else 8 if small else 10,
    }
    width = figure.get_figwidth()
    letter, line = look["fontsize"] / 125, look["handlelength"] * look["fontsize"] / 72 + 0.25  # inches
    room = 0.4 * width if place == "right" else width
    most = max(12, int((room - line) / letter))
    labels = [textwrap.fill(label, most, break_long_words=False) for label in entries.labels]
    if place == "right":
        figure.legend(entries.handles, labels, loc="outside right upper", **look)
    elif place == "below":
        widest = max(len(part) for label in labels for part in label.splitlines())
        columns = max(1, min(len(labels), int(width / (line + widest * letter))))
        figure.legend(entries.handles, labels, loc="outside lower center", ncols=columns, columnspacing=1.2, **look)
    else:
        _make_room(axes, axes.legend(entries.handles, labels, loc=entries.inside, **look))


def _make_room(axes: "Axes", legend: Any) -> None:
    """Raise the upper end of the axis until no line passes under a legend at its upper end."""
    figure: Any = axes.get_figure(root=True)
    for _ in range(2):  # longer numbers at the axis move it, and the legend with it
        figure.draw_without_rendering()
        box = legend.get_window_extent().transformed(axes.transAxes.inverted())
        highest, below = _highest(axes, box.x1), box.y0 - 0.02
        if highest <= below or below <= 0.0:
            return
        scale = axes.yaxis.get_transform()
        low, high = (float(end) for end in scale.transform(np.array(axes.get_ylim())))
        raised = low + (high - low) * highest / below
        axes.set_ylim(top=float(scale.inverted().transform(np.array([raised]))[0]))


def _highest(axes: "Axes", right: float) -> float:
    """Return the highest point of all lines to the left of a place, both as fractions of the axes."""
    to_axes = axes.transData + axes.transAxes.inverted()
    points = np.concatenate([to_axes.transform(line.get_xydata()) for line in axes.lines] or [np.zeros((0, 2))])
    heights = points[points[:, 0] <= right, 1]
    return float(np.max(heights[np.isfinite(heights)], initial=0.0))
