"""Past data: trials that were decided elsewhere, with their rewards."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.csv_tables import BLANK, Table, is_blank
from dirichlet_bandits.errors import ArgumentError, RewardError
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live import lateness
from dirichlet_bandits.live.events import PastAdded
from dirichlet_bandits.live.journal import LATEST, Journal
from dirichlet_bandits.storage.actors import actor
from dirichlet_bandits.storage.events import Row
from dirichlet_bandits.validation import finite_number, reward_number

if TYPE_CHECKING:
    import pandas as pd

    from dirichlet_bandits.live.study import Study

SMALLEST_PROPENSITY: Final = 1e-50
"""Estimates divide by it: the square of the largest reward over it must still be a number."""

_PROPENSITY: Final = f"a probability of at least {SMALLEST_PROPENSITY:g}, or nothing"
_TIMES: Final = "dates and times after 1684 and before 2256, such as '2026-03-13' or '2026-03-13T08:30+01:00'"
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
    if any(time is not None and math.isnan(time) for time in times):
        raise ArgumentError("time", _TIMES, table["time"].tolist()[:3])
    rows = []
    for k, (arm, reward, time, chance) in enumerate(zip(arms, rewards, times, chances, strict=True)):
        if not isinstance(arm, str):
            raise ArgumentError(f"arm[{k}]", "the name of an arm", arm)
        rows.append(Past(arm, reward_number(f"reward[{k}]", reward), time, _propensity(f"propensity[{k}]", chance)))
    return rows


def rewards_by_arm(frame: "Mapping[str, Any] | pd.DataFrame") -> dict[str, list[float]]:
    """Return the rewards of a table by arm.

    >>> rewards_by_arm({"arm": ["red", "blue", "red"], "reward": [1.0, 0.0, 2.0]})
    {'red': [1.0, 2.0], 'blue': [0.0]}
    """
    found: dict[str, list[float]] = {}
    for arm, reward in zip(frame["arm"], frame["reward"], strict=True):
        found.setdefault(arm, []).append(reward)
    return found


def _propensity(name: str, x: object) -> float | None:
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return None
    number = finite_number(name, x)
    if not SMALLEST_PROPENSITY <= number <= 1.0:
        raise ArgumentError(name, _PROPENSITY, x)
    return number


def _times(column: "pd.Series[Any]") -> list[float | None]:
    """Return times as seconds since 1970; None stands for a missing time, and NaN for what is no time."""
    import pandas as pd

    def is_time(x: object) -> bool:  # pandas reads "now" and "today" as times, and numbers as nanoseconds
        return x[:1].isdigit() if isinstance(x, str) else not isinstance(x, int | float | np.number)

    missing = column.isna() | column.map(lambda x: isinstance(x, str) and is_blank(x)).astype(bool)
    texts = column.astype(object).where(column.map(is_time).astype(bool) & ~missing, None)
    read = pd.to_datetime(texts, utc=True, format="ISO8601", errors="coerce")
    seconds = [math.nan if pd.isna(time) else float(time.timestamp()) for time in read]
    return [None if gone else x if abs(x) < LATEST else math.nan for x, gone in zip(seconds, missing, strict=True)]


def read_file(table: Table, at: Mapping[str, int], study: "Study | None" = None) -> dict[str, list[Any]]:
    """Return the trials in a file as ``add_trials`` takes them, checked for a study if there is one."""
    import pandas as pd

    table.leave_out(at["arm"], at["reward"])
    arms = table.names(at["arm"], () if study is None else study._read().names)
    rewards = table.numbers(at["reward"])
    for k, reward in enumerate(rewards):
        try:
            if study is not None and not math.isnan(reward):
                study._reward(reward)
        except ArgumentError as error:
            table.wrong(k, at["reward"], error.args[1])
        except RewardError as error:
            table.problem(k, at["reward"], f"does not fit the policy: {error}")
    frame: dict[str, list[Any]] = {"arm": arms, "reward": rewards}
    if "time" in at:
        frame["time"] = [line.cells[at["time"]] or None for line in table.lines]
        for k, time in enumerate(_times(pd.Series(frame["time"], dtype=object))):
            if time is not None and math.isnan(time):
                table.wrong(k, at["time"], _TIMES)
    if "propensity" in at:
        frame["propensity"] = table.numbers(at["propensity"], BLANK)
        for k, chance in enumerate(frame["propensity"]):
            if not (math.isnan(chance) or SMALLEST_PROPENSITY <= chance <= 1.0):
                table.wrong(k, at["propensity"], _PROPENSITY)
    table.check()
    return frame


Place = tuple[int, int, int]  # the number of the next event, its trial, and how many arms there are


def place_in(journal: Journal) -> Place:
    """Return the place after the last event."""
    return journal.last + 1, len(journal.arm_of), len(journal.names)


def past_events(rows: Sequence[Past], arm_of: Mapping[str, int], place: Place, token: str | None) -> list[Row]:
    """Return the events of past trials, the first of them at this place.

    A known propensity is that of the row's arm; those of other arms that could have come are NaN, and the rest are 0.
    """
    possible = sorted({arm_of[row.arm] for row in rows if row.propensity is not None})
    number, trial, n_arms = place
    now, who = lateness.clock(), actor()

    @cache
    def of_all(arm: int, propensity: float | None) -> bytes | None:
        if propensity is None:
            return None
        chances = np.zeros(n_arms)
        if propensity < 1.0:
            chances[possible] = np.nan
        chances[arm] = propensity
        return chances.astype("<f8").tobytes()

    events = []
    for k, (name, reward, time, propensity) in enumerate(rows):
        arm = arm_of[name]
        at = now if time is None else time
        past = PastAdded(trial + k, arm, reward, of_all(arm, propensity), propensity)
        events.append(past.row(number + k, at, token, who))
    return events
