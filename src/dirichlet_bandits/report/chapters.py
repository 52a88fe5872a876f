"""One experiment as a chapter: its figures, its tables, the verdicts on its claims, and how to reproduce it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from dirichlet_bandits.display.numbers import measured
from dirichlet_bandits.environments import Bandit, Mean
from dirichlet_bandits.experiments import Experiment, KinfStudy, Panel, Published, QDSStudy
from dirichlet_bandits.experiments.random_arms import RandomArms
from dirichlet_bandits.report import figures, judging, regret_figures
from dirichlet_bandits.report.judging import Verdict
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.intervals import student

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOWHERE = Published(place="", about="")
_STATISTICS = {"mean": "mean", "stderr": "s.e.", "std": "std", "q05": "5%", "q95": "95%"}
_LOWEST, _TIED = "★", "≈"
_PRINTED = {"mean": "paper: mean", "std": "std", "q05": "5%", "q95": "95%"}


class Picture(NamedTuple):
    """A figure, the name of its files, and its caption."""

    name: str
    figure: "Figure"
    caption: str


class Table(NamedTuple):
    """A table with raw numbers for its CSV file, the name of that file, and its caption.

    ``headers`` are the headings to show; two columns may share one. ``marks`` has one mark per row, shown after its
    name: a star for the best, empty for most.
    """

    name: str
    frame: pd.DataFrame
    headers: Sequence[str]
    caption: str
    marks: Sequence[str] = ()


@dataclass(frozen=True)
class Chapter:
    """What the report says about one experiment.

    ``scale`` is its size in words, ``seconds`` the processor time by policy, including earlier runs that were resumed,
    ``wall`` the wall-clock time of this run, and ``command`` the command that reproduces it.
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
        """Return the number of claims with this outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)


def regret_chapter(
    name: str, experiment: Experiment, result: Result, quick: bool, runs_are: str = "replications"
) -> Chapter:
    """Write the chapter of a simulation of regret."""
    runs = int(result.summary()["replications"].min())
    note = f"quick run: {runs} {runs_are}" if quick else ""
    over = f"{runs} {runs_are} of {measured(result.horizon)} pulls"
    unit = experiment.plot.in_unit
    caption = (
        f"{_label(result)}{unit} after {measured(result.horizon)} pulls, {runs} {runs_are}; s.e. is the standard error "
        f"of the mean. {_LOWEST} marks the lowest mean; {_TIED} cannot be distinguished from it."
    )
    paper = experiment.paper or _NOWHERE
    pictures = (
        [_final_picture(name, experiment, result, over)]
        if paper.of
        else _pictures(name, experiment, result, over, runs_are)
    )
    tables = [_regret_table(name, experiment, result, caption, at_scale=not quick and not paper.of)]
    bandit = experiment.bandit
    if runs_are == "replications" and bandit.still and not isinstance(bandit.objective, Mean):
        tables.append(_arms_table(name, experiment, Bandit.checked(bandit)))
    return Chapter(
        name=name,
        title=experiment.title,
        paper=paper,
        scale=over,
        seed=experiment.seed,
        pictures=_marked(pictures, note),
        tables=tables,
        verdicts=[judging.judge_regret(claim, result) for claim in experiment.claims],
    )


def headline(chapters: Sequence[Chapter], own: Sequence[str]) -> Picture | None:
    """Draw one figure of all experiments on regret that share a policy with another one, or of the only one."""
    found: dict[str, dict[str, float]] = {}
    for chapter in chapters:
        frame = chapter.tables[0].frame if chapter.tables and not chapter.paper.of else pd.DataFrame()
        if "policy" in frame and (frame["mean"] > 0).all():
            found[chapter.title] = dict(zip(frame["policy"], frame["mean"] / frame["mean"].min(), strict=True))
    linked = {
        title: means
        for title, means in found.items()
        if len(found) == 1 or any(set(means) & set(found[other]) for other in found if other != title)
    }
    if not linked:
        return None
    caption = (
        "Mean regret of each policy as a multiple of the lowest in the same experiment; policies that stay near 1 "
        "in all experiments are at the top." + (f" Bold: the paper's own, {', '.join(own)}." if own else "")
    )
    return Picture("headline", regret_figures.headline(linked, own), caption)


def random_chapter(name: str, study: RandomArms, result: Result, quick: bool) -> Chapter:
    """Write the chapter of one run on each of many random problems; its figure of distributions shows the first."""
    return regret_chapter(name, study.experiment(), result, quick, runs_are="random problems")


def kinf_chapter(name: str, study: KinfStudy, values: xr.Dataset, quick: bool) -> Chapter:
    """Write the chapter of the empirical Kinf."""
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
            "Log of the mean empirical Kinf against log log n. Dashed lines are fits; dotted ones, Kinf in the family.",
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
    headers = ("distribution", "n", "mean", "std", "5%", "95%", "in the family")
    caption = f"Empirical Kinf over {study.samples} samples."
    return Chapter(
        name=name,
        title=study.title,
        paper=study.paper or _NOWHERE,
        scale=f"{study.samples} samples of up to {measured(study.sizes[-1])} observations",
        seed=study.seed,
        pictures=_marked(pictures, note),
        tables=[Table(name, pd.DataFrame(rows), headers, caption)],
        verdicts=[judging.judge_kinf(claim, study, values) for claim in study.claims],
    )


def qds_chapter(name: str, study: QDSStudy, values: xr.Dataset, quick: bool) -> Chapter:
    """Write the chapter of the quantile condition."""
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
                "range": f"{measured(panel.start)} to {measured(panel.stop)}",
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
        scale="exact numbers, no randomness",
        seed=None,
        pictures=_marked(pictures, "quick run: this figure is the same at full scale" if quick else ""),
        tables=[Table(name, pd.DataFrame(rows), headers, "Admissible values within the range drawn.")],
        verdicts=[judging.judge_qds(claim, values) for claim in study.claims],
    )


def _pictures(name: str, experiment: Experiment, result: Result, over: str, runs_are: str) -> list[Picture]:
    """Draw the distributions of the rewards, or the arms' values if they change, and the regret of each panel."""
    pictures = []
    if result.values is not None:
        words = "The value of each arm over time; dotted lines mark the changes."
        pictures.append(
            Picture(f"{name}-values", figures.values(result, experiment.title, experiment.plot.in_unit), words)
        )
    if experiment.bandit.still:
        laws = figures.laws(Bandit.checked(experiment.bandit), experiment.title, experiment.plot.in_unit)
        pictures.append(Picture(f"{name}-laws", laws, _words_on_laws(experiment, runs_are)))
    panels: Sequence[Panel | None] = experiment.figures or [None]
    for panel in panels:
        which, tag = ("", "") if panel is None else (f" ({panel.title})", f"-{panel.name}")
        drawn = regret_figures.regret(experiment, result, panel)
        words = f"{_label(result)}{which}: mean over {over}, with the range from 5% to 95% of the runs at the end."
        pictures.append(Picture(f"{name}-regret{tag}", drawn, words))
    return pictures


def _final_picture(name: str, experiment: Experiment, result: Result, over: str) -> Picture:
    """Draw the regret of all policies at the horizon if there are too many for lines."""
    words = f"{_label(result)} at the end of {over}: mean, and the range from 5% to 95% of the runs."
    return Picture(f"{name}-regret", regret_figures.final(experiment, result), words)


def _label(result: Result) -> str:
    """Return the name of the regret, capitalized for the start of a sentence."""
    return result.regret_label[:1].upper() + result.regret_label[1:]


def _admissible(parameter: str, holds: list[bool], limit: float) -> str:
    """Describe the admissible values of a parameter in words."""
    if all(holds) or not any(holds):
        return "all" if all(holds) else "none"
    return f"{parameter} {'≤' if holds[0] else '≥'} {measured(limit)}"


def _words_on_laws(experiment: Experiment, runs_are: str) -> str:
    """Return the caption of the figure of the distributions."""
    goal = experiment.bandit.objective
    which = "" if runs_are == "replications" else " of the first problem"
    line = goal.name if isinstance(goal, Mean) else f"{goal.name}, the average over the darker part"
    return f"The distributions of the rewards{which}. A vertical line marks the {line}; the best arm has another color."


def _arms_table(name: str, experiment: Experiment, bandit: Bandit) -> Table:
    """Make the table of the arms' values and means, beside those in the paper."""
    unit = experiment.plot.in_unit
    frame = pd.DataFrame({"arm": bandit.names, "mean": bandit.means, "value": bandit.values})
    headers = ["arm", "mean", bandit.objective.name]
    printed = experiment.paper.values if experiment.paper else {}
    if printed:
        frame["paper_value"] = [float(printed.get(arm, float("nan"))) for arm in bandit.names]
        headers.append(f"paper: {bandit.objective.name}")
    return Table(f"{name}-arms", frame, headers, f"Values of the arms{unit}: {bandit.objective.name}.")


def _regret_table(name: str, experiment: Experiment, result: Result, caption: str, at_scale: bool) -> Table:
    """Make the table of regret at the horizon by policy, beside the paper's numbers.

    With as many runs as the paper, it also shows how much they differ.
    """
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
        if at_scale and "paper_std" in frame:
            frame["z"] = [
                printed[policy].z(row["mean"], row["std"], row["replications"], experiment.replications)
                if policy in printed
                else np.nan
                for policy, row in summary.iterrows()
            ]
            headers.append("z")
            caption += " z: standard errors of the difference from the paper's mean, beyond its rounding."
        elif at_scale:
            frame["ratio"] = frame["mean"] / frame["paper_mean"]
            headers.append("ours / paper")
    return Table(name, frame, headers, caption, marks=_marks(result, list(frame["policy"])))


def _marks(result: Result, policies: Sequence[str]) -> list[str]:
    """Mark the lowest mean, and those that paired 95% intervals (Bonferroni) do not distinguish from it."""
    runs = {policy: result.final_regret(policy) for policy in policies}
    done = ~np.isnan(np.array(list(runs.values()))).any(axis=0)
    if done.sum() < 2:
        return []
    lowest = min(policies, key=lambda policy: float(runs[policy][done].mean()))
    confidence = 1 - (1 - judging.CONFIDENCE) / max(1, len(policies) - 1)

    def tied(policy: str) -> bool:
        return student(runs[policy][done] - runs[lowest][done], confidence).low <= 0

    return [_LOWEST if policy == lowest else _TIED if tied(policy) else "" for policy in policies]


def _marked(pictures: Sequence[Picture], note: str) -> list[Picture]:
    """Return the figures, each with the note at its edge."""
    return [picture._replace(figure=figures.mark(picture.figure, note)) for picture in pictures]
