"""The ground: a soil profile, and the state of the field on the day the simulation starts."""

import itertools
from dataclasses import dataclass

from dirichlet_bandits.crops.checks import code, number, tuple_of
from dirichlet_bandits.errors import ArgumentError


@dataclass(frozen=True)
class SoilLayer:
    """One layer of the soil, down to ``bottom`` cm. Water contents are volumes per volume.

    >>> SoilLayer(10, 0.06, 0.165, 0.36, 1.0, 10.0, 1.6, 0.4, 5, 3, 0.03, 6.5).field_water
    0.1125
    """

    bottom: float
    lower_limit: float
    upper_limit: float
    saturation: float
    root_factor: float
    conductivity: float
    bulk_density: float
    organic_carbon: float
    clay: float
    silt: float
    nitrogen: float
    ph: float

    def __post_init__(self) -> None:
        number("soil.layers.bottom", self.bottom, 1, 999)
        number("soil.layers.lower_limit", self.lower_limit, 0.001, 0.7)
        number("soil.layers.upper_limit", self.upper_limit, 0.001, 0.74)
        number("soil.layers.saturation", self.saturation, 0.001, 0.75)
        if not self.lower_limit < self.upper_limit < self.saturation:
            raise ArgumentError(
                "soil.layers",
                "wetter from lower_limit to upper_limit to saturation",
                (self.lower_limit, self.upper_limit, self.saturation),
            )
        number("soil.layers.root_factor", self.root_factor, 0, 1)
        number("soil.layers.conductivity", self.conductivity, 0, 999)
        number("soil.layers.bulk_density", self.bulk_density, 0.1, 2.65)
        number("soil.layers.organic_carbon", self.organic_carbon, 0, 60)
        number("soil.layers.clay", self.clay, 0, 100)
        number("soil.layers.silt", self.silt, 0, 100)
        if self.clay + self.silt > 100:
            raise ArgumentError("soil.layers", "at most 100 % clay and silt", (self.clay, self.silt))
        number("soil.layers.nitrogen", self.nitrogen, 0, 10)
        number("soil.layers.ph", self.ph, 2, 11)

    @property
    def field_water(self) -> float:
        """Water at the start: half-way between the lower limit and the drained upper limit."""
        return round((self.lower_limit + self.upper_limit) / 2, 6)


@dataclass(frozen=True)
class Soil:
    """A soil profile; the default is the published generic shallow sand.

    >>> [layer.bottom for layer in Soil().layers]
    [10, 30, 60]
    """

    name: str = "HC_GEN0027"
    albedo: float = 0.15
    evaporation_limit: float = 4.0
    drainage_rate: float = 0.75
    runoff_curve: float = 65.0
    mineralisation: float = 1.0
    photosynthesis: float = 1.0
    layers: tuple[SoilLayer, ...] = (
        SoilLayer(10, 0.060, 0.165, 0.360, 1.00, 10.0, 1.60, 0.40, 5, 3, 0.03, 6.5),
        SoilLayer(30, 0.070, 0.170, 0.365, 0.80, 8.8, 1.60, 0.25, 5, 3, 0.02, 6.5),
        SoilLayer(60, 0.090, 0.172, 0.370, 0.60, 8.6, 1.60, 0.20, 5, 3, 0.02, 6.5),
    )

    def __post_init__(self) -> None:
        code("soil.name", self.name, "[A-Z0-9_]{10}", "ten capital letters, digits or underscores")
        number("soil.albedo", self.albedo, 0.01, 0.99)
        number("soil.evaporation_limit", self.evaporation_limit, 1, 20)
        number("soil.drainage_rate", self.drainage_rate, 0, 1)
        number("soil.runoff_curve", self.runoff_curve, 1, 99)
        number("soil.mineralisation", self.mineralisation, 0, 1)
        number("soil.photosynthesis", self.photosynthesis, 0, 1)
        tuple_of("soil.layers", self.layers, SoilLayer, 1, 18)
        bottoms = [layer.bottom for layer in self.layers]
        if any(upper >= lower for upper, lower in itertools.pairwise(bottoms)):
            raise ArgumentError("soil.layers.bottom", "increasing with depth", bottoms)


@dataclass(frozen=True)
class Start:
    """The field on the day the simulation starts: residues of the crop before, and nitrogen in the ground.

    >>> Start().surface_residue
    1000.0
    """

    root_residue: float = 100.0
    surface_residue: float = 1000.0
    residue_nitrogen: float = 0.8
    incorporation: float = 100.0
    incorporation_depth: float = 15.0
    ammonium: float = 0.5
    nitrate: float = 3.0

    def __post_init__(self) -> None:
        number("start.root_residue", self.root_residue, 0, 99999)
        number("start.surface_residue", self.surface_residue, 0, 99999)
        number("start.residue_nitrogen", self.residue_nitrogen, 0, 10)
        number("start.incorporation", self.incorporation, 0, 100)
        number("start.incorporation_depth", self.incorporation_depth, 0, 200)
        number("start.ammonium", self.ammonium, 0, 100)
        number("start.nitrate", self.nitrate, 0, 100)
