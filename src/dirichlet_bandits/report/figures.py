"""The figures of the report, except those of regret: labels, units, one palette, and legends below the data."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dirichlet_bandits.display.numbers import measured
from dirichlet_bandits.environments import Bandit, CVaR, Empirical, Mean
from dirichlet_bandits.experiments import KinfStudy
from dirichlet_bandits.experiments.qds_study import QDSPanel
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.plot import PALETTE, plain, style
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 5.8  # inches: letters stay readable when a phone shows the whole figure
_DRAWN = 10_000  # rewards in a histogram of a distribution that is not itself a sample, as in the paper
_MOST_ARMS = 8  # with more of them, the best ones are drawn
LARGE = 10_000  # from here on an axis reads better with separated thousands than with powers of ten


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
    figure, axes = _single(3.2)
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


def kinf_laws(study: KinfStudy, values: xr.Dataset, law: str) -> "Figure":
    """Draw the distribution of the empirical Kinf for the sizes shown, their means, and Kinf in the family."""
    from scipy.stats import gaussian_kde

    figure, axes = _single(4.0)
    family = float(values["family"].sel(law=law))
    drawn = [values["kinf"].sel(law=law, size=n).to_numpy() for n in study.shown]
    high = max(float(np.quantile(x, 0.995)) for x in drawn)
    grid = np.linspace(min(float(x.min()) for x in drawn), max(high, 1.1 * family), 400)
    for i, (n, x) in enumerate(zip(study.shown, drawn, strict=True)):
        color = PALETTE[i]
        density = gaussian_kde(x)(grid)
        axes.fill_between(grid, density, color=color, alpha=0.15, linewidth=0)
        axes.plot(grid, density, **style(i), linewidth=1.2, label=f"n = {measured(n)}")
        axes.axvline(float(x.mean()), **style(i), linewidth=1.5)
    axes.axvline(family, color="0.3", linewidth=1.5, linestyle=(0, (6, 3)), label="Kinf in the family")
    axes.set_xlim(grid[0], grid[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Kinf")
    axes.set_ylabel("density over samples")
    axes.set_title(f"Empirical Kinf: {law}, target {study.targets[law]:g}", fontsize=11)
    legend(figure, *axes.get_legend_handles_labels(), "density; vertical: mean")
    return figure


def kinf_slopes(study: KinfStudy, values: xr.Dataset) -> "Figure":
    """Draw the log of the mean Kinf against log log n, with the fitted line and the value in the family."""
    figure, axes = _single(4.4)
    x = np.log(np.log(np.array(study.sizes, float)))
    for i, law in enumerate(study.laws):
        y = np.log(values["kinf"].sel(law=law).mean("sample").to_numpy())
        slope, start = np.polyfit(x, y, 1)
        color = PALETTE[i]
        axes.plot(x, y, color=color, marker="o", markersize=4, linewidth=1.5, label=f"{law}: slope {slope:.2f}")
        axes.plot(x, start + slope * x, color=color, linestyle=(0, (5, 2)), linewidth=1)
        axes.axhline(float(np.log(values["family"].sel(law=law))), color=color, linestyle=(0, (1, 1)), linewidth=1.5)
    axes.set_xlabel("log log n")
    axes.set_ylabel("log Kinf")
    axes.set_title("Empirical Kinf against the size of the sample", fontsize=11)
    legend(figure, *axes.get_legend_handles_labels(), "points: mean; dashed: fit; dotted: in the family")
    return figure


def qds(panel: QDSPanel, values: xr.Dataset) -> "Figure":
    """Draw both sides of the condition, and shade the admissible values."""
    figure, axes = _single(3.8)
    chosen = values.sel(panel=panel.name)
    x, truncated, family = (chosen[key].to_numpy() for key in ("value", "truncated", "family"))
    top = 1.1 * max(float(truncated.max()), float(family))
    axes.fill_between(
        x, 0, top, where=list(truncated <= family), color=PALETTE[2], alpha=0.15, linewidth=0, label="admissible"
    )
    axes.plot(x, truncated, **style(0), linewidth=1.8, label="tail summarized")
    axes.axhline(float(family), **style(1), linewidth=1.5, label="in the family")
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(0, top)
    axes.set_xlabel(panel.vary)
    axes.set_ylabel("Kinf")
    kind = panel.name.split(",")[0]
    axes.set_title(f"Quantile condition: {kind}, {panel.stays} = {panel.fixed:g}", fontsize=11)
    legend(figure, *axes.get_legend_handles_labels(), "")
    return figure


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


def _single(height: float) -> "tuple[Figure, Axes]":
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
