"""Experiments as data: TOML files that are read, checked and run, including those of the papers."""

from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
