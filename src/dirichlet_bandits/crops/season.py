"""A maize season as data: what is planted where, with the published case as the default of every field.

The published case is a rain-fed maize field on a generic shallow sand near Gainesville, Florida; its weather
comes from the station's own generator. Every class refuses values that the model would misread.
"""

from dataclasses import dataclass, field

from dirichlet_bandits.crops.climate import MONTH_LENGTHS, Climate, published_climate
from dirichlet_bandits.crops.fields import check_fields, code, number, part, several, whole
from dirichlet_bandits.crops.soil import Soil, Start
from dirichlet_bandits.validation import whole_number

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
    soil: Soil = field(default_factory=Soil, metadata=part(Soil))
    start: Start = field(default_factory=Start, metadata=part(Start))
    fertilizer: tuple[Fertilizer, ...] = several(
        Fertilizer, 0, 100, default=(Fertilizer(40, 27.0), Fertilizer(45, 35.0), Fertilizer(80, 54.0))
    )
    climate: Climate = field(default_factory=published_climate, metadata=part(Climate))

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
