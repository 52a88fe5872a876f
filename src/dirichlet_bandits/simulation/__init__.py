"""Replications of policies on bandits: one compiled loop, streams of rewards, threads or executors, progress."""

from dirichlet_bandits.simulation import (  # noqa: F401 - register their fast paths
    blocks,
    campaigns,
    duels,
    evidence,
    optimism,
    posteriors,
)
from dirichlet_bandits.simulation.executors import dask_executor
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.simulation.simulate import simulate

__all__ = ["PythonPolicy", "dask_executor", "simulate"]
