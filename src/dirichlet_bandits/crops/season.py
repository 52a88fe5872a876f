"""A maize season as data: what is planted where, with the published case as the default of every field.

The published case is a rain-fed maize field on a generic shallow sand near Gainesville, Florida; its weather
comes from the station's own generator. Every class refuses values that the model would misread: a field declares what
it allows, ``albedo: float = number(0.01, 0.99, default=0.15)``, and ``__post_init__`` calls :func:`check_fields`.
"""

import dataclasses
import itertools
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.validation import number_within, text_like, tuple_of, whole_number

Check = Callable[[str, Any], Any]


def number(low: float, high: float, **default: Any) -> Any:
    """Declare a field that is a number from ``low`` to ``high``."""
    return _field(lambda name, value: number_within(name, value, low, high), default)


def whole(low: int, high: int, **default: Any) -> Any:
    """Declare a field that is a whole number from ``low`` to ``high``."""
    return _field(lambda name, value: whole_number(name, value, at_least=low, at_most=high), default)


def code(pattern: str, expected: str, **default: Any) -> Any:
    """Declare a field that is text of this pattern, which messages call ``expected``."""
    return _field(lambda name, value: text_like(name, value, pattern, expected), default)


def several(kind: type, low: int, high: int, **default: Any) -> Any:
    """Declare a field that is a tuple of ``low`` to ``high`` objects of this class."""
    return _field(lambda name, value: tuple_of(name, value, kind, low, high), default, item=kind)


def part(kind: type) -> dict[str, Check]:
    """Return the metadata of a field that is an object of this class, made by a ``default_factory``."""

    def check(name: str, value: object) -> object:
        if not isinstance(value, kind):
            raise ArgumentError(name, f"a {kind.__name__}", value)
        return value

    return {"check": check}


def _field(check: Check, default: dict[str, Any], item: type | None = None) -> Any:
    return dataclasses.field(metadata={"check": check, "item": item}, **default)


def check_fields(item: Any, prefix: str = "") -> None:
    """Refuse an object if a field is not what it is declared to be; ``prefix`` names where the object belongs."""
    for field in dataclasses.fields(item):
        checked = field.metadata["check"](prefix + field.name, getattr(item, field.name))
        object.__setattr__(item, field.name, checked)


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


MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True)
class Month:
    """A month of the weather generator: solar radiation (MJ/m2/d), temperatures (C) and rain, on dry and wet days.

    >>> published_climate().months[0].rain
    84.0
    """

    solar: float = number(0, 50)
    warmest: float = number(-60, 60)
    coldest: float = number(-60, 60)
    rain: float = number(0, 9999)
    rain_days: float = number(0, 31)
    solar_dry: float = number(0, 50)
    solar_dry_sd: float = number(0, 25)
    solar_wet: float = number(0, 50)
    solar_wet_sd: float = number(0, 25)
    warmest_dry: float = number(-60, 60)
    warmest_dry_sd: float = number(0, 25)
    warmest_wet: float = number(-60, 60)
    warmest_wet_sd: float = number(0, 25)
    coldest_sd: float = number(0, 25)
    rain_shape: float = number(0.01, 0.998)
    wet_after_dry: float = number(0, 1)

    def __post_init__(self) -> None:
        check_fields(self, "climate.months.")


@dataclass(frozen=True)
class Climate:
    """A weather station and its generator, with one :class:`Month` per month.

    >>> published_climate().station
    'UFGA'
    """

    months: tuple[Month, ...] = several(Month, 12, 12)
    station: str = code("[A-Z0-9]{4}", "four capital letters or digits", default="UFGA")
    latitude: float = number(-66, 66, default=29.63)
    longitude: float = number(-180, 180, default=-82.37)
    elevation: float = number(-400, 6000, default=10.0)
    temperature: float = number(-30, 50, default=20.9)
    amplitude: float = number(0, 60, default=13.0)
    solar: float = number(0, 50, default=16.5)
    warmest: float = number(-60, 60, default=27.4)
    coldest: float = number(-60, 60, default=14.4)
    rain: float = number(0, 20000, default=1300.0)
    first_year: int = whole(1800, 2100, default=1958)
    years: int = whole(1, 300, default=49)
    angstrom_a: float = number(0, 1, default=0.25)
    angstrom_b: float = number(0, 1, default=0.50)
    reference_height: float = number(0.1, 20, default=2.0)
    wind_height: float = number(0.1, 20, default=3.0)

    def __post_init__(self) -> None:
        check_fields(self, "climate.")
        for month, length in zip(self.months, MONTH_LENGTHS, strict=True):
            if month.rain_days > length:
                raise ArgumentError("climate.months.rain_days", f"at most {length} here", month.rain_days)


def published_climate() -> Climate:
    """Return the station of the published case: Gainesville, Florida, 49 years from 1958.

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


DATES: tuple[int, ...] = (57, 72, 87, 102, 117, 132, 147)
"""The seven planting dates, as days of the year."""

SPRING: tuple[int, ...] = DATES[:4]
"""The four early dates: the hard problem, where the third is best by a small gap."""

LAST_DAY = 300
"""Latest planting day: a season must be over before the simulation of the next year starts."""

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Fertilizer:
    """One application of nitrogen, ``day`` days after planting.

    >>> Fertilizer(40, 27.0).material
    'FE001'
    """

    day: int = whole(0, 300)
    nitrogen: float = number(0, 2000)
    depth: float = number(0, 200, default=10.0)
    material: str = code(r"FE\d{3}", "a code such as 'FE001'", default="FE001")
    application: str = code(r"AP0(0[1-9]|1\d|20)", "a code 'AP001' to 'AP020'", default="AP001")

    def __post_init__(self) -> None:
        check_fields(self, "fertilizer.")


@dataclass(frozen=True)
class Case:
    """Everything that the model needs except the planting day and the seed of the weather.

    >>> Case().cultivar
    'PC0005'
    >>> Case(density=0)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'density' must be a number from 0.1 to 100 (got 0)

    References
    ----------
    Jones et al. (2003), The DSSAT cropping system model, European Journal of Agronomy 18.
    """

    cultivar: str = code("[A-Z0-9]{6}", "six capital letters or digits, such as 'PC0005'", default="PC0005")
    density: float = number(0.1, 100, default=7.2)
    row_spacing: float = number(1, 300, default=61.0)
    depth: float = number(0.5, 50, default=7.0)
    first_day: int = whole(1, LAST_DAY, default=56)
    first_year: int = whole(1960, 2000, default=1982)
    soil: Soil = dataclasses.field(default_factory=Soil, metadata=part(Soil))
    start: Start = dataclasses.field(default_factory=Start, metadata=part(Start))
    fertilizer: tuple[Fertilizer, ...] = several(
        Fertilizer, 0, 100, default=(Fertilizer(40, 27.0), Fertilizer(45, 35.0), Fertilizer(80, 54.0))
    )
    climate: Climate = dataclasses.field(default_factory=published_climate, metadata=part(Climate))

    def __post_init__(self) -> None:
        check_fields(self)

    def check_day(self, day: object, name: str = "day") -> int:
        """Return the planting day; refuse it unless it lies in the simulated part of the year."""
        return whole_number(name, day, at_least=self.first_day, at_most=LAST_DAY)


PUBLISHED = Case()
"""The published case."""


def date_label(day: int) -> str:
    """Return the date of a day of the year, in a year that is not a leap year.

    >>> date_label(57), date_label(147)
    ('26 Feb', '27 May')
    """
    day = whole_number("day", day, at_least=1, at_most=365)
    for month, length in zip(MONTHS, MONTH_LENGTHS, strict=True):
        if day <= length:
            return f"{day} {month}"
        day -= length
    raise AssertionError("unreachable: 365 days are twelve months")


def case_from_mapping(values: Mapping[str, Any]) -> Case:
    """Return a case from plain data; fields that are left out keep their published values.

    >>> case_from_mapping({"cultivar": "PC0001", "soil": {"runoff_curve": 80.0}}).soil.runoff_curve
    80.0
    >>> case_from_mapping({"soil": {"color": "red"}})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'soil.color' must be one of 'name', 'albedo', ...
    """
    case: Case = _made(Case, PUBLISHED, values, "")
    return case


def case_from_toml(path: str | Path) -> Case:
    """Read a case from a TOML file with the fields of :class:`Case`; lists (``[[fertilizer]]``) are replaced entirely.

    A file that contains only ``cultivar = "PC0001"`` changes only the cultivar.
    """
    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except FileNotFoundError:
        raise ArgumentError("case", "the path of a TOML file", str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError("case", f"a TOML file ({error})", str(path)) from None
    return case_from_mapping(values)


def _made(kind: type, base: object, values: object, where: str) -> Any:
    """Return an object of a class from a table; fields that it leaves out are those of ``base``, if there is one."""
    if not isinstance(values, Mapping):
        raise ArgumentError(where, "a table", values)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    given = {} if base is None else {name: getattr(base, name) for name in fields}
    for key, value in values.items():
        path = f"{where}.{key}".removeprefix(".")
        if key not in fields:
            raise ArgumentError(path, one_of(fields), value)
        if item := fields[key].metadata.get("item"):
            if not isinstance(value, list | tuple):
                raise ArgumentError(path, "a list of tables", value)
            value = tuple(_made(item, None, one, path) for one in value)
        elif dataclasses.is_dataclass(old := given.get(key)):
            value = _made(type(old), old, value, path)
        given[key] = value
    for name, field in fields.items():
        if name not in given and field.default is dataclasses.MISSING:
            raise ArgumentError(f"{where}.{name}", "given", "nothing")
    return kind(**given)
