"""Bounds and conditions from the theory, computed; built on the numerics only."""

from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
