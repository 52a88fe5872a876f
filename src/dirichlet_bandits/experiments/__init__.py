"""An experiment as data: a TOML file that is read, checked and run."""

from dirichlet_bandits.experiments.experiment import Experiment, PlotSettings
from dirichlet_bandits.experiments.reading import parse, read
from dirichlet_bandits.experiments.shipped import SHIPPED, example_text, shipped

__all__ = ["SHIPPED", "Experiment", "PlotSettings", "example_text", "parse", "read", "shipped"]
