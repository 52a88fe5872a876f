"""The ground: a soil profile, and the state of the field on the day the simulation starts."""

import itertools
from dataclasses import dataclass

from dirichlet_bandits.crops.fields import check_fields, code, number, several
from dirichlet_bandits.errors import ArgumentError


@dataclass(frozen=True)
class SoilLayer:
    """One layer of the soil, down to ``bottom`` cm. Water contents are volumes per volume.

    >>> SoilLayer(10, 0.06, 0.165, 0.36, 1.0, 10.0, 1.6, 0.4, 5, 3, 0.03, 6.5).field_water
    0.1125
    """

    bottom: float = number(1, 999)
    lower_limit: float = number(0.001, 0.7)
    upper_limit: float = number(0.001, 0.74)
    saturation: float = number(0.001, 0.75)
    root_factor: float = number(0, 1)
    conductivity: float = number(0, 999)
    bulk_density: float = number(0.1, 2.65)
    organic_carbon: float = number(0, 60)
    clay: float = number(0, 100)
    silt: float = number(0, 100)
    nitrogen: float = number(0, 10)
    ph: float = number(2, 11)

    def __post_init__(self) -> None:
        check_fields(self, "soil.layers.")
        if not self.lower_limit < self.upper_limit < self.saturation:
            raise ArgumentError(
                "soil.layers",
                "wetter from lower_limit to upper_limit to saturation",
                (self.lower_limit, self.upper_limit, self.saturation),
            )
        if self.clay + self.silt > 100:
            raise ArgumentError("soil.layers", "at most 100 % clay and silt", (self.clay, self.silt))

    @property
    def field_water(self) -> float:
        """Water at the start: halfway between the lower limit and the drained upper limit."""
        return round((self.lower_limit + self.upper_limit) / 2, 6)


@dataclass(frozen=True)
class Soil:
    """A soil profile; the default is the published generic shallow sand.

    >>> [layer.bottom for layer in Soil().layers]
    [10, 30, 60]
    """

    name: str = code("[A-Z0-9_]{10}", "ten capital letters, digits or underscores", default="HC_GEN0027")
    albedo: float = number(0.01, 0.99, default=0.15)
    evaporation_limit: float = number(1, 20, default=4.0)
    drainage_rate: float = number(0, 1, default=0.75)
    runoff_curve: float = number(1, 99, default=65.0)
    mineralisation: float = number(0, 1, default=1.0)
    photosynthesis: float = number(0, 1, default=1.0)
    layers: tuple[SoilLayer, ...] = several(
        SoilLayer,
        1,
        18,
        default=(
            SoilLayer(10, 0.060, 0.165, 0.360, 1.00, 10.0, 1.60, 0.40, 5, 3, 0.03, 6.5),
            SoilLayer(30, 0.070, 0.170, 0.365, 0.80, 8.8, 1.60, 0.25, 5, 3, 0.02, 6.5),
            SoilLayer(60, 0.090, 0.172, 0.370, 0.60, 8.6, 1.60, 0.20, 5, 3, 0.02, 6.5),
        ),
    )

    def __post_init__(self) -> None:
        check_fields(self, "soil.")
        bottoms = [layer.bottom for layer in self.layers]
        if any(upper >= lower for upper, lower in itertools.pairwise(bottoms)):
            raise ArgumentError("soil.layers.bottom", "increasing with depth", bottoms)


@dataclass(frozen=True)
class Start:
    """The field on the day the simulation starts: residues of the previous crop, and nitrogen in the ground.

    >>> Start().surface_residue
    1000.0
    """

    root_residue: float = number(0, 99999, default=100.0)
    surface_residue: float = number(0, 99999, default=1000.0)
    residue_nitrogen: float = number(0, 10, default=0.8)
    incorporation: float = number(0, 100, default=100.0)
    incorporation_depth: float = number(0, 200, default=15.0)
    ammonium: float = number(0, 100, default=0.5)
    nitrate: float = number(0, 100, default=3.0)

    def __post_init__(self) -> None:
        check_fields(self, "start.")
