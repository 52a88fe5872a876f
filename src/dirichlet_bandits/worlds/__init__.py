"""Environments that change, report late or work in batches, for :func:`dirichlet_bandits.simulate`."""

from dirichlet_bandits.worlds.delays import Geometric, Pareto
from dirichlet_bandits.worlds.drifting import Drifting
from dirichlet_bandits.worlds.feedback import Feedback
from dirichlet_bandits.worlds.piecewise import Piecewise
from dirichlet_bandits.worlds.world import World

__all__ = ["Drifting", "Feedback", "Geometric", "Pareto", "Piecewise", "World"]
