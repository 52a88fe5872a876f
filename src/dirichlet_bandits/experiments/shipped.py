"""Experiments that come with the package, as data files beside this one."""

from importlib.resources import files

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments.experiment import Experiment
from dirichlet_bandits.experiments.reading import parse

SHIPPED = ("gaussians", "mixtures")


def shipped(name: str) -> Experiment:
    """An experiment that comes with the package.

    >>> list(shipped("gaussians").policies)
    ['UCB1', 'R-UCB-LT', 'RDS']
    """
    if name not in SHIPPED:
        raise ArgumentError("name", one_of(SHIPPED), name)
    return parse(_text(name), source=f"{name}.toml")


def example_text() -> str:
    """The commented example: a TOML file to copy and change.

    >>> parse(example_text()).title
    'Three fertilisers'
    """
    return _text("example")


def _text(name: str) -> str:
    return files("dirichlet_bandits.experiments").joinpath(f"{name}.toml").read_text(encoding="utf-8")
