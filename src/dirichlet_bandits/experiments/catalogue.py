"""Experiments that come with the package, as data files beside this module: those of papers, and an example."""

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.report.claims import Paper

if TYPE_CHECKING:
    from dirichlet_bandits.experiments.experiment import Experiment
    from dirichlet_bandits.experiments.kinf_study import KinfStudy
    from dirichlet_bandits.experiments.qds_study import QDSStudy
    from dirichlet_bandits.experiments.random_arms import RandomArms


def _text(file: str) -> str:
    return files("dirichlet_bandits.experiments").joinpath(file).read_text(encoding="utf-8")


PAPERS: Final = {option: Paper(**paper) for option, paper in tomllib.loads(_text("papers.toml")).items()}
SHIPPED: Final = tuple(PAPERS["dirichlet"].names)
SIMULATIONS: Final = [name for paper in PAPERS.values() for name in paper.names if name not in paper.studies]


def shipped(name: str) -> "Experiment | KinfStudy | QDSStudy | RandomArms":
    """Return an experiment of a paper.

    >>> shipped("robustness").policies["RDS log"]
    RDS(rho='log', level=None)
    """
    from dirichlet_bandits.experiments.reading import parse, parse_study

    text = shipped_text(name)
    return (parse if name in SIMULATIONS else parse_study)(text, f"{name}.toml")


def shipped_text(name: str) -> str:
    """Return the TOML text of an experiment of a paper, to copy and change.

    >>> shipped_text("coins")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'name' must be one of 'yields', 'yields-spring', ... (got 'coins')
    """
    for paper in PAPERS.values():
        if name in paper.names:
            return _text(f"{paper.folder}/{name}.toml")
    raise ArgumentError("name", one_of([name for paper in PAPERS.values() for name in paper.names]), name)


def example_text() -> str:
    """Return the commented example, a TOML text to copy and change.

    >>> from dirichlet_bandits.experiments import parse
    >>> parse(example_text()).title
    'Three fertilizers'
    """
    return _text("example.toml")
