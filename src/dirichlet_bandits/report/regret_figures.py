"""Figures of regret for the report: lines that end in intervals, policies side by side, all experiments at once."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dirichlet_bandits.display.numbers import measured
from dirichlet_bandits.experiments import Experiment, Panel
from dirichlet_bandits.report.figures import LARGE, empty, legend, mark_changes, separate_thousands
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.plot import PALETTE, plain, slots, style
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FLATTENS = 2.0  # times the median: above this, a line flattens the others
_BEYOND = 2.0  # times the highest mean: few runs lose more, and showing them would flatten the lines
_SETTLED = 10  # on a logarithmic axis the first pulls would take a third of the width and show nothing
_WIDE = 34  # characters of a title in a legend
_MARKERS = "oDs^vPX"


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


def regret(experiment: Experiment, result: Result, panel: Panel | None) -> "Figure":
    """Draw the mean regret over time, with the range from 5% to 95% of the runs at the end, of all policies or a panel.

    If a few policies flatten the others, a second scale below shows only the others.
    """
    lines = _lines(result, result.policies if panel is None else panel.policies)
    time = result.regret["time"].to_numpy()
    settings = experiment.plot
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
    title = experiment.title if panel is None else f"{experiment.title}: {panel.title}"
    rows[0][0].set_title(plain(title), fontsize=10)
    if low:
        left.set_title(f"second scale: the lowest {len(low)}", fontsize=9, loc="left")
    handles, labels = rows[0][0].get_legend_handles_labels()
    order = sorted(range(len(lines)), key=lambda k: -lines[k].last)  # like the ends of the lines
    order += range(len(lines), len(labels))
    legend(figure, [handles[k] for k in order], [labels[k] for k in order], "mean")
    return figure


def final(experiment: Experiment, result: Result) -> "Figure":
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
    unit = plain(experiment.plot.in_unit)
    axes.set_xlabel(
        f"{plain(result.regret_label)} after {measured(result.horizon)} pulls{unit}: mean, and 5-95% of the runs"
    )
    axes.set_title(plain(experiment.title), fontsize=10)
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
