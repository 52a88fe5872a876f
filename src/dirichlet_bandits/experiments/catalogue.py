"""Experiments that come with the package, as data files beside this one: those of the paper, and an example."""

from importlib.resources import files
from typing import TYPE_CHECKING

from dirichlet_bandits.errors import ArgumentError, one_of

if TYPE_CHECKING:
    from dirichlet_bandits.experiments.experiment import Experiment
    from dirichlet_bandits.experiments.studies import Study

REGRET = ("yields", "yields-spring", "mixtures", "sensitivity", "robustness")
SHIPPED = (*REGRET, "kinf", "qds-condition")


def shipped(name: str) -> "Experiment | Study":
    """An experiment of the paper.

    >>> shipped("robustness").policies["RDS log"]
    RDS(rho='log')
    """
    from dirichlet_bandits.experiments.reading import parse
    from dirichlet_bandits.experiments.studies import parse_study

    text = shipped_text(name)
    return parse(text, f"{name}.toml") if name in REGRET else parse_study(text, f"{name}.toml")


def shipped_text(name: str) -> str:
    """The TOML file of an experiment of the paper, to copy and change.

    >>> shipped_text("coins")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'name' must be one of 'yields', 'yields-spring', 'mixtures', \
'sensitivity', 'robustness', 'kinf', 'qds-condition' (got 'coins')
    """
    if name not in SHIPPED:
        raise ArgumentError("name", one_of(SHIPPED), name)
    return _text(f"paper/{name}.toml")


def example_text() -> str:
    """The commented example: a TOML file to copy and change.

    >>> from dirichlet_bandits.experiments import parse
    >>> parse(example_text()).title
    'Three fertilisers'
    """
    return _text("example.toml")


def _text(file: str) -> str:
    return files("dirichlet_bandits.experiments").joinpath(file).read_text(encoding="utf-8")
