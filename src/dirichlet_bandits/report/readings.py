"""Statements of a paper that can be read in several ways, each judged by every reading that was tried."""

from collections.abc import Sequence
from typing import NamedTuple

from dirichlet_bandits.experiments import shipped
from dirichlet_bandits.experiments.catalogue import Paper
from dirichlet_bandits.report.chapters import Chapter
from dirichlet_bandits.report.judging import Verdict


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


def unread(paper: Paper, chapters: Sequence[Chapter]) -> list[Unread]:
    """Return the experiments on readings that have no chapter although their original experiment has one."""
    done = {chapter.name for chapter in chapters}
    tasks = [shipped(name) for name in paper.others if name not in done]
    return [
        Unread(task.title, task.paper.about, task.paper.of, frozenset(claim.says for claim in task.claims))
        for task in tasks
        if task.paper is not None and task.paper.of in done
    ]
