"""Replications of policies on bandits: one compiled loop, streams of rewards, threads, progress."""

from dirichlet_bandits.simulation import duels as _fast_paths  # noqa: F401 - registers them
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.simulation.simulate import simulate

__all__ = ["PythonPolicy", "simulate"]
