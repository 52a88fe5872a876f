"""Labeled results: regret, pulls and rewards, with summaries, paired comparisons, plots and zarr folders."""

from dirichlet_bandits.results.comparison import Comparison, Comparisons
from dirichlet_bandits.results.result import Result, load

__all__ = ["Comparison", "Comparisons", "Result", "load"]
