"""A maize season as data: what is planted where, with the published case as the default of every field.

The published case is a rain-fed maize field on a generic shallow sand near Gainesville, Florida, whose weather
comes from the station's own generator. Every class refuses values that the model would misread.
"""

import dataclasses
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from dirichlet_bandits.errors import ArgumentError, one_of

DATES: tuple[int, ...] = (57, 72, 87, 102, 117, 132, 147)
"""The seven planting dates, as days of the year."""

SPRING: tuple[int, ...] = DATES[:4]
"""The four early dates: the hard problem, where the third is best by a small gap."""

LAST_DAY = 300
"""Latest planting day: a season must be over before the simulation of the next year starts."""

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _number(name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ArgumentError(name, f"a number from {low:g} to {high:g}", value)
    if not low <= value <= high:
        raise ArgumentError(name, f"a number from {low:g} to {high:g}", value)


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ArgumentError(name, f"a whole number from {low} to {high}", value)


def _code(name: str, value: object, pattern: str, expected: str) -> None:
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ArgumentError(name, expected, value)


def _tuple_of(name: str, value: object, kind: type, low: int, high: int) -> None:
    right = isinstance(value, tuple) and all(isinstance(item, kind) for item in value)
    if not right or not low <= len(value) <= high:  # type: ignore[arg-type]
        count = f"{low}" if low == high else f"{low} to {high}"
        raise ArgumentError(name, f"a tuple of {count} {kind.__name__}", value)


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
        _number("soil.layers.bottom", self.bottom, 1, 999)
        _number("soil.layers.lower_limit", self.lower_limit, 0.001, 0.7)
        _number("soil.layers.upper_limit", self.upper_limit, 0.001, 0.74)
        _number("soil.layers.saturation", self.saturation, 0.001, 0.75)
        if not self.lower_limit < self.upper_limit < self.saturation:
            raise ArgumentError(
                "soil.layers",
                "wetter from lower_limit to upper_limit to saturation",
                (self.lower_limit, self.upper_limit, self.saturation),
            )
        _number("soil.layers.root_factor", self.root_factor, 0, 1)
        _number("soil.layers.conductivity", self.conductivity, 0, 999)
        _number("soil.layers.bulk_density", self.bulk_density, 0.1, 2.65)
        _number("soil.layers.organic_carbon", self.organic_carbon, 0, 60)
        _number("soil.layers.clay", self.clay, 0, 100)
        _number("soil.layers.silt", self.silt, 0, 100)
        if self.clay + self.silt > 100:
            raise ArgumentError("soil.layers", "at most 100 % clay and silt", (self.clay, self.silt))
        _number("soil.layers.nitrogen", self.nitrogen, 0, 10)
        _number("soil.layers.ph", self.ph, 2, 11)

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
        _code("soil.name", self.name, "[A-Z0-9_]{10}", "ten capital letters, digits or underscores")
        _number("soil.albedo", self.albedo, 0.01, 0.99)
        _number("soil.evaporation_limit", self.evaporation_limit, 1, 20)
        _number("soil.drainage_rate", self.drainage_rate, 0, 1)
        _number("soil.runoff_curve", self.runoff_curve, 1, 99)
        _number("soil.mineralisation", self.mineralisation, 0, 1)
        _number("soil.photosynthesis", self.photosynthesis, 0, 1)
        _tuple_of("soil.layers", self.layers, SoilLayer, 1, 18)
        bottoms = [layer.bottom for layer in self.layers]
        if any(upper >= lower for upper, lower in zip(bottoms, bottoms[1:], strict=False)):
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
        _number("start.root_residue", self.root_residue, 0, 99999)
        _number("start.surface_residue", self.surface_residue, 0, 99999)
        _number("start.residue_nitrogen", self.residue_nitrogen, 0, 10)
        _number("start.incorporation", self.incorporation, 0, 100)
        _number("start.incorporation_depth", self.incorporation_depth, 0, 200)
        _number("start.ammonium", self.ammonium, 0, 100)
        _number("start.nitrate", self.nitrate, 0, 100)


@dataclass(frozen=True)
class Fertiliser:
    """One application of nitrogen, ``day`` days after planting.

    >>> Fertiliser(40, 27.0).material
    'FE001'
    """

    day: int
    nitrogen: float
    depth: float = 10.0
    material: str = "FE001"
    application: str = "AP001"

    def __post_init__(self) -> None:
        _whole("fertiliser.day", self.day, 0, 300)
        _number("fertiliser.nitrogen", self.nitrogen, 0, 2000)
        _number("fertiliser.depth", self.depth, 0, 200)
        _code("fertiliser.material", self.material, r"FE\d{3}", "a code such as 'FE001'")
        _code("fertiliser.application", self.application, r"AP0(0[1-9]|1\d|20)", "a code 'AP001' to 'AP020'")


@dataclass(frozen=True)
class Month:
    """A month of the weather generator: solar radiation (MJ/m2/d), temperatures (C) and rain, on dry and wet days.

    >>> published_climate().months[0].rain
    84.0
    """

    solar: float
    warmest: float
    coldest: float
    rain: float
    rain_days: float
    solar_dry: float
    solar_dry_sd: float
    solar_wet: float
    solar_wet_sd: float
    warmest_dry: float
    warmest_dry_sd: float
    warmest_wet: float
    warmest_wet_sd: float
    coldest_sd: float
    rain_shape: float
    wet_after_dry: float

    def __post_init__(self) -> None:
        for field in fields(self):
            low, high = _MONTH_RANGES[field.name]
            _number(f"climate.months.{field.name}", getattr(self, field.name), low, high)


_MONTH_RANGES: dict[str, tuple[float, float]] = {
    "solar": (0, 50),
    "warmest": (-60, 60),
    "coldest": (-60, 60),
    "rain": (0, 9999),
    "rain_days": (0, 31),
    "solar_dry": (0, 50),
    "solar_dry_sd": (0, 25),
    "solar_wet": (0, 50),
    "solar_wet_sd": (0, 25),
    "warmest_dry": (-60, 60),
    "warmest_dry_sd": (0, 25),
    "warmest_wet": (-60, 60),
    "warmest_wet_sd": (0, 25),
    "coldest_sd": (0, 25),
    "rain_shape": (0.01, 0.998),
    "wet_after_dry": (0, 1),
}


@dataclass(frozen=True)
class Climate:
    """A weather station and its generator, a :class:`Month` at a time.

    >>> published_climate().station
    'UFGA'
    """

    months: tuple[Month, ...]
    station: str = "UFGA"
    latitude: float = 29.63
    longitude: float = -82.37
    elevation: float = 10.0
    temperature: float = 20.9
    amplitude: float = 13.0
    solar: float = 16.5
    warmest: float = 27.4
    coldest: float = 14.4
    rain: float = 1300.0
    first_year: int = 1958
    years: int = 49
    angstrom_a: float = 0.25
    angstrom_b: float = 0.50
    reference_height: float = 2.0
    wind_height: float = 3.0

    def __post_init__(self) -> None:
        _tuple_of("climate.months", self.months, Month, 12, 12)
        for month, length in zip(self.months, MONTH_LENGTHS, strict=True):
            if month.rain_days > length:
                raise ArgumentError("climate.months.rain_days", f"at most {length} here", month.rain_days)
        _code("climate.station", self.station, "[A-Z0-9]{4}", "four capital letters or digits")
        _number("climate.latitude", self.latitude, -66, 66)
        _number("climate.longitude", self.longitude, -180, 180)
        _number("climate.elevation", self.elevation, -400, 6000)
        _number("climate.temperature", self.temperature, -30, 50)
        _number("climate.amplitude", self.amplitude, 0, 60)
        _number("climate.solar", self.solar, 0, 50)
        _number("climate.warmest", self.warmest, -60, 60)
        _number("climate.coldest", self.coldest, -60, 60)
        _number("climate.rain", self.rain, 0, 20000)
        _whole("climate.first_year", self.first_year, 1800, 2100)
        _whole("climate.years", self.years, 1, 300)
        _number("climate.angstrom_a", self.angstrom_a, 0, 1)
        _number("climate.angstrom_b", self.angstrom_b, 0, 1)
        _number("climate.reference_height", self.reference_height, 0.1, 20)
        _number("climate.wind_height", self.wind_height, 0.1, 20)


def published_climate() -> Climate:
    """The station of the published case: Gainesville, Florida, 49 years from 1958.

    >>> sum(month.rain_days for month in published_climate().months) > 100
    True
    """
    return Climate(
        months=(
            Month(10.9, 19.7, 6.1, 84.0, 8.1, 11.8, 0.9, 8.2, 1.2, 19.6, 4.8, 19.9, 4.4, 5.6, 0.440, 0.222),
            Month(13.5, 21.4, 7.2, 109.3, 7.5, 14.8, 1.1, 9.9, 1.3, 21.3, 4.6, 21.5, 3.8, 5.3, 0.277, 0.212),
            Month(17.3, 24.5, 10.0, 98.0, 7.6, 18.7, 1.4, 12.8, 1.7, 24.8, 4.0, 23.7, 3.8, 5.3, 0.341, 0.199),
            Month(21.3, 28.0, 13.4, 74.3, 5.6, 22.6, 0.9, 15.9, 1.3, 28.3, 3.0, 26.6, 3.3, 3.9, 0.401, 0.151),
            Month(22.2, 31.0, 17.1, 92.3, 7.5, 23.3, 0.8, 18.9, 0.8, 31.3, 2.2, 30.3, 2.3, 3.1, 0.685, 0.177),
            Month(20.7, 32.6, 20.6, 162.9, 12.0, 22.4, 0.8, 18.3, 0.8, 33.1, 1.8, 31.8, 2.2, 2.0, 0.453, 0.266),
            Month(20.5, 33.1, 21.8, 169.3, 15.6, 22.2, 0.8, 18.8, 1.0, 33.8, 1.6, 32.5, 1.9, 1.3, 0.310, 0.396),
            Month(19.0, 33.0, 21.7, 193.9, 15.4, 20.6, 0.6, 17.4, 0.9, 33.7, 1.5, 32.2, 2.2, 1.2, 0.357, 0.288),
            Month(16.4, 31.6, 20.5, 133.1, 11.1, 17.6, 0.7, 14.5, 0.8, 32.0, 2.0, 31.0, 2.2, 2.3, 0.449, 0.258),
            Month(14.3, 28.4, 16.1, 56.0, 6.2, 15.0, 0.9, 11.6, 0.9, 28.5, 3.0, 28.3, 2.9, 4.5, 0.298, 0.138),
            Month(11.7, 24.3, 11.1, 57.0, 6.0, 12.4, 1.5, 8.9, 1.7, 24.5, 3.5, 23.6, 3.6, 5.0, 0.368, 0.157),
            Month(9.6, 21.1, 7.8, 69.8, 7.4, 10.5, 1.5, 6.8, 1.8, 21.5, 4.4, 20.1, 4.3, 5.8, 0.439, 0.195),
        )
    )


@dataclass(frozen=True)
class Case:
    """Everything the model is told but the planting day and the seed of the weather.

    >>> Case().cultivar
    'PC0005'
    >>> Case(density=0)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'density' must be a number from 0.1 to 100 (got 0)

    References
    ----------
    Jones et al. (2003), The DSSAT cropping system model, European Journal of Agronomy 18.
    """

    cultivar: str = "PC0005"
    density: float = 7.2
    row_spacing: float = 61.0
    depth: float = 7.0
    first_day: int = 56
    first_year: int = 1982
    soil: Soil = Soil()
    start: Start = Start()
    fertiliser: tuple[Fertiliser, ...] = (Fertiliser(40, 27.0), Fertiliser(45, 35.0), Fertiliser(80, 54.0))
    climate: Climate = dataclasses.field(default_factory=published_climate)

    def __post_init__(self) -> None:
        _code("cultivar", self.cultivar, "[A-Z0-9]{6}", "six capital letters or digits, such as 'PC0005'")
        _number("density", self.density, 0.1, 100)
        _number("row_spacing", self.row_spacing, 1, 300)
        _number("depth", self.depth, 0.5, 50)
        _whole("first_day", self.first_day, 1, LAST_DAY)
        _whole("first_year", self.first_year, 1960, 2000)
        for name, kind in (("soil", Soil), ("start", Start), ("climate", Climate)):
            if not isinstance(getattr(self, name), kind):
                raise ArgumentError(name, f"a {kind.__name__}", getattr(self, name))
        _tuple_of("fertiliser", self.fertiliser, Fertiliser, 0, 100)

    def check_day(self, day: object, name: str = "day") -> int:
        """The planting day, refused unless it lies in the simulated part of the year."""
        _whole(name, day, self.first_day, LAST_DAY)
        assert isinstance(day, int)
        return day


PUBLISHED = Case()
"""The published case."""

_ITEMS: dict[tuple[type, str], type] = {
    (Soil, "layers"): SoilLayer,
    (Climate, "months"): Month,
    (Case, "fertiliser"): Fertiliser,
}
T = TypeVar("T")


def date_label(day: int) -> str:
    """The date of a day of the year, in a year that is not a leap year.

    >>> date_label(57), date_label(147)
    ('26 Feb', '27 May')
    """
    _whole("day", day, 1, 365)
    for month, length in zip(MONTHS, MONTH_LENGTHS, strict=True):
        if day <= length:
            return f"{day} {month}"
        day -= length
    raise AssertionError("unreachable: 365 days are twelve months")


def case_from_mapping(values: Mapping[str, Any]) -> Case:
    """A case from plain data; what is left out keeps its published value.

    >>> case_from_mapping({"cultivar": "PC0001", "soil": {"runoff_curve": 80.0}}).soil.runoff_curve
    80.0
    >>> case_from_mapping({"soil": {"colour": "red"}})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'soil.colour' must be one of 'name', 'albedo', ...
    """
    return _override(PUBLISHED, values, "")


def case_from_toml(path: str | Path) -> Case:
    """A case from a TOML file with the fields of :class:`Case`; ``[[fertiliser]]`` and other lists replace whole.

    A file that says ``cultivar = "PC0001"`` and nothing else changes the cultivar and nothing else.
    """
    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except FileNotFoundError:
        raise ArgumentError("case", "the path of a TOML file", str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError("case", f"a TOML file ({error})", str(path)) from None
    return case_from_mapping(values)


def _override(base: T, values: Mapping[str, Any], prefix: str) -> T:
    names = [field.name for field in fields(base)]  # type: ignore[arg-type]
    changes: dict[str, Any] = {}
    for key, value in values.items():
        if key not in names:
            raise ArgumentError(prefix + key, one_of(names), value)
        old = getattr(base, key)
        if (type(base), key) in _ITEMS:
            changes[key] = _items(_ITEMS[type(base), key], value, prefix + key)
        elif dataclasses.is_dataclass(old):
            if not isinstance(value, Mapping):
                raise ArgumentError(prefix + key, "a table", value)
            changes[key] = _override(old, value, f"{prefix}{key}.")
        else:
            changes[key] = value
    return dataclasses.replace(base, **changes)  # type: ignore[type-var]


def _items(kind: type, values: object, name: str) -> tuple[Any, ...]:
    if not isinstance(values, list | tuple):
        raise ArgumentError(name, "a list of tables", values)
    return tuple(_item(kind, value, name) for value in values)


def _item(kind: type, value: object, name: str) -> Any:
    if not isinstance(value, Mapping):
        raise ArgumentError(name, "a list of tables", value)
    names = [field.name for field in fields(kind)]
    for key in value:
        if key not in names:
            raise ArgumentError(f"{name}.{key}", one_of(names), value[key])
    needed = [field.name for field in fields(kind) if field.default is dataclasses.MISSING]
    for key in needed:
        if key not in value:
            raise ArgumentError(f"{name}.{key}", "given", "nothing")
    return kind(**value)
