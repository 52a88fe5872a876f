"""A study as tables."""

import importlib.util
import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dirichlet_bandits.arms import CVaR, Empirical, Mean
from dirichlet_bandits.errors import ArgumentError, MissingExtraError
from dirichlet_bandits.files import whole_file
from dirichlet_bandits.live.intervals import Interval, asymptotic, empirical_bernstein
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.mending import mend
from dirichlet_bandits.live.risk import checked_bounds, cvar_sequences
from dirichlet_bandits.live.rounds import read_rounds
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import Event
from dirichlet_bandits.validation import number_between

if TYPE_CHECKING:
    import pandas as pd

BOUNDED = "empirical-Bernstein confidence sequence: any law within the policy's bounds"
UNBOUNDED = "asymptotic confidence sequence: any law with a variance, many rewards"


def summary(
    journal: Journal, policy: Policy, level: float, bounds: tuple[float, float] | None = None
) -> "pd.DataFrame":
    """A row an arm; ``bounds`` of the rewards where the policy does not know them."""
    import pandas as pd

    number_between("level", level, 0, 1)
    lower, upper = checked_bounds(bounds, policy, journal.told_rewards)
    bounded = math.isfinite(lower) and math.isfinite(upper)
    arms, rewards = np.array(journal.told_arms, np.int64), np.array(journal.told_rewards)
    handed_out = np.bincount(np.array(journal.arm_of, np.int64), minlength=len(journal.names))
    rows = []
    for arm, name in enumerate(journal.names):
        x = rewards[arms == arm]
        interval = Interval(lower, upper)
        if x.size:
            interval = empirical_bernstein(x, lower, upper, level) if bounded else asymptotic(x, level)
        told, pending = journal.n_told[arm], journal.n_pending[arm]
        rows.append(
            {
                "arm": name,
                "active": journal.active[arm],
                "told": told,
                "pending": pending,
                "abandoned": int(handed_out[arm]) - told - pending,
                "mean": x.mean() if x.size else math.nan,
                "std": x.std(ddof=1) if x.size > 1 else math.nan,
                "low": interval.low,
                "high": interval.high,
            }
        )
    frame = pd.DataFrame(rows).set_index("arm")
    if not isinstance(policy.objective, Mean):
        told_to = [rewards[arms == arm] for arm in range(len(journal.names))]
        frame["value"] = [policy.objective.value(Empirical(x)) if x.size else math.nan for x in told_to]
    frame.attrs["objective"] = policy.objective.name
    frame.attrs["interval"] = BOUNDED if bounded else UNBOUNDED
    frame.attrs["level"] = level
    if isinstance(policy.objective, CVaR):
        ends, words = cvar_sequences(journal, policy.objective.level, (lower, upper), level)
        frame["value_low"], frame["value_high"] = [end.low for end in ends], [end.high for end in ends]
        frame.attrs["value_interval"] = words
    return frame


def trials(journal: Journal) -> "pd.DataFrame":
    """A row a trial."""
    import pandas as pd

    ids = range(len(journal.arm_of))
    return pd.DataFrame(
        {
            "arm": [journal.names[arm] for arm in journal.arm_of],
            "propensity": np.array(journal.propensity_of, np.float64),
            "round": np.array(journal.round_of, np.int64),
            "status": [journal.status(trial) for trial in ids],
            "reward": np.array([journal.reward_of.get(trial, math.nan) for trial in ids], np.float64),
            "asked_at": pd.to_datetime(np.array(journal.asked_at, np.float64), unit="s", utc=True),
            "ended_at": pd.to_datetime(
                np.array([journal.ended_at.get(trial, math.nan) for trial in ids], np.float64), unit="s", utc=True
            ),
        },
        index=pd.RangeIndex(len(ids), name="trial"),
    )


def write(events: Sequence[Event], path: str | PathLike[str]) -> None:
    """Trials with a column ``propensity of ARM`` for each arm, to a file by its ending."""
    import pandas as pd

    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".parquet", ".csv"):
        raise ArgumentError("path", "a file that ends in .parquet or .csv", str(path))
    if kind == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("Parquet files need the extra 'live': pip install 'dirichlet-bandits[live]'")
    if not target.parent.is_dir():
        raise ArgumentError("path", "in a folder that exists", str(path))
    mended = mend(events)
    rounds = read_rounds(mended.events)
    frame = trials(rounds.journal)
    frame.index = pd.Index(mended.ids, name=frame.index.name)
    row_of_trial = rounds.row_of_trial
    for arm, name in enumerate(rounds.journal.names):
        frame[f"propensity of {name}"] = rounds.propensities[row_of_trial, arm]
    with whole_file(target) as draft:
        if kind == ".parquet":
            frame.to_parquet(draft)
        else:
            frame.assign(arm=frame["arm"].map(_plain_text)).to_csv(draft)


def _plain_text(name: str) -> str:
    """A name that no spreadsheet takes for a formula: a quote before it, which also goes before a quote.

    >>> [_plain_text(name) for name in ("=1+1", "-5 days", "'n", "26 Feb")]
    ["'=1+1", "'-5 days", "''n", '26 Feb']
    """
    return "'" + name if name.startswith(("=", "+", "-", "@", "'")) else name
