"""The report: read results, draw figures and tables, judge claims, and write one self-contained page."""

from dirichlet_bandits.report.chapters import Chapter, kinf_chapter, qds_chapter, random_chapter, regret_chapter
from dirichlet_bandits.report.judging import Contrast, Verdict, judge_regret
from dirichlet_bandits.report.paper import Reproduction, reproduce
from dirichlet_bandits.report.writing import Making, sentence, write

__all__ = [
    "Chapter",
    "Contrast",
    "Making",
    "Reproduction",
    "Verdict",
    "judge_regret",
    "kinf_chapter",
    "qds_chapter",
    "random_chapter",
    "regret_chapter",
    "reproduce",
    "sentence",
    "write",
]
