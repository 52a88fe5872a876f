"""Simulate policies on bandits: plan the replications, run them on threads or any executor, collect the results."""

from dirichlet_bandits.simulation.executors import dask_executor
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.simulation.simulate import simulate

__all__ = ["PythonPolicy", "dask_executor", "simulate"]
