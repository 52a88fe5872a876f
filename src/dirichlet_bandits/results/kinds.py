"""The kinds of plots of a result: each draws into given axes and returns the entries of the legend."""

import contextlib
import io
import json
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.results.plot import MARKERS, Band, Entries, View, plain, slots, style
from dirichlet_bandits.specs import parse
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 110


class Picture(Figure):
    """A figure without pyplot, so it is freed as soon as it is no longer used."""

    def __init__(self, **options: Any) -> None:
        super().__init__(layout="constrained", **options)

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure; PDF and PostScript files embed TrueType fonts, which publishers accept."""
        with rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(fname, **options)

    def png(self, dpi: float = _DPI) -> bytes:
        """Return the figure as the bytes of a PNG file."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=dpi)
        return file.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()


_SETTLED = 10  # on a logarithmic axis the first pulls would take a third of the width and show nothing
_BOUND = "asymptotic lower bound"
_SMALL: Final = 7  # points: the size of the names of arms
_DASHES: Final = ("-", "--", "-.", ":")


def default_size(view: View, kind: str) -> tuple[float, float]:
    """Return the size of a plot in inches; its height depends on the number of rows."""
    rows = {"pulls": view.result.data.sizes["arm"], "reward": len(view.policies), "distribution": len(view.policies)}
    return (7.0, 4.0) if kind not in rows else (7.0, min(12.0, max(2.6, 1.3 + 0.45 * rows[kind])))


def regret(axes: "Axes", view: View) -> Entries:
    """Draw the mean regret over time with its band, and the lower bound c log(t) as a thin dashed line."""
    time = view.result.regret["time"].to_numpy()
    ends: list[_End] = []
    for policy in view.policies:
        runs = _finished(view, policy)
        if runs.shape[0]:
            ends.append(_End(policy, runs[:, -1], _mean_and_band(axes, view, policy, runs)))
    ends.sort(key=lambda end: -float(end.runs.mean()))  # the legend lists the lines as they end
    handles = [] if view.direct else [end.line for end in ends]
    if view.lower_bound is not None:
        known = time[_first_meaningful(view.lower_bound, time, _gaps(view)) :]
        if known.size:
            curve = view.lower_bound * np.log(known)
            handles += axes.plot(known, curve, color="0.3", linewidth=1.0, linestyle=(0, (6, 3)), label=_BOUND)
    _set_time_axes(axes, view)
    if view.result.values is not None:
        _draw_values(axes, view)
    if view.direct:
        _label_ends(axes, view, ends)
        if view.band is not False:
            shown = "" if view.band == "mean" else view.band_label.replace("mean,", "; thin:")
            label = f"number of pulls (at the right, 95% intervals of the means{shown})"
            axes.set_xlabel(textwrap.fill(label, 40) if view.narrow else label)
        return Entries(handles, [line.get_label() for line in handles], place="below")
    entries = Entries(handles, [line.get_label() for line in handles], view.band_label)
    return entries if view.result.values is None else replace(entries, inside="upper center")  # beside names of arms


def panels(figure: "Figure", view: View, title: str | None) -> "Figure":
    """Draw the regret of many policies, one panel per policy, with all others in gray behind it."""
    columns = 4
    rows = math.ceil(len(view.policies) / columns)
    figure.set_size_inches(figure.get_figwidth(), max(figure.get_figheight(), 0.6 + 1.5 * rows))
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    time = view.result.regret["time"].to_numpy()
    finished = {policy: runs for policy in view.policies if len(runs := _finished(view, policy))}
    means = {policy: runs.mean(axis=0) for policy, runs in finished.items()}
    for axes, policy in zip(grid, view.policies, strict=False):
        for other, mean in means.items():
            if other != policy:
                axes.plot(time, mean, color="0.8", linewidth=0.6, zorder=1)
        if policy in finished:
            _mean_and_band(axes, view, policy, finished[policy])
        _set_time_axes(axes, view)
        axes.set(xlabel="", ylabel="")
        axes.set_title(plain(policy), fontsize=8, color=view.style(policy)["color"])
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(view.policies) :]:
        axes.set_visible(False)
    for axes in grid[max(0, len(view.policies) - columns) : len(view.policies)]:
        axes.tick_params(labelbottom=True)  # the lowest panel of each column
    highest = max((float(mean[-1]) for mean in means.values()), default=1.0)
    if not view.log_regret:
        grid[0].set_ylim(0, 1.3 * highest)  # a band far above all means would flatten every panel
    figure.supxlabel(f"number of pulls ({view.band_label})", fontsize=9)
    figure.supylabel(view.with_unit(view.result.regret_label), fontsize=9)
    if title:
        figure.suptitle(plain(title), fontsize=11)
    return figure


class _End(NamedTuple):
    """A policy whose line was drawn, and its regret at the horizon in each replication."""

    policy: str
    runs: Floats
    line: Any


def _finished(view: View, policy: str) -> Floats:
    """Return the regret of a policy over time in its finished replications, which are rows."""
    runs: Floats = view.result.regret.sel(policy=policy).to_numpy()
    return runs[~np.isnan(runs).any(axis=1)]


def _mean_and_band(axes: "Axes", view: View, policy: str, runs: Floats) -> Any:
    """Draw the mean of the replications and the band around it, and return the line of the mean."""
    time, look = view.result.regret["time"].to_numpy(), view.style(policy)
    (line,) = axes.plot(time, runs.mean(axis=0), label=plain(policy), linewidth=view.line, zorder=3, **look)
    if not view.direct and (edges := view.spread(runs)) is not None:
        axes.fill_between(time, *edges, color=look["color"], alpha=0.08, linewidth=0)
        for edge in edges:  # overlapping bands mix their colors: only their edges tell them apart
            axes.plot(time, edge, linewidth=0.4 * view.line, alpha=0.6, **look)
    return line


def _set_time_axes(axes: "Axes", view: View) -> None:
    """Label and scale the axes of regret against time."""
    time = view.result.regret["time"].to_numpy()
    axes.set_xlabel("number of pulls")
    axes.set_ylabel(view.with_unit(view.result.regret_label))
    if view.log_time:
        axes.set_xscale("log")
    if view.log_regret:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    first = _SETTLED if view.log_time and time[-1] > _SETTLED**2 else time[0]
    axes.set_xlim(float(first), float(time[-1]))
    axes.margins(y=0.02)


def _label_ends(axes: "Axes", view: View, ends: list[_End]) -> None:
    """Write the names of policies beside the ends of their lines, with the 95% interval of each mean and its band."""
    bars = [_bars_of(view, end.runs) for end in ends]
    means = [float(end.runs.mean()) for end in ends]
    highest = 1.5 * max(means, default=0.0)  # rare disasters do not flatten all lines
    tops = [min(high, highest) for each in bars for _, high, _ in each]
    axes.set_ylim(top=max(axes.get_ylim()[1], highest / 2, *tops))
    size, step = (6.5, 0.02) if view.narrow else (8, 0.012)
    places = _label_places(axes, means, size)
    beside = axes.get_yaxis_transform()
    for k, (end, mean, place) in enumerate(zip(ends, means, places, strict=True)):
        color, x = end.line.get_color(), 1.0 + step * (k + 1)
        look = {"color": color, "transform": beside, "clip_on": False}
        for *edges, width in bars[k]:
            inside = np.clip(edges, *axes.get_ylim())
            axes.plot([x, x], inside, linewidth=width, solid_capstyle="butt", **look)
            for marker, edge, limit in zip("v^", edges, inside, strict=True):
                if edge != limit:  # the bar goes beyond the axes
                    axes.plot([x], [limit], linestyle="", marker=marker, markersize=4, **look)
        axes.annotate(
            plain(end.policy), (x, mean), (1.0 + step * (len(ends) + 2), place), xycoords=beside,
            textcoords="axes fraction", color=color, fontsize=size, va="center", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.6, "shrinkA": 0, "shrinkB": 1},
        )  # fmt: skip


def _bars_of(view: View, runs: Floats) -> list[tuple[float, float, float]]:
    """Return the ends and the width of the bars at the end of a line: the interval of the mean, and the band."""
    if runs.size < 2 or view.band is False:
        return []
    widths: dict[Band, float] = {view.band: 0.8, "mean": 2.5}
    edges = [(replace(view, band=band).spread(runs[:, None]), width) for band, width in widths.items()]
    return [(float(found[0][0]), float(found[1][0]), width) for found, width in edges if found is not None]


def _label_places(axes: "Axes", heights: Sequence[float], size: float) -> list[float]:
    """Return where to write a line of text at each of some descending heights, as shares of the axes."""
    figure: Any = axes.get_figure(root=True)
    figure.draw_without_rendering()
    scale = axes.yaxis.get_transform()
    low, high = scale.transform(np.array(axes.get_ylim()))
    gap = 1.35 * size / 72 / (axes.get_window_extent().height / figure.dpi)
    return spread_apart(((scale.transform(np.array(heights)) - low) / (high - low)).tolist(), gap)


def spread_apart(places: Sequence[float], gap: float) -> list[float]:
    """Move descending places from 0 to 1 apart until neighbors are at least ``gap`` away from each other.

    >>> spread_apart([0.5, 0.5, 0.25], 0.25), spread_apart([1.0, 1.0], 0.25)
    ([0.75, 0.5, 0.25], [0.75, 0.5])
    """
    moved = list(places)
    for k in range(len(moved) - 2, -1, -1):
        moved[k] = max(moved[k], moved[k + 1] + gap)
    return [min(place, 1.0 - (k + 1) * gap) for k, place in enumerate(moved)]


def _draw_values(axes: "Axes", view: View) -> None:
    """Behind the curves, draw the values of the arms over time on an axis of their own, and mark the breakpoints."""
    values = view.result.values
    assert values is not None
    time = values["time"].to_numpy()
    behind = axes.twinx()
    starts = {str(arm): float(values.sel(arm=arm)[0]) for arm in values["arm"].to_numpy()}
    for k, arm in enumerate(starts):
        behind.plot(time, values.sel(arm=arm), color="0.65", linewidth=0.8, linestyle=_DASHES[k % len(_DASHES)])
    falling = sorted(starts, key=lambda arm: -starts[arm])
    places = dict(zip(falling, _label_places(behind, [starts[arm] for arm in falling], _SMALL), strict=True))
    for arm in starts:  # at the left, where the curves of the policies are low
        behind.annotate(
            plain(arm), (0.0, places[arm]), xytext=(3, 2), xycoords="axes fraction", textcoords="offset points",
            fontsize=_SMALL, color="0.45",
        )  # fmt: skip
    for breakpoint_ in view.result.breakpoints:
        behind.axvline(breakpoint_, color="0.45", linewidth=1.1, linestyle=(0, (1, 2)))
    behind.set_ylabel(f"{plain(view.result.objective)} of the arms", color="0.45")
    behind.tick_params(axis="y", colors="0.45")
    behind.spines[["top", "left", "bottom"]].set_visible(False)
    axes.set_zorder(behind.get_zorder() + 1)
    axes.patch.set_visible(False)


def _gaps(view: View) -> Floats | None:
    """Return the gaps of the arms, or None if the regret is for an objective other than the mean."""
    means = view.result.data["mean"].to_numpy()
    return means.max() - means if view.result.objective == "mean" else None


def _first_meaningful(constant: float, time: Any, gaps: Floats | None) -> int:
    """Return the index from which c log(t) stays below the regret of pulling all arms evenly.

    Before that time, a policy that ignores the rewards has less regret than this "lower bound".
    """
    meaningful = time >= (2 if gaps is None else gaps.size)
    if gaps is not None:
        meaningful &= constant * np.log(time) <= gaps.mean() * time
    return int(np.flatnonzero(~meaningful)[-1]) + 1 if not meaningful.all() else 0


def pulls(axes: "Axes", view: View) -> Entries:
    """Draw the pulls of each arm at the horizon, mean and band, one row per arm, on a logarithmic axis."""
    data = view.result.pulls
    done = view.result.reward.notnull()
    names = [str(name) for name in data["arm"].values]
    means = view.result.data["mean"].to_numpy()
    handles = []
    for i, policy in enumerate(view.policies):
        runs = data.sel(policy=policy).to_numpy()[done.sel(policy=policy).to_numpy()].astype(float)
        if runs.shape[0] == 0:
            continue
        rows = np.arange(float(len(names))) + _dodge(i, len(view.policies))
        handles.append(_dots(axes, view, runs, rows, policy))
    axes.set_xscale("log")
    axes.set_xlabel(f"pulls of each arm, {view.result.horizon} in all")
    best = view.result.objective == "mean" and means == means.max()
    labels = [f"{name} (best)" if best is not False and best[k] else name for k, name in enumerate(names)]
    _rows(axes, view, labels)
    return Entries(handles, [handle.get_label() for handle in handles], view.band_label)


def reward(axes: "Axes", view: View) -> Entries:
    """Draw the reward at the horizon, mean and band, one row per policy; a dashed line shows that of the best arm."""
    handles: list[Any] = []
    for i, policy in enumerate(view.policies):
        paid = view.result.reward.sel(policy=policy).to_numpy()
        paid = paid[~np.isnan(paid)]
        if paid.size:
            _dots(axes, view, paid[:, None], np.array([float(i)]), policy)
    best, label = view.result.horizon * float(view.result.data["mean"].max()), "best arm at every pull"
    if view.result.values is not None:
        best, label = float(view.result.data.attrs["oracle_reward"]), "best arm at each time"
    handles.append(axes.axvline(best, color="0.3", linewidth=1.0, linestyle=(0, (6, 3)), label=label))
    axes.set_xlabel(view.with_unit(f"reward after {view.result.horizon} pulls: {view.band_label}"))
    _rows(axes, view, view.policies)
    return Entries(handles, [handle.get_label() for handle in handles], place="below")


def distribution(axes: "Axes", view: View) -> Entries:
    """Draw the regret at the horizon, one row per policy: quartiles, 5-95% whiskers and outliers."""
    for i, policy in enumerate(view.policies):
        final = view.result.final_regret(policy)
        final = final[~np.isnan(final)]
        if not final.size:
            continue
        color = view.style(policy)["color"]
        axes.boxplot(
            final,
            positions=[i],
            orientation="horizontal",
            widths=0.55,
            whis=(5, 95),
            showmeans=True,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": color, "alpha": 0.35, "edgecolor": color},
            medianprops={"color": "black", "linewidth": view.line},
            meanprops={"marker": "D", "markersize": 4, "markerfacecolor": "white", "markeredgecolor": "black"},
            whiskerprops={"color": color, "linewidth": view.line},
            capprops={"color": color, "linewidth": view.line},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": color, "alpha": 0.6, "rasterized": True},
        )
    if view.log_regret:
        axes.set_xscale("log")
    axes.set_xlabel(view.with_unit(f"{view.result.regret_label} after {view.result.horizon} pulls"))
    _rows(axes, view, view.policies)
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Line2D([], [], color="black", linewidth=view.line, label="median"),
        Line2D([], [], linestyle="", marker="D", markersize=4, color="black", markerfacecolor="white", label="mean"),
        Patch(facecolor="0.8", edgecolor="0.4", label="25-75%; whiskers 5-95%"),
    ]
    return Entries(handles, [str(handle.get_label()) for handle in handles], place="below")


class _Member(NamedTuple):
    """A policy in a sweep: its name and the value of the parameter."""

    value: float
    policy: str


def sweep(axes: "Axes", view: View) -> Entries:
    """Draw the regret at the horizon against the one parameter in which policies of a class differ.

    Other policies are horizontal lines."""
    found = _sweeps(view)
    if not found:
        expected = "another kind: 'sweep' is for policies of one class that differ in one number"
        raise ArgumentError("kind", expected, "sweep")
    handles: list[Any] = []
    parameters = []
    swept = {member.policy for members in found.values() for member in members}
    others = [name for name in view.policies if name not in swept]
    looks = slots([*(kind for kind, _ in found), *others])
    for i, ((kind, parameter), members) in enumerate(found.items()):
        look = style(looks[kind])
        values = np.array([member.value for member in members])
        finals = np.stack([view.result.final_regret(member.policy) for member in members], axis=1)
        finals = finals[~np.isnan(finals).any(axis=1)]
        label = kind if len(found) == 1 else f"{kind}, {parameter}"
        handles += axes.plot(
            values, finals.mean(axis=0), marker=MARKERS[i % len(MARKERS)], markersize=4, label=plain(label),
            linewidth=view.line, **look,
        )  # fmt: skip
        if (edges := view.spread(finals)) is not None:
            axes.fill_between(values, *edges, color=look["color"], alpha=0.15, linewidth=0)
        parameters.append((parameter, values))
    for policy in others:
        level = float(np.nanmean(view.result.final_regret(policy)))
        handles.append(axes.axhline(level, label=plain(policy), linewidth=view.line, **style(looks[policy])))
    every = np.concatenate([values for _, values in parameters])
    if every.min() > 0 and every.max() >= 10 * every.min():
        axes.set_xscale("log")
    axes.set_xlabel(plain(", ".join(dict.fromkeys(name for name, _ in parameters))))
    axes.set_ylabel(view.with_unit(f"{view.result.regret_label} after {view.result.horizon} pulls"))
    if view.log_regret:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    return Entries(handles, [handle.get_label() for handle in handles], view.band_label)


def _sweeps(view: View) -> dict[tuple[str, str], list[_Member]]:
    """Return the policies that differ in one number, by class and parameter, in the order of their values."""
    texts = json.loads(view.result.data.attrs["policies"])
    classes: dict[str, dict[str, dict[str, Any]]] = {}
    for policy in view.policies:
        with contextlib.suppress(ValueError):  # the text of a user's own policy may be anything
            call = parse(texts.get(policy, ""))
            classes.setdefault(call.name, {})[policy] = call.named
    found = {}
    for kind, members in classes.items():
        keys = {key for given in members.values() for key in given}
        different = [key for key in keys if len({repr(given.get(key)) for given in members.values()}) > 1]
        if len(different) != 1:
            continue
        values = {policy: given.get(different[0]) for policy, given in members.items()}
        if all(isinstance(x, int | float) and not isinstance(x, bool) for x in values.values()):
            ordered = sorted(_Member(float(str(x)), policy) for policy, x in values.items())
            found[kind, different[0]] = ordered
    return found


def _dots(axes: "Axes", view: View, runs: Floats, rows: Floats, policy: str) -> Any:
    """Draw a dot at the mean of each column of ``runs``, in its row, and a line along the band."""
    mean, color = runs.mean(axis=0), view.style(policy)["color"]
    if (edges := view.spread(runs)) is not None:
        axes.hlines(rows, *edges, color=color, linewidth=view.line, alpha=0.7)
    marker = MARKERS[view.slots[policy] % len(MARKERS)]
    (dots,) = axes.plot(mean, rows, linestyle="", marker=marker, markersize=4.5, color=color, label=plain(policy))
    return dots


def _dodge(i: int, n: int) -> float:
    """Return the position of the i-th of n marks within a row of height one."""
    return 0.6 * ((i + 0.5) / n - 0.5)


def _rows(axes: "Axes", view: View, names: Any) -> None:
    """Name the rows, from the top down."""
    wide = 16 if view.narrow else 28
    labels = [textwrap.fill(plain(name), wide, break_long_words=False) for name in names]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.45, -0.55)


KINDS: Final[dict[str, Callable[["Axes", View], Entries]]] = {
    "regret": regret,
    "pulls": pulls,
    "reward": reward,
    "distribution": distribution,
    "sweep": sweep,
}
