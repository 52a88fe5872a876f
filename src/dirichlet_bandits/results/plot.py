"""Pictures of regret, fit to print: labels, units, a colour-blind palette, a legend beside the data."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, told apart by all kinds of colour vision; dashes help in grey and where lines coincide.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
_DASHES = ("-", (0, (5, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_SETTLED = 10  # on a logarithmic axis the first pulls would take a third of the width and show nothing


def style(i: int) -> dict[str, Any]:
    """Colour and dashes of the i-th line."""
    return {"color": PALETTE[i % len(PALETTE)], "linestyle": _DASHES[i % len(_DASHES)]}


def plain(text: str) -> str:
    """A name as it stands: matplotlib would take what is between two dollars for a formula.

    >>> print(plain("$5 or $6"))
    \\$5 or \\$6
    """
    return text.replace("$", r"\$")


def regret_figure(
    regret: xr.DataArray,
    policies: Sequence[str],
    path: str | PathLike[str] | None,
    *,
    log_time: bool,
    log_regret: bool,
    lower_bound: float | None,
    title: str | None,
    label: str,
    unit: str,
) -> "Figure":
    """Mean with a 5-95 % band for each policy; the lower bound as a thin line."""
    from matplotlib.figure import Figure  # takes half a second: only those who plot wait for it

    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    time = regret["time"].to_numpy()
    last: dict[str, float] = {}
    for i, policy in enumerate(policies):
        runs = regret.sel(policy=policy).to_numpy()
        runs = runs[~np.isnan(runs).any(axis=1)]
        if runs.shape[0] == 0:
            continue
        low, high = np.quantile(runs, [0.05, 0.95], axis=0)
        mean = runs.mean(axis=0)
        last[plain(policy)] = mean[-1]
        axes.plot(time, mean, label=plain(policy), linewidth=1.8, zorder=3, **style(i))
        axes.fill_between(time, low, high, color=style(i)["color"], alpha=0.08, linewidth=0)
        for edge in (low, high):  # overlapping bands mix their colours: only their edges tell them apart
            axes.plot(time, edge, linewidth=0.7, alpha=0.6, **style(i))
    if lower_bound is not None:
        axes.plot(
            time,
            lower_bound * np.log(time),
            color="0.3",
            linewidth=1.0,
            linestyle=(0, (6, 3)),
            label="lower bound",
        )
    axes.set_xlabel("number of pulls")
    axes.set_ylabel(plain(label) + (f" ({plain(unit)})" if unit else ""))
    if log_time:
        axes.set_xscale("log")
    if log_regret:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    first = _SETTLED if log_time and time[-1] > _SETTLED**2 else time[0]
    axes.set_xlim(first, time[-1])
    axes.margins(y=0.02)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    if title:
        axes.set_title(plain(title), fontsize=11)
    handles, labels = axes.get_legend_handles_labels()
    # From top to bottom like the ends of the lines.
    order = sorted(range(len(labels)), key=lambda j: -last.get(labels[j], -np.inf))
    figure.legend(
        [handles[j] for j in order],
        [labels[j] for j in order],
        loc="outside right upper",
        frameon=False,
        title="mean, 5-95 % band",
        alignment="left",
        handlelength=3,
    )
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
