"""One experiment as a chapter: its figures, its tables, the verdicts on its claims, and how to reproduce it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pandas as pd

from dirichlet_bandits.display.numbers import measured
from dirichlet_bandits.environments import Bandit, Environment, Mean
from dirichlet_bandits.report import figures, judging
from dirichlet_bandits.report.claims import NOWHERE, Claim, Panel, PlotSettings, Published
from dirichlet_bandits.report.judging import Verdict
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.comparison import student

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STATISTICS = {"mean": "mean", "stderr": "s.e.", "std": "std", "q05": "5%", "q95": "95%"}
_LOWEST, _TIED = "★", "≈"
_PRINTED = {"mean": "paper: mean", "std": "std", "q05": "5%", "q95": "95%"}


class Subject(Protocol):
    """What a report must know of a simulation besides its result; an experiment has it."""

    @property
    def title(self) -> str: ...
    @property
    def bandit(self) -> Environment: ...
    @property
    def replications(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def plot(self) -> PlotSettings: ...
    @property
    def figures(self) -> Sequence[Panel]: ...
    @property
    def paper(self) -> Published | None: ...
    @property
    def claims(self) -> Sequence[Claim]: ...


class ChapterFigure(NamedTuple):
    """A figure, the name of its files, and its caption."""

    name: str
    figure: "Figure"
    caption: str


class ChapterTable(NamedTuple):
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
    """What the report says about one subject.

    ``scale`` is its size in words, ``seconds`` the processor time by policy, including earlier runs that were resumed,
    ``wall`` the wall-clock time of this run, and ``command`` the command that reproduces it.
    """

    name: str
    title: str
    paper: Published
    scale: str
    seed: int | None
    pictures: Sequence[ChapterFigure]
    tables: Sequence[ChapterTable]
    verdicts: Sequence[Verdict]
    seconds: dict[str, float] = field(default_factory=dict)
    wall: float = 0.0
    command: str = ""

    def count(self, outcome: judging.Outcome) -> int:
        """Return the number of claims with this outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)


def regret_chapter(name: str, subject: Subject, result: Result, quick: bool, runs_are: str = "replications") -> Chapter:
    """Write the chapter of a simulation of regret."""
    runs = int(result.summary()["replications"].min())
    note = f"quick run: {runs} {runs_are}" if quick else ""
    over = f"{runs} {runs_are} of {measured(result.horizon)} pulls"
    unit = subject.plot.in_unit
    caption = (
        f"{_label(result)}{unit} after {measured(result.horizon)} pulls, {runs} {runs_are}; s.e. is the standard error "
        f"of the mean. {_LOWEST} marks the lowest mean; {_TIED} cannot be distinguished from it."
    )
    paper = subject.paper or NOWHERE
    pictures = (
        [_final_picture(name, subject, result, over)] if paper.of else _pictures(name, subject, result, over, runs_are)
    )
    tables = [_regret_table(name, subject, result, caption, at_scale=not quick and not paper.of)]
    bandit = subject.bandit
    if runs_are == "replications" and bandit.still and not isinstance(bandit.objective, Mean):
        tables.append(_arms_table(name, subject, Bandit.checked(bandit)))
    return Chapter(
        name=name,
        title=subject.title,
        paper=paper,
        scale=over,
        seed=subject.seed,
        pictures=marked(pictures, note),
        tables=tables,
        verdicts=[judging.judge_regret(claim, result) for claim in subject.claims],
    )


def headline(chapters: Sequence[Chapter], own: Sequence[str]) -> ChapterFigure | None:
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
    return ChapterFigure("headline", figures.headline(linked, own), caption)


def _pictures(name: str, subject: Subject, result: Result, over: str, runs_are: str) -> list[ChapterFigure]:
    """Draw the distributions of the rewards, or the arms' values if they change, and the regret of each panel."""
    pictures = []
    if result.values is not None:
        words = "The value of each arm over time; dotted lines mark the changes."
        pictures.append(
            ChapterFigure(f"{name}-values", figures.values(result, subject.title, subject.plot.in_unit), words)
        )
    if subject.bandit.still:
        laws = figures.laws(Bandit.checked(subject.bandit), subject.title, subject.plot.in_unit)
        pictures.append(ChapterFigure(f"{name}-laws", laws, _words_on_laws(subject, runs_are)))
    panels: Sequence[Panel | None] = subject.figures or [None]
    for panel in panels:
        which, tag = ("", "") if panel is None else (f" ({panel.title})", f"-{panel.name}")
        drawn = figures.regret(subject.title, subject.plot, result, panel)
        words = f"{_label(result)}{which}: mean over {over}, with the range from 5% to 95% of the runs at the end."
        pictures.append(ChapterFigure(f"{name}-regret{tag}", drawn, words))
    return pictures


def _final_picture(name: str, subject: Subject, result: Result, over: str) -> ChapterFigure:
    """Draw the regret of all policies at the horizon if there are too many for lines."""
    words = f"{_label(result)} at the end of {over}: mean, and the range from 5% to 95% of the runs."
    return ChapterFigure(f"{name}-regret", figures.final(subject.title, subject.plot, result), words)


def _label(result: Result) -> str:
    """Return the name of the regret, capitalized for the start of a sentence."""
    return result.regret_label[:1].upper() + result.regret_label[1:]


def _words_on_laws(subject: Subject, runs_are: str) -> str:
    """Return the caption of the figure of the distributions."""
    goal = subject.bandit.objective
    which = "" if runs_are == "replications" else " of the first problem"
    line = goal.name if isinstance(goal, Mean) else f"{goal.name}, the average over the darker part"
    return f"The distributions of the rewards{which}. A vertical line marks the {line}; the best arm has another color."


def _arms_table(name: str, subject: Subject, bandit: Bandit) -> ChapterTable:
    """Make the table of the arms' values and means, beside those in the paper."""
    unit = subject.plot.in_unit
    frame = pd.DataFrame({"arm": bandit.names, "mean": bandit.means, "value": bandit.values})
    headers = ["arm", "mean", bandit.objective.name]
    printed = subject.paper.values if subject.paper else {}
    if printed:
        frame["paper_value"] = [float(printed.get(arm, float("nan"))) for arm in bandit.names]
        headers.append(f"paper: {bandit.objective.name}")
    return ChapterTable(f"{name}-arms", frame, headers, f"Values of the arms{unit}: {bandit.objective.name}.")


def _regret_table(name: str, subject: Subject, result: Result, caption: str, at_scale: bool) -> ChapterTable:
    """Make the table of regret at the horizon by policy, beside the paper's numbers.

    With as many runs as the paper, it also shows how much they differ.
    """
    summary = result.summary()
    frame = summary[list(_STATISTICS)].reset_index()
    headers = ["policy", *_STATISTICS.values()]
    printed = subject.paper.printed if subject.paper else {}
    if printed:
        for key, heading in _PRINTED.items():
            values = [getattr(printed.get(policy), key, None) for policy in frame["policy"]]
            if any(value is not None for value in values):
                frame[f"paper_{key}"] = [float("nan") if value is None else value for value in values]
                headers.append(heading)
        if at_scale and "paper_std" in frame:
            frame["z"] = [
                printed[policy].z(row["mean"], row["std"], row["replications"], subject.replications)
                if policy in printed
                else np.nan
                for policy, row in summary.iterrows()
            ]
            headers.append("z")
            caption += " z: standard errors of the difference from the paper's mean, beyond its rounding."
        elif at_scale:
            frame["ratio"] = frame["mean"] / frame["paper_mean"]
            headers.append("ours / paper")
    return ChapterTable(name, frame, headers, caption, marks=_marks(result, list(frame["policy"])))


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


def marked(pictures: Sequence[ChapterFigure], note: str) -> list[ChapterFigure]:
    """Return the figures, each with the note at its edge."""
    return [picture._replace(figure=figures.mark(picture.figure, note)) for picture in pictures]


class Statement(NamedTuple):
    """A statement of the paper, and the verdict for each reading of it."""

    says: str
    verdicts: Sequence[Verdict]

    @property
    def certain(self) -> bool:
        """Whether the statement holds for every reading."""
        return all(verdict.outcome == "supported" for verdict in self.verdicts)

    @property
    def conclusion(self) -> str:
        """Which readings support the statement, in words."""
        found = {
            outcome: [v.reading for v in self.verdicts if v.outcome == outcome]
            for outcome in ("supported", "undecided")
        }
        if self.certain:
            return "Every reading supports this statement."
        if found["supported"]:
            return f"Supported by: {'; '.join(found['supported'])}."
        if found["undecided"]:
            return f"No reading is known to support this statement; undecided: {'; '.join(found['undecided'])}."
        return "No reading supports this statement."


class Unread(NamedTuple):
    """An experiment on other readings that was not run: its title, topic, original experiment and statements."""

    title: str
    about: str
    of: str
    says: frozenset[str]


def statements(chapters: Sequence[Chapter]) -> list[Statement]:
    """Return the statements of chapters on readings, in the order of their files."""
    by_words: dict[str, list[Verdict]] = {}
    for chapter in chapters:
        for verdict in chapter.verdicts:
            by_words.setdefault(verdict.says, []).append(verdict)
    return [Statement(says, verdicts) for says, verdicts in by_words.items()]


def otherwise(chapter: Chapter, verdict: Verdict, chapters: Sequence[Chapter]) -> list[Verdict]:
    """Return the verdicts for other readings of a claim of this chapter."""
    return [
        other
        for reread in chapters
        if reread.paper.of == chapter.name
        for other in reread.verdicts
        if other.says == verdict.says
    ]
