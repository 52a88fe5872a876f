"""Past data: trials that were decided elsewhere, with their rewards."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.csv_tables import BLANK, CSVTable, is_blank
from dirichlet_bandits.declared import number
from dirichlet_bandits.errors import ArgumentError, RewardError
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.journal import LATEST
from dirichlet_bandits.validation import finite_number, reward_number

if TYPE_CHECKING:
    import pandas as pd

    from dirichlet_bandits.live.study import Study

SMALLEST_PROPENSITY: Final = 1e-50
"""Estimates divide by it: the square of the largest reward over it must still be a number."""

_PROPENSITY: Final = f"a probability of at least {SMALLEST_PROPENSITY:g}, or nothing"
_TIMES: Final = "dates and times after 1684 and before 2256, such as '2026-03-13' or '2026-03-13T08:30+01:00'"
_REWARD: Final = number()
_NEEDED = ("arm", "reward")
_OPTIONAL = ("time", "propensity")


class Past(NamedTuple):
    """A past trial; its time, in seconds since 1970, and its propensity may be unknown."""

    arm: str
    reward: float
    time: float | None
    propensity: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the trial as JSON, with its time as text."""
        time = None if self.time is None else datetime.fromtimestamp(self.time, UTC).isoformat()
        return {**self._asdict(), "time": time}


def checked_past(field: str, given: object) -> tuple[Past, ...]:
    """Return past trials, also those that JSON describes.

    >>> checked_past("trials", [{"arm": "red", "reward": 1, "time": "2026-03-01T00:00:00Z"}])
    (Past(arm='red', reward=1.0, time=1772323200.0, propensity=None),)
    """
    if isinstance(given, tuple) and all(type(row) is Past for row in given):
        return given
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ArgumentError(field, "a list of past trials", given)
    rows = []
    for k, row in enumerate(given):
        place = f"{field}[{k}]"
        if not isinstance(row, Mapping) or not set(_NEEDED) <= row.keys() <= {*_NEEDED, *_OPTIONAL}:
            expected = f"an object with {', '.join(_NEEDED)}, and perhaps {', '.join(_OPTIONAL)}, and nothing else"
            raise ArgumentError(place, expected, row)
        arm = checked_name(f"{place}.arm", row["arm"])
        time, chance = row.get("time"), _propensity(f"{place}.propensity", row.get("propensity"))
        rows.append(Past(arm, _REWARD.accept(f"{place}.reward", row["reward"]), _time(f"{place}.time", time), chance))
    return tuple(rows)


def _time(field: str, given: object) -> float | None:
    if given is None:
        return None
    try:
        read = datetime.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:
        read = None
    if read is None or not abs(seconds := read.replace(tzinfo=read.tzinfo or UTC).timestamp()) < LATEST:
        raise ArgumentError(field, _TIMES, given)
    return seconds


def read_past(frame: "pd.DataFrame | Any") -> tuple[Past, ...]:
    """Check and return the rows of a table, or of anything that pandas can turn into one.

    >>> read_past({"arm": ["red"], "reward": [1], "time": ["2026-03-01"]})
    (Past(arm='red', reward=1.0, time=1772323200.0, propensity=None),)
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
    return tuple(rows)


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


def _all_arms(study: "Study") -> list[str]:
    from dirichlet_bandits.live.readings import ReadStudy  # which imports this file

    info = study._transport.do(ReadStudy())
    return [*info.arms, *info.retired]


def read_file(table: CSVTable, at: Mapping[str, int], study: "Study | None" = None) -> dict[str, list[Any]]:
    """Return the trials in a file as a study takes them, checked for a study if there is one."""
    import pandas as pd

    table.leave_out(at["arm"], at["reward"])
    arms = table.names(at["arm"], () if study is None else _all_arms(study))
    rewards = table.numbers(at["reward"])
    for k, reward in enumerate(rewards):
        try:
            if study is not None and not math.isnan(reward):
                study.settings.checked_reward(reward)
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
