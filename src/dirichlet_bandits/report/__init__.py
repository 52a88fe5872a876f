"""The report: read results, draw figures and tables, judge claims, and write one self-contained page."""

from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
