"""Environments for :func:`dirichlet_bandits.simulate`: distributions, bandits, arms that change, late rewards."""

from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
