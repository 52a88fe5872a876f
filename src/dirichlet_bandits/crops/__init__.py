"""The DSSAT crop model as a source of arms: maize planting dates, with the shipped yield samples.

The samples need only this package. Simulating new seasons needs the extra ``dssat``.
"""

from dirichlet_bandits.crops.arm import DssatArm
from dirichlet_bandits.crops.dssat import CropModelError
from dirichlet_bandits.crops.samples import Samples, load, maize_planting, yields
from dirichlet_bandits.crops.sampling import reproduce, sample, weather_seeds
from dirichlet_bandits.crops.season import (
    DATES,
    PUBLISHED,
    SPRING,
    Case,
    Climate,
    Fertilizer,
    Month,
    Soil,
    SoilLayer,
    Start,
    case_from_mapping,
    case_from_toml,
    date_label,
    published_climate,
)

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
