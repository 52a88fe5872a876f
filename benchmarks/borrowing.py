"""``python -m benchmarks.borrowing``: does it pay that sites borrow rewards from each other? Maize on three soils.

Three sites choose a planting date for each season, by one study with a segment per site. A site sees the rewards of
the other sites with the weight ``borrow``. The yields come from the crop model: the shipped ones for sand, and those in
``maize_by_site/`` for a loam and a clay, which are made again (extra ``dssat``) if their files are deleted. ``--write``
stores the losses in ``maize_by_site/losses.json`` and replaces the table in ``docs/live.md``; a test compares the two,
and plays one replication again.
"""

import json
import sys
from pathlib import Path

import numpy as np

import dirichlet_bandits as db
from dirichlet_bandits.crops import Case, Soil, SoilLayer

SEASONS = 40
REPLICATIONS = 60
WEIGHTS = (0.0, 0.1, 0.3, 1.0)
DRAWN = 400  # seasons per date and soil
DATES = (57, 72, 87, 102)
SOILS = {
    name: Soil(name=called, layers=tuple(SoilLayer(*layer) for layer in layers))
    for name, called, *layers in (
        (
            "loam",
            "OURS_LOAM1",
            (10, 0.110, 0.250, 0.430, 1.00, 2.6, 1.40, 1.20, 18, 40, 0.10, 6.5),
            (30, 0.110, 0.250, 0.430, 0.80, 2.6, 1.40, 0.90, 18, 40, 0.08, 6.5),
            (90, 0.120, 0.250, 0.420, 0.50, 2.6, 1.45, 0.40, 20, 40, 0.04, 6.5),
        ),
        (
            "clay",
            "OURS_CLAY1",
            (10, 0.230, 0.360, 0.470, 1.00, 0.2, 1.30, 1.00, 50, 30, 0.08, 6.5),
            (30, 0.230, 0.360, 0.470, 0.70, 0.2, 1.30, 0.70, 50, 30, 0.06, 6.5),
            (60, 0.240, 0.360, 0.460, 0.40, 0.2, 1.35, 0.40, 55, 25, 0.04, 6.5),
        ),
    )
}
PAGE = Path(__file__).parents[1] / "docs/live.md"
FOLDER = Path(__file__).parent / "maize_by_site"
LOSSES = FOLDER / "losses.json"
MARKS = "<!-- borrowing -->\n", "<!-- end of borrowing -->"
Yields = dict[str, dict[str, np.ndarray]]


def yields_by_site() -> Yields:
    """The yields of each planting date on each soil, in tonnes per hectare."""
    found = {"sand": {date: x / 1000.0 for date, x in db.crops.yields("spring").items()}}
    for name, soil in SOILS.items():
        path = FOLDER / f"{name}.npz"
        case = Case(soil=soil)
        made = db.crops.load(path) if path.exists() else db.crops.sample(DRAWN, dates=DATES, case=case, out=path)
        found[name] = {date: x / 1000.0 for date, x in zip(made.labels, made.yields.astype(float), strict=True)}
    return found


def lost(sites: Yields, borrow: float, replication: int) -> dict[str, float]:
    """Tonnes per hectare that each site loses to its best date; equal replications give equal seasons."""
    dates = list(sites["sand"])
    study = db.create_study("maize", arms=dates, segments=list(sites), borrow=borrow, seed=replication)
    rng = np.random.default_rng([replication, 1])
    seasons = {site: {date: rng.choice(sites[site][date], SEASONS) for date in dates} for site in sites}
    total = dict.fromkeys(sites, 0.0)
    for season in range(SEASONS):
        for site in sites:
            trial = study.ask(segment=site)
            study.tell(trial, float(seasons[site][trial.arm][season]))
            means = {date: x.mean() for date, x in sites[site].items()}
            total[site] += max(means.values()) - means[trial.arm]
    return total


def table(sites: Yields, losses: dict[str, list[dict[str, float]]]) -> str:
    """The means of all dates, and the losses by weight, as tables in Markdown."""
    dates = list(sites["sand"])
    lines = [f"| mean yield | {' | '.join(dates)} |", "|---" * (len(dates) + 1) + "|"]
    for site, rewards in sites.items():
        lines.append(f"| {site} | " + " | ".join(f"{rewards[date].mean():.2f}" for date in dates) + " |")
    lines += ["", f"| `borrow` | {' | '.join(sites)} | all sites |", "|---" * (len(sites) + 2) + "|"]
    for borrow, games in losses.items():
        columns = [np.array([game[site] for game in games]) for site in sites]
        columns.append(np.sum(columns, axis=0))
        cells = [f"{x.mean():.1f} ± {x.std(ddof=1) / np.sqrt(x.size):.1f}" for x in columns]
        lines.append(f"| {borrow} | {' | '.join(cells)} |")
    lines += ["", f"Means of {REPLICATIONS} replications of {SEASONS} seasons, with standard errors."]
    return "\n".join(lines)


def with_table(page: str, text: str) -> str:
    """The page with this table between its marks."""
    before, _, rest = page.partition(MARKS[0])
    return f"{before}{MARKS[0]}{text}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}"


def main(write: bool) -> None:
    """Play all replications with each weight, and print the tables."""
    sites = yields_by_site()
    losses = {}
    for borrow in WEIGHTS:
        games = [lost(sites, borrow, replication) for replication in range(REPLICATIONS)]
        losses[f"{borrow:g}"] = [{site: round(loss, 6) for site, loss in game.items()} for game in games]
        print(f"borrow {borrow:g}: {np.mean([sum(game.values()) for game in games]):.1f}", flush=True)
    text = table(sites, losses)
    print(text)
    if write:
        LOSSES.write_text(json.dumps(losses) + "\n", encoding="utf-8")
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main("--write" in sys.argv)
