"""Draw the pictures of docs/worlds.md and print the numbers that the page quotes.

    python -m tools.world_pictures          # all: some minutes, most of them compilation
    python -m tools.world_pictures batch    # one of them

Same seed, same pictures and numbers.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from tools.policy_pictures import tidy

import dirichlet_bandits as db
from dirichlet_bandits.results.plot import style

FOLDER = Path(__file__).parents[1] / "docs/figures"
SEED, HORIZON, RUNS = 2021, 3_000, 200
SIZES = (1, 3, 10, 30, 100, 300, 1000)


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


def draw_forgetting() -> None:
    """Regret when nothing changes and when an arm changes every 1,000 pulls: median, and from 5% to 95% of the runs."""
    horizon = 5000
    worlds: dict[str, Any] = {
        "nothing changes": db.Bandit(coins(0.3, 0.5, 0.9)),
        "a change every 1,000 pulls": db.Piecewise(
            {
                1: coins(0.3, 0.5, 0.9),
                1001: coins(0.3, 0.2, 0.9),
                2001: coins(0.3, 0.2, 0.1),
                3001: coins(0.7, 0.2, 0.1),
                4001: coins(0.7, 0.5, 0.1),
            }
        ),
    }
    figure = Figure(figsize=(7.0, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    compared = forgetting(horizon)
    sizes: Any = {"horizon": horizon, "replications": RUNS, "seed": SEED, "record": 1, "progress": False}
    for axes, (title, world) in zip(panels, worlds.items(), strict=True):
        result = db.simulate(world, compared, **sizes)
        for i, name in enumerate(compared):
            low, median, high = np.quantile(result.final_regret(name), [0.05, 0.5, 0.95])
            axes.plot([low, high], [i, i], color="0.4", linewidth=1.5)
            axes.plot(median, i, "o", color="C0")
            print(f"  {title}: {name:18s} {low:6.0f} {median:6.0f} {high:6.0f}")
        tidy(axes, f"regret after {horizon:,} pulls", "")
        axes.set(xlim=(0, None), title=title)
    panels[0].set_yticks(range(len(compared)), list(compared))
    panels[0].invert_yaxis()
    figure.savefig(FOLDER / "worlds_forgetting.png", dpi=100)


PICTURES: dict[str, Callable[[], None]] = {
    "delay": lambda: draw("delay", "pulls until a reward is known, plus one"),
    "batch": lambda: draw("batch", "pulls per batch"),
    "forgetting": draw_forgetting,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        print(chosen)
        PICTURES[chosen]()
