"""Replications of policies on bandits: planned, executed on threads or any executor, collected."""

from dirichlet_bandits.simulation.executors import dask_executor
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.simulation.simulate import simulate

__all__ = ["PythonPolicy", "dask_executor", "simulate"]
