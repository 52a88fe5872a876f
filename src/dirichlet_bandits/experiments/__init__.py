"""An experiment as data: a TOML file that is read, checked and run; and the paper's own ones."""

from dirichlet_bandits.experiments.claims import Claim, Panel, Printed, Published
from dirichlet_bandits.experiments.experiment import Experiment, PlotSettings
from dirichlet_bandits.experiments.kinf_study import KinfStudy
from dirichlet_bandits.experiments.qds_study import QDSStudy
from dirichlet_bandits.experiments.reading import parse, read
from dirichlet_bandits.experiments.shipped import SHIPPED, example_text, shipped, shipped_text

__all__ = [
    "SHIPPED",
    "Claim",
    "Experiment",
    "KinfStudy",
    "Panel",
    "PlotSettings",
    "Printed",
    "Published",
    "QDSStudy",
    "example_text",
    "parse",
    "read",
    "shipped",
    "shipped_text",
]
