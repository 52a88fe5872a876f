"""Labelled results: regret, pulls, rewards; summaries, paired comparisons, pictures, zarr folders."""

from dirichlet_bandits.results.comparison import Comparison, Comparisons
from dirichlet_bandits.results.result import Result, load

__all__ = ["Comparison", "Comparisons", "Result", "load"]
