"""The weather: a station and the monthly parameters of its weather generator."""

from dataclasses import dataclass

from dirichlet_bandits.crops.fields import check_fields, code, number, several, whole
from dirichlet_bandits.errors import ArgumentError

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
