"""The DSSAT crop model as a source of arms: maize planting dates, with the shipped yield samples.

The samples need only this package. Simulating new seasons needs the extra ``dssat``.
"""

from dirichlet_bandits.crops.arm import DssatArm
from dirichlet_bandits.crops.casefile import case_from_mapping, case_from_toml
from dirichlet_bandits.crops.climate import Climate, Month, published_climate
from dirichlet_bandits.crops.dssat import CropModelError
from dirichlet_bandits.crops.problem import maize_planting
from dirichlet_bandits.crops.samples import Samples, load, yields
from dirichlet_bandits.crops.sampling import reproduce, sample, weather_seeds
from dirichlet_bandits.crops.season import DATES, PUBLISHED, SPRING, Case, Fertilizer, date_label
from dirichlet_bandits.crops.soil import Soil, SoilLayer, Start

__all__ = [
    "DATES",
    "PUBLISHED",
    "SPRING",
    "Case",
    "Climate",
    "CropModelError",
    "DssatArm",
    "Fertilizer",
    "Month",
    "Samples",
    "Soil",
    "SoilLayer",
    "Start",
    "case_from_mapping",
    "case_from_toml",
    "date_label",
    "load",
    "maize_planting",
    "published_climate",
    "reproduce",
    "sample",
    "weather_seeds",
    "yields",
]
