"""Tables of a study's trials, and their export to files."""

import json
import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dirichlet_bandits.errors import ArgumentError, require
from dirichlet_bandits.files import plain_text, whole_file
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live.annotations import written
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.logged_rounds import read_rounds
from dirichlet_bandits.live.records import Revision, TrialRecord
from dirichlet_bandits.live.recovery import recover
from dirichlet_bandits.storage.events import Row

if TYPE_CHECKING:
    import pandas as pd

_TEXTS = ("arm", "reason", "note", "segment", "unit")


def trials(journal: Journal) -> "pd.DataFrame":
    """Return one row per trial."""
    pd = whole_module("pandas")

    records = [journal.records.trial(trial) for trial in range(len(journal.arm_of))]
    columns = zip(*records, strict=True) if records else [()] * len(TrialRecord._fields)
    of: Any = TrialRecord(*columns)  # of columns

    return pd.DataFrame(
        {
            "arm": [journal.names[arm] for arm in of.arm],
            "propensity": np.array(of.propensity, np.float64),
            "round": np.array(of.round, np.int64),
            "status": list(of.status),
            "reward": np.array(of.reward, np.float64),
            "asked_at": pd.to_datetime(np.array(of.asked_at, np.float64), unit="s", utc=True),
            "ended_at": pd.to_datetime(np.array(of.ended_at, np.float64), unit="s", utc=True),
            "original": np.array([past[0].reward if past else math.nan for past in of.revisions], np.float64),
            "reason": pd.Series([past[-1].reason if past else None for past in of.revisions], dtype="str"),
            "revisions": pd.Series([_written_history(past) for past in of.revisions], dtype="str"),
            "note": pd.Series([said.get("note") for said in of.annotation], dtype="str"),
            "attributes": pd.Series([written(said.get("attributes")) for said in of.annotation], dtype="str"),
            "late": list(of.late),
            "segment": pd.Series(of.segment, dtype="str"),
            "unit": pd.Series(of.unit, dtype="str"),
        },
        index=pd.RangeIndex(len(records), name="trial"),
    )


def _written_history(past: Sequence[Revision]) -> str | None:
    """Return all rewards of a trial, with reasons, as one text; None if the first reward was never changed.

    >>> _written_history([Revision(31.0, None), Revision(3.1, "a digit too many"), Revision(None, "the wrong plot")])
    '[{"reward": 31.0}, {"reward": 3.1, "reason": "a digit too many"}, {"reward": null, "reason": "the wrong plot"}]'
    """
    steps = [{"reward": reward, **({} if reason is None else {"reason": reason})} for reward, reason in past]
    return json.dumps(steps, ensure_ascii=False) if steps else None


def checked_file(path: str | PathLike[str]) -> tuple[Path, str]:
    """Return the path of a file of trials, and its format."""
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".parquet", ".csv"):
        raise ArgumentError("path", "a file that ends in .parquet or .csv", str(path))
    if not target.parent.is_dir():
        raise ArgumentError("path", "in a folder that exists", str(path))
    return target, kind[1:]


def write(events: Sequence[Row], path: str | PathLike[str]) -> None:
    """Write trials with a column ``propensity of ARM`` for each arm, in the format of the file's suffix."""
    pd = whole_module("pandas")

    target, kind = checked_file(path)
    if kind == "parquet":
        require("pyarrow", "Parquet files need", "live")
    recovered = recover(events)
    journal, log = read_rounds(recovered.events)
    frame = trials(journal)
    frame.index = pd.Index(recovered.ids, name=frame.index.name)
    for arm, name in enumerate(log.names):
        frame[f"propensity of {name}"] = log.propensities[log.row, arm]
    with whole_file(target) as draft:
        if kind == "parquet":
            whole_module("pyarrow.parquet")
            frame.to_parquet(draft)
        else:
            texts = {column: frame[column].map(plain_text, na_action="ignore") for column in _TEXTS}
            frame.assign(**texts).to_csv(draft)
