"""The DSSAT crop model as a source of arms: maize planting dates, with the shipped yield samples.

The samples need only this package. Simulating new seasons needs the extra ``dssat``.
"""

from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
