"""The figures of the report: labels, units, one palette, legends below the data, and colors for dark pages."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.display.numbers import measured
from dirichlet_bandits.environments import Bandit, CVaR, Empirical, Mean
from dirichlet_bandits.report.claims import Panel, PlotSettings
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.plot import PALETTE, plain, slots, style
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 5.8  # inches: letters stay readable when a phone shows the whole figure
_DRAWN = 10_000  # rewards in a histogram of a distribution that is not itself a sample, as in the paper
_MOST_ARMS = 8  # with more of them, the best ones are drawn
LARGE = 10_000  # from here on an axis reads better with separated thousands than with powers of ten
_FLATTENS = 2.0  # times the median: above this, a line flattens the others
_BEYOND = 2.0  # times the highest mean: few runs lose more, and showing them would flatten the lines
_SETTLED = 10  # on a logarithmic axis the first pulls would take a third of the width and show nothing
_WIDE = 34  # characters of a title in a legend
_MARKERS = "oDs^vPX"


def laws(bandit: Bandit, title: str, in_unit: str) -> "Figure":
    """Draw a histogram for each arm, one below the other on one axis.

    The value of the arm is marked, and the tail whose average is the CVaR is darker.
    """
    shown = np.sort(np.argsort(bandit.gaps, kind="stable")[:_MOST_ARMS])
    n = len(shown)
    figure = empty(0.9 + 0.62 * n if n > 2 else 3.2)
    rows = np.atleast_1d(figure.subplots(n, 1, sharex=True))
    samples = [_sample(bandit, k) for k in shown]
    bins = np.linspace(min(x.min() for x in samples), max(x.max() for x in samples), 81)
    goal = bandit.objective
    for axes, sample, k in zip(rows, samples, shown, strict=True):
        best, value = bandit.gaps[k] == 0.0, float(bandit.values[k])
        color = PALETTE[1] if best else PALETTE[0]
        bars = axes.hist(
            sample, bins=list(bins), density=True, color=color, alpha=0.55, linewidth=0, histtype="stepfilled"
        )
        if isinstance(goal, CVaR):
            tail = np.sort(sample)[: max(round(goal.level * sample.size), 1)]
            heights = np.histogram(tail, bins)[0] * (np.sum(bars[0]) / sample.size)
            axes.bar(bins[:-1], heights, np.diff(bins), align="edge", color=color, linewidth=0)
        mean, worth = "", f"mean {measured(value)}"
        if not isinstance(goal, Mean):
            mean, worth = f"mean {measured(float(bandit.means[k]))}, ", f"{plain(goal.name)}: {measured(value)}"
        axes.axvline(value, color=color if isinstance(goal, Mean) else "black", linewidth=1.5)
        label = f"{plain(bandit.names[k])}: {mean}{worth}" + (", the best" if best else "")
        axes.set_title(label, fontsize=8, loc="right", pad=1, color=color)
        axes.set_yticks([])
        axes.spines[["top", "right", "left"]].set_visible(False)
    rows[-1].set_xlabel("reward" + plain(in_unit))
    if bins[-1] >= LARGE / 10:
        separate_thousands(rows[-1], "x")
    some = f"rewards of the best {n}" if n < len(bandit) else "the rewards"
    figure.suptitle(plain(f"{title}: {some}"), fontsize=11)
    return figure


def values(result: Result, title: str, in_unit: str) -> "Figure":
    """Draw the value of each arm over time, and the times of the changes."""
    assert result.values is not None
    figure, axes = single(3.2)
    time = result.values["time"].to_numpy()
    for i, arm in enumerate(result.values["arm"].to_numpy()):
        axes.plot(time, result.values.sel(arm=arm), linewidth=1.8, label=plain(str(arm)), **style(i))
    mark_changes(axes, result)
    axes.set_xlim(time[0], time[-1])
    axes.set_xlabel("number of pulls")
    axes.set_ylabel(plain(result.objective) + plain(in_unit))
    axes.set_title(plain(f"{title}: values of the arms"), fontsize=11)
    if time[-1] >= LARGE:
        separate_thousands(axes, "x")
    legend(figure, *axes.get_legend_handles_labels(), "")
    return figure


def mark_changes(axes: "Axes", result: Result) -> None:
    """Mark the times at which arms change."""
    for first in result.breakpoints:
        axes.axvline(first, color="0.6", linewidth=1.0, linestyle=":", zorder=1)


def _sample(bandit: Bandit, arm: int) -> Floats:
    """Return rewards of an arm to draw: its own sample, or one from its distribution."""
    law = bandit.arms[arm]
    return law.data if isinstance(law, Empirical) else np.asarray(law.rvs(_DRAWN, np.random.default_rng(arm)))


def mark(figure: "Figure", note: str) -> "Figure":
    """Write a note at an edge of a figure: above if it has a legend, below if it has a title."""
    look: dict[str, Any] = {"x": 0.99, "ha": "right", "fontsize": 8, "color": "0.35", "style": "italic"}
    if note and figure.get_suptitle():
        figure.supxlabel(note, **look)
    elif note:
        figure.suptitle(note, **look)
    return figure


def empty(height: float) -> "Figure":
    """Return an empty figure of the report's width."""
    from matplotlib.figure import Figure  # takes half a second: only those who draw wait for it

    return Figure(figsize=(_WIDTH, height), layout="constrained")


def single(height: float) -> "tuple[Figure, Axes]":
    """Return a figure with one pair of axes."""
    figure = empty(height)
    axes = figure.add_subplot()
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def legend(figure: "Figure", handles: Sequence[Any], labels: Sequence[str], title: str, most: int = 4) -> None:
    """Draw the legend below the axes, in rows of ``most`` entries; there is no room beside them on a phone."""
    widest = max(map(len, labels))
    columns = min(most, 4 if widest < 12 else 3 if widest < 18 else 2)
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(columns, len(labels)),
        frameon=False,
        title=title or None,
        fontsize=9,
        title_fontsize=9,
        handlelength=2.6,
    )


def separate_thousands(axes: "Axes", which: str, most: int = 6) -> None:
    """Write the ticks of an axis as 10 000, not as powers of ten."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis: Any = getattr(axes, f"{which}axis")
    axis.set_major_locator(MaxNLocator(nbins=most))
    axis.set_major_formatter(FuncFormatter(lambda x, _: measured(round(x)) if x else "0"))


class _Curve(NamedTuple):
    """A policy's mean over time, its 5% and 95% quantiles at the end, and its line style."""

    label: str
    mean: Floats
    low: float
    high: float
    look: dict[str, Any]

    @property
    def last(self) -> float:
        """The mean at the end."""
        return float(self.mean[-1])


def regret(title: str, settings: PlotSettings, result: Result, panel: Panel | None) -> "Figure":
    """Draw the mean regret over time, with the range from 5% to 95% of the runs at the end, of all policies or a panel.

    If a few policies flatten the others, a second scale below shows only the others.
    """
    lines = _lines(result, result.policies if panel is None else panel.policies)
    time = result.regret["time"].to_numpy()
    low = [] if settings.log_regret else _low(lines)
    scales = [lines, low] if low else [lines]
    figure = empty(4.6 if len(scales) == 1 else 6.4)
    rows = figure.subplots(
        len(scales),
        2,
        sharex="col",
        sharey="row",
        squeeze=False,
        width_ratios=[6, 1],
        height_ratios=[3, 4][: len(scales)],
    )
    for (left, right), shown in zip(rows, scales, strict=True):
        for line in shown:
            left.plot(time, line.mean, label=line.label, linewidth=1.8, **line.look)
        if settings.lower_bound is not None:
            left.plot(
                time, settings.lower_bound * np.log(time), color="0.3", linewidth=1.0, label="asymptotic lower bound"
            )
        mark_changes(left, result)
        _ends(right, shown, lines)
        if not settings.log_regret and any(line.high > _top(shown) for line in shown):
            right.set_title("▲ beyond", fontsize=7)
        unit = plain(settings.in_unit)
        left.set_ylabel(plain(result.regret_label) + unit)
        left.grid(alpha=0.25, linewidth=0.5)
        left.spines[["top", "right"]].set_visible(False)
        if settings.log_regret:
            left.set_yscale("log")
        else:
            left.set_ylim(0, _top(shown))
            if left.get_ylim()[1] >= LARGE:
                separate_thousands(left, "y")
    left = rows[-1][0]
    if settings.log_time:
        left.set_xscale("log")
    else:
        separate_thousands(left, "x")
    left.set_xlim(_SETTLED if settings.log_time and time[-1] > _SETTLED**2 else time[0], time[-1])
    left.set_xlabel("number of pulls")
    rows[-1][1].set_xlabel("5-95%\nof the runs", fontsize=8)
    rows[0][0].set_title(plain(title if panel is None else f"{title}: {panel.title}"), fontsize=10)
    if low:
        left.set_title(f"second scale: the lowest {len(low)}", fontsize=9, loc="left")
    handles, labels = rows[0][0].get_legend_handles_labels()
    order = sorted(range(len(lines)), key=lambda k: -lines[k].last)  # like the ends of the lines
    order += range(len(lines), len(labels))
    legend(figure, [handles[k] for k in order], [labels[k] for k in order], "mean")
    return figure


def final(title: str, settings: PlotSettings, result: Result) -> "Figure":
    """Draw the regret at the horizon, one row per policy: its mean, and the range from 5% to 95% of the runs."""
    lines = _lines(result, result.policies)
    figure = empty(1.1 + 0.21 * len(lines))
    axes = figure.add_subplot()
    for k, line in enumerate(lines):
        axes.hlines(k, line.low, line.high, color=PALETTE[0], linewidth=2, alpha=0.6)
        axes.plot(line.last, k, "o", color=PALETTE[0], markersize=5)
    axes.set_yticks(range(len(lines)), [line.label for line in lines], fontsize=8)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    smallest = min(line.last for line in lines)
    if smallest > 0 and max(line.high for line in lines) > 10 * smallest:
        _plain_log(axes, smallest / 10, 2 * max(line.high for line in lines))
    elif axes.get_xlim()[1] >= LARGE:
        separate_thousands(axes, "x", most=5)
    unit = plain(settings.in_unit)
    axes.set_xlabel(
        f"{plain(result.regret_label)} after {measured(result.horizon)} pulls{unit}: mean, and 5-95% of the runs"
    )
    axes.set_title(plain(title), fontsize=10)
    return figure


def headline(multiples: Mapping[str, Mapping[str, float]], own: Sequence[str]) -> "Figure":
    """Draw each policy's mean regret as a multiple of the lowest in each experiment; the paper's ``own`` stand out."""
    of = {
        policy: [found[policy] for found in multiples.values() if policy in found]
        for found in multiples.values()
        for policy in found
    }
    names = sorted(of, key=lambda policy: float(np.mean(np.log(of[policy]))))
    wide = max(map(len, multiples)) > _WIDE  # two such titles do not fit beside each other
    figure = empty(1.5 + 0.22 * len(names) + (0.19 * len(multiples) if wide else 0.0))
    axes = figure.add_subplot()
    for k, (title, found) in enumerate(multiples.items()):
        rows = [names.index(policy) for policy in found]
        look: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "marker": _MARKERS[k % len(_MARKERS)]}
        axes.plot(list(found.values()), rows, linestyle="", markersize=6, alpha=0.85, label=plain(title), **look)
    axes.set_yticks(range(len(names)), [plain(name) for name in names], fontsize=8)
    for name, label in zip(names, axes.get_yticklabels(), strict=True):
        if name.split(" ")[0] in own:
            label.set(weight="bold", color=PALETTE[0])
    axes.set_ylim(len(names) - 0.5, -0.5)
    _plain_log(axes, 0.9, 1.15 * max(max(found.values()) for found in multiples.values()))
    axes.set_xlabel("mean regret / lowest mean regret")
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title("Regret against the best of each experiment", fontsize=10)
    legend(figure, *axes.get_legend_handles_labels(), "", most=1 if wide else 2)
    return figure


def _lines(result: Result, policies: Sequence[str]) -> list[_Curve]:
    """Return the policies that have finished runs, each in the color that it has everywhere."""
    lines, of = [], slots(result.policies)
    for policy in policies:
        runs = result.regret.sel(policy=policy).to_numpy()
        runs = runs[~np.isnan(runs).any(axis=1)]
        if len(runs):
            low, high = np.quantile(runs[:, -1], [0.05, 0.95])
            lines.append(_Curve(plain(policy), runs.mean(axis=0), float(low), float(high), style(of[policy])))
    return lines


def _low(lines: list[_Curve]) -> list[_Curve]:
    """Return the lines that the others flatten; none if all are visible on one scale."""
    if len(lines) < 3:
        return []
    limit = _FLATTENS * float(np.median([line.last for line in lines]))
    low = [line for line in lines if line.last <= limit]
    return low if len(low) < len(lines) else []


def _top(lines: list[_Curve]) -> float:
    """Return the upper end of a linear scale: above the ranges of the runs, but not far above the means."""
    return min(1.05 * max(line.high for line in lines), _BEYOND * max(line.last for line in lines)) or 1.0


def _ends(axes: "Axes", shown: list[_Curve], lines: list[_Curve]) -> None:
    """Draw the ranges of the runs at the end side by side, highest mean first, at the same places on all scales."""
    order = sorted(lines, key=lambda line: -line.last)
    for x, line in (([other.label for other in order].index(line.label), line) for line in shown):
        axes.vlines(x, line.low, line.high, color=line.look["color"], linewidth=2.5, alpha=0.6)
        axes.plot(x, line.last, "o", color=line.look["color"], markersize=4)
    axes.set_xlim(-0.7, len(lines) - 0.3)
    axes.set_xticks([])
    axes.tick_params(axis="y", which="both", left=False, labelleft=False)
    axes.grid(axis="y", alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)


def _plain_log(axes: "Axes", low: float, high: float) -> None:
    """Set a logarithmic axis with ticks at 1, 2, 5, 10, written out, or at powers of ten if it is long."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_xlim(low, high)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high < 200 * low else (1,)
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}" if x < 1000 else measured(x)))
    axes.xaxis.set_minor_locator(NullLocator())


# Each color on white, and its counterpart on black. Text is black, the background white, notes are gray.
_DARK: Final = {
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
