"""Past data: trials that were decided elsewhere, with their rewards."""

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live.journal import LATEST
from dirichlet_bandits.validation import finite_number, reward_number

if TYPE_CHECKING:
    import pandas as pd

SMALLEST_PROPENSITY: Final = 1e-50
"""Estimates divide by it: the square of the largest reward over it must still be a number."""

_NEEDED = ("arm", "reward")
_OPTIONAL = ("time", "propensity")


class Past(NamedTuple):
    """A past trial; its time, in seconds since 1970, and its propensity may be unknown."""

    arm: str
    reward: float
    time: float | None
    propensity: float | None


def read_past(frame: "pd.DataFrame | Any") -> list[Past]:
    """Check and return the rows of a table, or of anything that pandas can turn into one.

    >>> read_past({"arm": ["red"], "reward": [1], "time": ["2026-03-01"]})
    [Past(arm='red', reward=1.0, time=1772323200.0, propensity=None)]
    >>> read_past({"arm": ["red"], "rewards": [1]})
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'frame' must be a table with columns arm, reward, and perhaps time, \
propensity, and no others (got ['arm', 'rewards'])
    """
    pd = whole_module("pandas")

    expected = f"a table with columns {', '.join(_NEEDED)}, and perhaps {', '.join(_OPTIONAL)}, and no others"
    try:
        table = pd.DataFrame(frame)
    except (TypeError, ValueError):
        raise ArgumentError("frame", expected, frame) from None
    columns = list(table.columns)
    if not set(_NEEDED) <= set(columns) <= {*_NEEDED, *_OPTIONAL} or len(set(columns)) < len(columns):
        raise ArgumentError("frame", expected, columns)
    arms, rewards = table["arm"].tolist(), table["reward"].tolist()
    times = _times(table["time"]) if "time" in columns else [None] * len(arms)
    chances = table["propensity"].tolist() if "propensity" in columns else [None] * len(arms)
    rows = []
    for k, (arm, reward, time, chance) in enumerate(zip(arms, rewards, times, chances, strict=True)):
        if not isinstance(arm, str):
            raise ArgumentError(f"arm[{k}]", "the name of an arm", arm)
        rows.append(Past(arm, reward_number(f"reward[{k}]", reward), time, _propensity(f"propensity[{k}]", chance)))
    return rows


def _propensity(name: str, x: object) -> float | None:
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return None
    number = finite_number(name, x)
    if not SMALLEST_PROPENSITY <= number <= 1.0:
        raise ArgumentError(name, f"a probability of at least {SMALLEST_PROPENSITY:g}, or nothing", x)
    return number


def _times(column: "pd.Series[Any]") -> list[float | None]:
    import pandas as pd

    expected = "dates and times, or texts such as '2026-03-13' or '2026-03-13T08:30+01:00'"
    if pd.api.types.is_numeric_dtype(column) and column.notna().any():  # pandas would take them for nanoseconds
        raise ArgumentError("time", expected, column.tolist()[:3])
    try:
        read = pd.to_datetime(column, utc=True, format="ISO8601")
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError("time", expected, column.tolist()[:3]) from None
    seconds = [None if pd.isna(time) else float(time.timestamp()) for time in read]
    if any(second is not None and abs(second) >= LATEST for second in seconds):
        raise ArgumentError("time", "times between the years 1685 and 2255", column.tolist()[:3])
    return seconds


def chances_of(row: Past, arm: int, possible: list[int], n_arms: int) -> bytes | None:
    """Return the known propensities: that of this arm, NaN for others that could have come, 0 for the rest."""
    if row.propensity is None:
        return None
    chances = np.zeros(n_arms)
    if row.propensity < 1.0:
        chances[possible] = np.nan
    chances[arm] = row.propensity
    return chances.astype("<f8").tobytes()
