"""Draw the pictures of docs/worlds.md and print the numbers that the page quotes.

    python -m tools.world_pictures          # all: some minutes, most of them compilation
    python -m tools.world_pictures batch    # one of them

Same seed, same pictures and numbers.
"""

import sys
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


PICTURES = {"delay": "pulls until a reward is known, plus one", "batch": "pulls per batch"}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        print(chosen)
        draw(chosen, PICTURES[chosen])
