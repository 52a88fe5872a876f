"""Draw the pictures of docs/worlds.md, write the table of detectors, and print the other numbers that the page quotes.

    python -m tools.world_pictures          # all: some minutes, most of them compilation
    python -m tools.world_pictures batch    # one of them

Same seed, same pictures and numbers.
"""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from tools.policy_pictures import tidy

import dirichlet_bandits as db
from dirichlet_bandits.results.plot import style

DOCS = Path(__file__).parents[1] / "docs"
FOLDER, PAGE, NUMBERS = DOCS / "figures", DOCS / "worlds.md", DOCS / "figures/worlds.json"
SEED, HORIZON, RUNS = 2021, 3_000, 200
SIZES = (1, 3, 10, 30, 100, 300, 1000)
COINS_HORIZON = 5_000
STAYS, CHANGES = "nothing changes", "a change every 1,000 pulls"


def policies(upper: float) -> dict[str, db.Policy]:
    """The policies that the page compares; IMED and Thompson Sampling take yields for Poisson counts."""
    return {
        "RDS": db.RDS(),
        "NPTS": db.NPTS(upper),
        "TS": db.ThompsonSampling("poisson"),
        "IMED": db.IMED("poisson"),
        "UCB1": db.UCB1(upper / 2),
    }


def regrets(**feedback: Any) -> dict[str, tuple[float, float]]:
    """Mean regret of each policy on the seven planting dates, in tonnes per hectare, and its standard error."""
    maize = db.crops.maize_planting()
    compared = policies(maize.support()[1])
    sizes: Any = {"horizon": HORIZON, "replications": RUNS, "seed": SEED, "record": 1, "progress": False}
    result = db.simulate(maize, compared, **sizes, **feedback)
    found = {name: np.asarray(result.final_regret(name)) / 1000.0 for name in compared}
    return {name: (float(x.mean()), float(x.std(ddof=1) / np.sqrt(x.size))) for name, x in found.items()}


def draw(name: str, label: str) -> None:
    """Mean regret against the delay or the batch size, with two standard errors."""
    found = {size: regrets(**{name: size if name == "batch" else size - 1}) for size in SIZES}
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for i, policy in enumerate(next(iter(found.values()))):
        means, errors = np.array([found[size][policy] for size in SIZES]).T
        axes.errorbar(SIZES, means, 2.0 * errors, label=policy, capsize=2, linewidth=1.6, **style(i))
        print(
            f"  {policy:5s}", *(f"{size}: {m:.0f} ± {e:.0f}" for size, m, e in zip(SIZES, means, errors, strict=True))
        )
    axes.set(xscale="log", ylim=(0, None))
    tidy(axes, label, f"regret after {HORIZON:,} pulls (t/ha)")
    axes.legend(frameon=False)
    figure.savefig(FOLDER / f"worlds_{name}.png", dpi=100)


def coins(*means: float) -> list[db.Bernoulli]:
    """Arms that give 0 or 1."""
    return [db.Bernoulli(mean) for mean in means]


def forgetting(horizon: int) -> dict[str, db.Policy]:
    """kl-UCB, what makes it forget, and other policies for arms that change."""
    inner = db.KLUCB("bernoulli")
    return {
        "kl-UCB": inner,
        "window of 1,600": db.SlidingWindow(inner, 1600),
        "window of 400": db.SlidingWindow(inner, 400),
        "discount of 1/400": db.Discounted(inner, 1.0 - 1.0 / 400),
        "SW-LB-SDA, 400": db.SWLBSDA(400),
        "GLR-klUCB": db.GLRKLUCB(),
        "CUSUM-UCB": db.CUSUMUCB(horizon, changes=4),
        "M-UCB": db.MUCB(200, horizon, segments=5),
        "EXP3.S": db.EXP3S(horizon, segments=5),
    }


def three_coins() -> dict[str, Any]:
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


def detectors() -> dict[str, db.Policy]:
    """kl-UCB, restarted by each detector at the same rate of exploration, and policies as their papers have them."""
    inner = db.KLUCB("bernoulli")
    rate, threshold = 0.05, math.log(COINS_HORIZON / 4)
    shift = db.MeanShift(100, math.sqrt(50 * math.log(2 * 3 * COINS_HORIZON**2)))  # of M-UCB, for this window
    return {
        "kl-UCB, no detector": inner,
        "GLR": db.Restarting(inner, db.GLR(), exploration=rate),
        "GLR, arm by arm": db.Restarting(inner, db.GLR(), exploration=rate, scope="local"),
        "CUSUM": db.Restarting(inner, db.CUSUM(50, 0.1, threshold), exploration=rate),
        "CUSUM, arm by arm": db.Restarting(inner, db.CUSUM(50, 0.1, threshold), exploration=rate, scope="local"),
        "MeanShift of 100": db.Restarting(inner, shift, exploration=rate),
        "exploration alone": db.Restarting(inner, db.CUSUM(50, 0.1, 1e9), exploration=rate),
        "GLRKLUCB": db.GLRKLUCB(),
        "CUSUMUCB": db.CUSUMUCB(COINS_HORIZON, changes=4),
        "MUCB": db.MUCB(200, COINS_HORIZON, segments=5),
        "EXP3S": db.EXP3S(COINS_HORIZON, segments=5),
    }


def draw_quantiles(name: str, compared: dict[str, db.Policy], height: float) -> dict[str, dict[str, list[float]]]:
    """Regret when nothing changes and when an arm changes every 1,000 pulls: median, and from 5% to 95% of the runs."""
    figure = Figure(figsize=(7.0, height), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    sizes: Any = {"horizon": COINS_HORIZON, "replications": RUNS, "seed": SEED, "record": 1, "progress": False}
    found: dict[str, dict[str, list[float]]] = {}
    for axes, (title, world) in zip(panels, three_coins().items(), strict=True):
        result = db.simulate(world, compared, **sizes)
        for i, policy in enumerate(compared):
            low, median, high = np.quantile(result.final_regret(policy), [0.05, 0.5, 0.95])
            axes.plot([low, high], [i, i], color="0.4", linewidth=1.5)
            axes.plot(median, i, "o", color="C0")
            print(f"  {title}: {policy:18s} {low:6.0f} {median:6.0f} {high:6.0f}")
            found.setdefault(policy, {})[title] = [round(float(x), 1) for x in (low, median, high)]
        tidy(axes, f"regret after {COINS_HORIZON:,} pulls", "")
        axes.set(xlim=(0, None), title=title)
    panels[0].set_yticks(range(len(compared)), list(compared))
    panels[0].invert_yaxis()
    figure.savefig(FOLDER / f"worlds_{name}.png", dpi=100)
    return found


def draw_forgetting() -> None:
    """Draw what policies that forget cost and gain."""
    draw_quantiles("forgetting", forgetting(COINS_HORIZON), height=3.8)


def draw_detectors() -> None:
    """Draw what each detector costs and gains, and write the numbers into the page."""
    found = draw_quantiles("detectors", detectors(), height=4.04)
    known = json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}
    NUMBERS.write_text(json.dumps({**known, "detectors": found}, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(page: str) -> str:
    """The page with its generated tables: what is between the two marks of each table is written again."""
    for name, rows in json.loads(NUMBERS.read_text(encoding="utf-8")).items():
        lines = [f"| | {STAYS} | {CHANGES} |", "|---|---:|---:|"]
        for policy, found in rows.items():
            cells = [f"{x[1]:.0f} ({x[0]:.0f} to {x[2]:.0f})" for x in (found[STAYS], found[CHANGES])]
            lines.append(f"| {policy} | {' | '.join(cells)} |")
        begin, end = f"<!-- table {name}: made by tools/world_pictures.py -->\n", f"<!-- end of table {name} -->"
        before, _, rest = page.partition(begin)
        page = before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.partition(end)[2]
    return page


PICTURES: dict[str, Callable[[], None]] = {
    "delay": lambda: draw("delay", "pulls until a reward is known, plus one"),
    "batch": lambda: draw("batch", "pulls per batch"),
    "forgetting": draw_forgetting,
    "detectors": draw_detectors,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        print(chosen)
        PICTURES[chosen]()
