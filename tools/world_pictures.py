"""Measure what changes, delays and batches cost, draw the figures of docs/worlds.md, and write its tables.

    python -m tools.world_pictures          # all: about twenty minutes of processor time
    python -m tools.world_pictures batch    # one of them
    python -m tools.world_pictures draw     # only draw, from the stored numbers

The same seed gives the same figures and numbers, which are stored in docs/figures/worlds.json.
"""

import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator
from tools.policy_pictures import tidy

import dirichlet_bandits as db
from dirichlet_bandits.results.plot import slots, style

DOCS = Path(__file__).parents[1] / "docs"
FOLDER, PAGE, NUMBERS = DOCS / "figures", DOCS / "worlds.md", DOCS / "figures/worlds.json"
SEED, HORIZON, RUNS = 2021, 3_000, 200
SIZES = (1, 3, 10, 30, 100, 300, 1000)
DELAYS = (0, *SIZES)
WINDOWS = (50, 100, 200, 400, 800, 1600)
COINS_HORIZON, WINDOW_RUNS = 5_000, 40
NO_WINDOW = 4_000  # where the figure of windows has the policies without one
STAYS, CHANGES = "nothing changes", "a change every 1,000 pulls"
QUANTILES = (0.05, 0.5, 0.95)
DOTS_PER_INCH = 150

Numbers = dict[str, Any]


def policies(upper: float) -> dict[str, db.policies.Policy]:
    """The policies that the page compares; IMED and Thompson Sampling take yields for Poisson counts."""
    return {
        "RDS": db.RDS(),
        "NPTS": db.NPTS(upper),
        "TS": db.ThompsonSampling("poisson"),
        "IMED": db.IMED("poisson"),
        "UCB1": db.UCB1(upper / 2),
    }


def settings(horizon: int, runs: int) -> Numbers:
    """The scale of a simulation."""
    return {"horizon": horizon, "replications": runs, "seed": SEED, "record": 1, "progress": False}


def on_maize(name: str, sizes: tuple[int, ...]) -> Numbers:
    """Mean regret of each policy on the seven planting dates, in tonnes per hectare, and its standard error."""
    maize = db.crops.maize_planting()
    compared = policies(maize.support()[1])
    found: Numbers = {policy: {} for policy in compared}
    for size in sizes:
        feedback: Any = {name: size}
        result = db.simulate(maize, compared, **settings(HORIZON, RUNS), **feedback)
        for policy, row in found.items():
            x = np.asarray(result.final_regret(policy)) / 1000.0
            row[str(size)] = [round(float(x.mean()), 2), round(float(x.std(ddof=1) / np.sqrt(x.size)), 2)]
    return found


def coins(*means: float) -> list[db.Bernoulli]:
    """Arms that give 0 or 1."""
    return [db.Bernoulli(mean) for mean in means]


def three_coins() -> dict[str, db.Environment]:
    """Three coins that stay the same, and three of which one changes every 1,000 pulls."""
    return {
        STAYS: db.Bandit(coins(0.3, 0.5, 0.9)),
        CHANGES: db.Piecewise(
            {
                1: coins(0.3, 0.5, 0.9),
                1001: coins(0.3, 0.2, 0.9),
                2001: coins(0.3, 0.2, 0.1),
                3001: coins(0.7, 0.2, 0.1),
                4001: coins(0.7, 0.5, 0.1),
            }
        ),
    }


def windowed(window: int) -> dict[str, db.policies.Policy]:
    """Policies that see the last decisions only."""
    return {
        "kl-UCB": db.SlidingWindow(db.KLUCB("bernoulli"), window),
        "TS": db.SlidingWindow(db.ThompsonSampling("bernoulli"), window),
        "UCB1": db.SlidingWindow(db.UCB1(0.5), window),
        "LB-SDA": db.policies.SWLBSDA(window),
    }


def unlimited() -> dict[str, db.policies.Policy]:
    """The same policies, which see all decisions."""
    families: dict[str, db.policies.Policy] = {"kl-UCB": db.KLUCB("bernoulli"), "TS": db.ThompsonSampling("bernoulli")}
    return {**families, "UCB1": db.UCB1(0.5), "LB-SDA": db.LBSDA()}


def detectors() -> dict[str, db.policies.Policy]:
    """kl-UCB that forgets, kl-UCB restarted by each detector at one rate of exploration, and policies of papers."""
    inner = db.KLUCB("bernoulli")
    rate, threshold = 0.05, math.log(COINS_HORIZON / 4)
    cusum = db.policies.CUSUM(50, 0.1, threshold)
    shift = db.policies.MeanShift(100, math.sqrt(50 * math.log(2 * 3 * COINS_HORIZON**2)))  # of M-UCB, for this window
    return {
        "kl-UCB, no detector": inner,
        "window of 400": db.SlidingWindow(inner, 400),
        "discount of 1/400": db.policies.Discounted(inner, 1.0 - 1.0 / 400),
        "GLR": db.Restarting(inner, db.policies.GLR(), exploration=rate),
        "GLR, arm by arm": db.Restarting(inner, db.policies.GLR(), exploration=rate, scope="local"),
        "CUSUM": db.Restarting(inner, cusum, exploration=rate),
        "CUSUM, arm by arm": db.Restarting(inner, cusum, exploration=rate, scope="local"),
        "MeanShift of 100": db.Restarting(inner, shift, exploration=rate),
        "exploration alone": db.Restarting(inner, db.policies.CUSUM(50, 0.1, 1e9), exploration=rate),
        "SWLBSDA of 400": db.policies.SWLBSDA(400),
        "GLRKLUCB": db.policies.GLRKLUCB(),
        "CUSUMUCB": db.policies.CUSUMUCB(COINS_HORIZON, changes=4),
        "MUCB": db.policies.MUCB(200, COINS_HORIZON, segments=5),
        "EXP3S": db.policies.EXP3S(COINS_HORIZON, segments=5),
    }


def quantiles(compared: Mapping[str, db.policies.Policy], runs: int = RUNS) -> Numbers:
    """Quantiles of the regret on three coins, when nothing changes and when an arm changes every 1,000 pulls."""
    found: Numbers = {policy: {} for policy in compared}
    for title, world in three_coins().items():
        result = db.simulate(world, dict(compared), **settings(COINS_HORIZON, runs))
        for policy, row in found.items():
            row[title] = [round(float(x), 1) for x in np.quantile(result.final_regret(policy), QUANTILES)]
    return found


def in_order(compared: Mapping[str, db.policies.Policy]) -> Numbers:
    """Quantiles of the regret of all policies in this order; those that are stored are not played again."""
    known = stored().get("detectors", {})
    found = known | quantiles({policy: rule for policy, rule in compared.items() if policy not in known})
    return {policy: found[policy] for policy in compared}


def by_window() -> Numbers:
    """Quantiles of the regret for windows of many lengths, and without a window."""
    found: Numbers = {policy: {} for policy in unlimited()}
    for window in (*WINDOWS, None):
        compared = unlimited() if window is None else windowed(window)
        for policy, row in quantiles(compared, WINDOW_RUNS).items():
            found[policy]["none" if window is None else str(window)] = row
    return found


def new_figure(height: float) -> Figure:
    """A figure as wide as the text of a page."""
    return Figure(figsize=(7.0, height), layout="constrained")


def save(figure: Figure, name: str) -> None:
    """Write a figure of the page."""
    figure.savefig(FOLDER / f"worlds_{name}.png", dpi=DOTS_PER_INCH)


def plain_log(axes: Any, axis: str, ticks: tuple[int, ...]) -> None:
    """Label a logarithmic axis with plain numbers at these ticks."""
    side = getattr(axes, f"{axis}axis")
    side.set_ticks(list(ticks))
    side.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    side.set_minor_formatter(NullFormatter())
    side.set_minor_locator(NullLocator())


def draw_sizes(name: str, label: str, sizes: tuple[int, ...], found: Numbers) -> None:
    """Draw the mean regret against the delay or the batch size, with two standard errors."""
    figure, chosen = new_figure(4.0), slots(list(found))
    axes = figure.add_subplot()
    for policy, row in found.items():
        means, errors = np.array([row[str(size)] for size in sizes]).T
        axes.errorbar(sizes, means, 2.0 * errors, label=policy, capsize=2.5, linewidth=1.6, **style(chosen[policy]))
    if sizes[0] == 0:
        axes.set_xscale("symlog", linthresh=1.0, linscale=0.4)
    else:
        axes.set_xscale("log")
    axes.set_yscale("log")
    plain_log(axes, "x", sizes)
    plain_log(axes, "y", (200, 300, 500, 1000))
    tidy(axes, label, f"regret after {HORIZON:,} pulls (t/ha)")
    axes.legend(frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    save(figure, name)


def draw_quantiles(name: str, found: Numbers) -> None:
    """Draw the median regret of each policy, and the range from 5% to 95% of the runs."""
    figure = new_figure(1.1 + 0.29 * len(found))
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, title in zip(panels, (STAYS, CHANGES), strict=True):
        for i, row in enumerate(found.values()):
            low, median, high = row[title]
            axes.plot([low, high], [i, i], color="0.45", linewidth=2.0, solid_capstyle="butt")
            axes.plot(median, i, "o", color="C0", markersize=5.5)
        axes.set_xscale("log")
        plain_log(axes, "x", (10, 30, 100, 300, 1000))
        tidy(axes, f"regret after {COINS_HORIZON:,} pulls", "")
        axes.set_title(title, fontsize=11)
    panels[0].set_yticks(range(len(found)), list(found))
    panels[0].invert_yaxis()
    save(figure, name)


def draw_windows(found: Numbers) -> None:
    """Draw the median regret against the window, with the range from 5% to 95% of the runs, and without a window."""
    figure, chosen = new_figure(3.9), {"kl-UCB": 0, "UCB1": 1, "LB-SDA": 2, "TS": 3}
    panels = figure.subplots(1, 2, sharey=True)
    for axes, title in zip(panels, (STAYS, CHANGES), strict=True):
        for policy, row in found.items():
            low, median, high = np.array([row[str(window)][title] for window in WINDOWS]).T
            look = style(chosen[policy])
            axes.plot(WINDOWS, median, label=policy, linewidth=1.8, **look)
            axes.fill_between(WINDOWS, low, high, color=look["color"], alpha=0.12, linewidth=0.0)
            axes.plot(NO_WINDOW, row["none"][title][1], "o", color=look["color"], markersize=5.0)
        axes.set(xscale="log", yscale="log")
        plain_log(axes, "x", (*WINDOWS, NO_WINDOW))
        axes.set_xticklabels([*(f"{window:,}" for window in WINDOWS), "none"])
        plain_log(axes, "y", (10, 30, 100, 300, 1000))
        tidy(axes, "decisions in the window", f"regret after {COINS_HORIZON:,} pulls" if axes is panels[0] else "")
        axes.set_title(title, fontsize=11)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, ncols=4, loc="outside upper center")
    save(figure, "window")


def cells(rows: list[list[float]]) -> str:
    """Medians and ranges as cells of a table."""
    return " | ".join(f"{median:.0f} ({low:.0f} to {high:.0f})" for low, median, high in rows)


def detector_table(found: Numbers) -> list[str]:
    """Lines of the table of detectors."""
    lines = [f"| {policy} | {cells([row[STAYS], row[CHANGES]])} |" for policy, row in found.items()]
    return [f"| | {STAYS} | {CHANGES} |", "|---|---:|---:|", *lines]


def window_table(found: Numbers) -> list[str]:
    """Lines of the table of windows: what each costs kl-UCB and Thompson Sampling."""
    shown = ("kl-UCB", "TS")
    lines = [f"| window | {' | '.join(f'{policy}, {title}' for policy in shown for title in (STAYS, CHANGES))} |"]
    lines.append("|---|---:|---:|---:|---:|")
    for window in (*WINDOWS, "none"):
        row = cells([found[policy][str(window)][title] for policy in shown for title in (STAYS, CHANGES)])
        lines.append(f"| {window if window == 'none' else f'{window:,}'} | {row} |")
    return lines


def between_marks(page: str, name: str, tool: str, lines: list[str]) -> str:
    """Return the page with the lines of a table in place of what is between its two marks."""
    begin, end = f"<!-- table {name}: made by {tool} -->\n", f"<!-- end of table {name} -->"
    before, mark, rest = page.partition(begin)
    if not mark or end not in rest:
        raise ValueError(f"the page has no marks for the table {name}")
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.partition(end)[2]


def with_tables(page: str) -> str:
    """Return the page with its generated tables."""
    found = stored()
    for name, lines in (("detectors", detector_table(found["detectors"])), ("windows", window_table(found["window"]))):
        page = between_marks(page, name, "tools/world_pictures.py", lines)
    return page


def stored() -> Numbers:
    """The numbers that have been measured."""
    known: Numbers = json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}
    return known


MEASURES: dict[str, Callable[[], Numbers]] = {
    "delay": lambda: on_maize("delay", DELAYS),
    "batch": lambda: on_maize("batch", SIZES),
    "detectors": lambda: in_order(detectors()),
    "window": by_window,
}
FIGURES: dict[str, Callable[[Numbers], None]] = {
    "delay": lambda found: draw_sizes("delay", "delay (further pulls until a reward is known)", DELAYS, found),
    "batch": lambda found: draw_sizes("batch", "pulls per batch", SIZES, found),
    "detectors": lambda found: draw_quantiles("detectors", found),
    "window": draw_windows,
}

if __name__ == "__main__":
    for chosen in [] if "draw" in sys.argv else sys.argv[1:] or MEASURES:
        measured = {**stored(), chosen: MEASURES[chosen]()}
        NUMBERS.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
        print(chosen, *(f"  {policy}: {row}" for policy, row in measured[chosen].items()), sep="\n", flush=True)
    for drawn, numbers in stored().items():
        FIGURES[drawn](numbers)
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
