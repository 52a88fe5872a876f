"""Labelled results: regret, pulls, rewards; summaries, paired comparisons, pictures, zarr folders."""

from dirichlet_bandits.results.result import Comparison, Result, load

__all__ = ["Comparison", "Result", "load"]
