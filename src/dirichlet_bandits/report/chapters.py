"""One experiment as a chapter: its pictures, its tables, what became of its claims, and how to make it again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import xarray as xr

from dirichlet_bandits.arms import Mean
from dirichlet_bandits.experiments import Experiment, KinfStudy, Panel, Published, QDSStudy
from dirichlet_bandits.experiments.random_arms import RandomArms
from dirichlet_bandits.report import figures, judging
from dirichlet_bandits.report.judging import Verdict
from dirichlet_bandits.report.numbers import short
from dirichlet_bandits.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOWHERE = Published(place="", about="")
_STATISTICS = {"mean": "mean", "stderr": "s.e.", "std": "std", "q05": "5 %", "q95": "95 %"}
_PRINTED = {"mean": "paper: mean", "std": "std", "q05": "5 %", "q95": "95 %"}


class Picture(NamedTuple):
    """A figure, the name of its files, and what it shows in words."""

    name: str
    figure: "Figure"
    caption: str


class Table(NamedTuple):
    """A table with raw numbers for its CSV file, the name of that file, and what it shows in words.

    ``headers`` are the headings to show; two columns of one frame may share one.
    """

    name: str
    frame: pd.DataFrame
    headers: Sequence[str]
    caption: str


@dataclass(frozen=True)
class Chapter:
    """What the report says of one experiment.

    ``scale`` is its size in words, ``seconds`` the processor time by policy, earlier runs that were resumed included,
    ``wall`` the time on the clock of this run, ``command`` makes it again.
    """

    name: str
    title: str
    paper: Published
    scale: str
    seed: int | None
    pictures: Sequence[Picture]
    tables: Sequence[Table]
    verdicts: Sequence[Verdict]
    seconds: dict[str, float] = field(default_factory=dict)
    wall: float = 0.0
    command: str = ""

    def count(self, outcome: judging.Outcome) -> int:
        """How many claims had this outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)


def regret_chapter(
    name: str, experiment: Experiment, result: Result, quick: bool, runs_are: str = "replications"
) -> Chapter:
    """The chapter of a simulation of regret."""
    runs = int(result.summary()["replications"].min())
    note = f"quick run: {runs} {runs_are}" if quick else ""
    over = f"{runs} {runs_are} of {short(result.horizon)} pulls"
    regret = result.regret_label[:1].upper() + result.regret_label[1:]
    pictures = [
        Picture(
            f"{name}-laws",
            figures.laws(experiment.bandit, experiment.title, experiment.plot.unit),
            _words_on_laws(experiment, runs_are),
        )
    ]
    panels: Sequence[Panel | None] = experiment.figures or [None]
    for panel in panels:
        words = "" if panel is None else f" ({panel.title})"
        pictures.append(
            Picture(
                f"{name}-regret" + ("" if panel is None else f"-{panel.name}"),
                figures.regret(experiment, result, panel),
                f"{regret}{words}: mean and 5-95 % band over {over}.",
            )
        )
    unit = f" ({experiment.plot.unit})" if experiment.plot.unit else ""
    caption = f"{regret}{unit} after {short(result.horizon)} pulls, {runs} {runs_are}; s.e. is that of the mean."
    tables = [_regret_table(name, experiment, result, caption)]
    if runs_are == "replications" and not isinstance(experiment.bandit.objective, Mean):
        tables.append(_arms_table(name, experiment))
    return Chapter(
        name=name,
        title=experiment.title,
        paper=experiment.paper or _NOWHERE,
        scale=over,
        seed=experiment.seed,
        pictures=_marked(pictures, note),
        tables=tables,
        verdicts=[judging.judge_regret(claim, result) for claim in experiment.claims],
    )


def random_chapter(name: str, study: RandomArms, result: Result, quick: bool) -> Chapter:
    """The chapter of one run on each of many random problems; its picture of laws shows the first of them."""
    return regret_chapter(name, study.experiment(), result, quick, runs_are="random problems")


def kinf_chapter(name: str, study: KinfStudy, values: xr.Dataset, quick: bool) -> Chapter:
    """The chapter of the empirical Kinf."""
    note = f"quick run: {study.samples} replications" if quick else ""
    pictures = [
        Picture(
            f"{name}-{law.lower()}",
            figures.kinf_laws(study, values, law),
            f"{law}: density of the empirical Kinf over {study.samples} samples, and Kinf in the family.",
        )
        for law in study.laws
    ]
    pictures.append(
        Picture(
            f"{name}-slopes",
            figures.kinf_slopes(study, values),
            "Log of the mean empirical Kinf against log log n; dashed the fitted lines, dotted Kinf in the family.",
        )
    )
    rows = [
        {
            "law": law,
            "n": int(n),
            "mean": float(x.mean()),
            "std": float(x.std(ddof=1)),
            "q05": float(x.quantile(0.05)),
            "q95": float(x.quantile(0.95)),
            "family": float(values["family"].sel(law=law)),
        }
        for law in study.laws
        for n in study.shown
        for x in [values["kinf"].sel(law=law, size=n)]
    ]
    headers = ("law", "n", "mean", "std", "5 %", "95 %", "in the family")
    caption = f"Empirical Kinf over {study.samples} samples."
    return Chapter(
        name=name,
        title=study.title,
        paper=study.paper or _NOWHERE,
        scale=f"{study.samples} samples of up to {short(study.sizes[-1])} observations",
        seed=study.seed,
        pictures=_marked(pictures, note),
        tables=[Table(name, pd.DataFrame(rows), headers, caption)],
        verdicts=[judging.judge_kinf(claim, study, values) for claim in study.claims],
    )


def qds_chapter(name: str, study: QDSStudy, values: xr.Dataset, quick: bool) -> Chapter:
    """The chapter of the quantile condition."""
    pictures = [
        Picture(
            f"{name}-{panel.name.lower().replace(', ', '-')}",
            figures.qds(panel, values),
            f"{panel.name}: both sides of the condition, with {panel.stays} = {panel.fixed:g}. "
            "Admissible values are shaded.",
        )
        for panel in study.panels
    ]
    rows = []
    for panel in study.panels:
        chosen = values.sel(panel=panel.name)
        holds = (chosen["truncated"] <= chosen["family"]).to_numpy()
        limit = float(chosen["limit"])
        rows.append(
            {
                "panel": panel.name,
                "fixed": f"{panel.stays} = {panel.fixed:g}",
                "range": f"{short(panel.start)} to {short(panel.stop)}",
                "admissible": _admissible(panel.vary, holds.tolist(), limit),
                "limit": limit,
                "family": float(chosen["family"]),
            }
        )
    headers = ("panel", "fixed", "range", "admissible", "limit", "Kinf in the family")
    return Chapter(
        name=name,
        title=study.title,
        paper=study.paper or _NOWHERE,
        scale="exact numbers, no chance",
        seed=None,
        pictures=_marked(pictures, "quick run: this figure is the same at full scale" if quick else ""),
        tables=[Table(name, pd.DataFrame(rows), headers, "Admissible values within the range drawn.")],
        verdicts=[judging.judge_qds(claim, values) for claim in study.claims],
    )


def _admissible(parameter: str, holds: list[bool], limit: float) -> str:
    """The admissible values of a parameter in words."""
    if all(holds) or not any(holds):
        return "all" if all(holds) else "none"
    return f"{parameter} {'≤' if holds[0] else '≥'} {short(limit)}"


def _words_on_laws(experiment: Experiment, runs_are: str) -> str:
    """What the picture of the laws shows."""
    goal = experiment.bandit.objective
    which = "" if runs_are == "replications" else " of the first problem"
    line = goal.name if isinstance(goal, Mean) else f"{goal.name}, the average over the darker part"
    return f"The laws of the rewards{which}; an upright line marks the {line}, the best arm has another colour."


def _arms_table(name: str, experiment: Experiment) -> Table:
    """What each arm is worth, and its mean, beside what the paper printed."""
    bandit = experiment.bandit
    unit = f" ({experiment.plot.unit})" if experiment.plot.unit else ""
    frame = pd.DataFrame({"arm": bandit.names, "mean": bandit.means, "value": bandit.values})
    headers = ["arm", "mean", bandit.objective.name]
    printed = experiment.paper.values if experiment.paper else {}
    if printed:
        frame["paper_value"] = [float(printed.get(arm, float("nan"))) for arm in bandit.names]
        headers.append(f"paper: {bandit.objective.name}")
    return Table(f"{name}-arms", frame, headers, f"What the arms are worth{unit}: {bandit.objective.name}.")


def _regret_table(name: str, experiment: Experiment, result: Result, caption: str) -> Table:
    """Regret at the horizon by policy, beside the numbers that the paper printed."""
    summary = result.summary()
    frame = summary[list(_STATISTICS)].reset_index()
    headers = ["policy", *_STATISTICS.values()]
    printed = experiment.paper.printed if experiment.paper else {}
    if printed:
        for key, heading in _PRINTED.items():
            values = [getattr(printed.get(policy), key, None) for policy in frame["policy"]]
            if any(value is not None for value in values):
                frame[f"paper_{key}"] = [float("nan") if value is None else value for value in values]
                headers.append(heading)
    return Table(name, frame, headers, caption)


def _marked(pictures: Sequence[Picture], note: str) -> list[Picture]:
    """The pictures, each with the note at its edge."""
    return [picture._replace(figure=figures.mark(picture.figure, note)) for picture in pictures]
