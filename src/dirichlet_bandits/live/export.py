"""The log of a study: its rounds, its trials as a table and as files, and what is left of it if events are missing."""

import json
import math
from collections.abc import Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dirichlet_bandits.errors import ArgumentError, require
from dirichlet_bandits.files import plain_text, whole_file
from dirichlet_bandits.inference.logged_rounds import LoggedRounds
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live.event import Event, NewTrial, OfArms, OfTrial
from dirichlet_bandits.live.events import ArmAdded, Asked, PastAdded, event_of
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.records import Revision, TrialRecord, written
from dirichlet_bandits.storage.events import Row, intact
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    import pandas as pd

_TEXTS = ("arm", "reason", "note", "segment", "unit")


def trials(journal: Journal) -> "pd.DataFrame":
    """Return one row per trial."""
    pd = whole_module("pandas")

    records = journal.records.trials
    of = SimpleNamespace(**{field.name: [getattr(one, field.name) for one in records] for field in fields(TrialRecord)})

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
            "note": pd.Series([said and said.get("note") for said in of.annotation], dtype="str"),
            "attributes": pd.Series([written(said and said.get("attributes")) for said in of.annotation], dtype="str"),
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


# What can be read of a study with missing events: enough to export it, but not to continue it


class Recovered(NamedTuple):
    """Consecutive events, and the ids that the study gave to their trials 0, 1, 2, ..."""

    events: Sequence[Row]
    ids: Sequence[int]


@intact("the study")
def recover(events: Sequence[Row]) -> Recovered:
    """Renumber events and trials, leaving out what was reported about missing trials.

    If the event of a reward is missing, a trial that was voided counts as abandoned, and one that was corrected as
    told at that time. Placeholders replace missing arms. If the beginning of a round is missing, its propensities are
    NaN.
    """
    if not events or events[-1].number + 1 == len(events):
        return Recovered(events, range(sum(isinstance(event_of(row), NewTrial) for row in events)))
    whole: list[Row] = []
    journal = Journal()
    trials: dict[int, int] = {}
    expected, torn = 0, False
    sound: set[str | None] = set()  # segments whose rounds are whole since the last gap

    def add(event: Event, row: Row) -> None:
        whole.append(event.row(len(whole), row.at, row.token, row.actor))
        journal.apply(whole[-1:])

    for row in events:
        if row.number != expected:
            torn = True
            sound.clear()
        expected = row.number + 1
        event = event_of(row)
        if isinstance(event, OfTrial) and not isinstance(event, NewTrial):
            if event.trial in trials:
                event.trial = trials[event.trial]
                for fitting in event.recovered(journal.records.trial(event.trial)):
                    add(fitting, row)
            continue
        if not event.recoverable:
            continue
        while row.arm is not None and len(journal.names) < row.arm + (not isinstance(event, ArmAdded)):
            add(ArmAdded(len(journal.names), f"arm {len(journal.names)}, whose name is missing"), row)
        if isinstance(event, Asked):
            lost = event.first is not None and event.first not in trials
            if event.first is not None and not lost:
                event.first = trials[event.first]
            elif lost or (torn and event.segment not in sound):
                add(ArmAdded(event.arm, None), row)  # ends the round of which the rest is missing, and those of others
                sound = {event.segment}
                event.first = None
                if event.propensities is None:
                    event.propensities = np.full(len(journal.names), np.nan).tobytes()
                    sound.clear()
        if isinstance(event, NewTrial):
            trials[event.trial] = len(trials)
            event.trial = len(trials) - 1
        add(event, row)
    return Recovered(whole, list(trials))


# The rounds of a study, read from its events: which arms could have been in each, with which probability


@intact("the study")
def read_rounds(events: Sequence[Row]) -> tuple[Journal, LoggedRounds]:
    """Read the rounds from events that were read with their data, and the journal of these events."""
    journal = Journal()
    journal.apply(events)
    n = len(journal.arm_of)
    found: list[bytes] = []
    row_of_trial = np.empty(n, np.int64)
    complete: list[bool] = []
    unknown: list[int] = []
    left: dict[str | None, float] = {}  # arms to come in the round of each segment
    current: dict[str | None, int] = {}
    for event in map(event_of, events):
        if isinstance(event, Asked):
            segment, every = event.segment, event.propensities
            if event.first is not None:
                row_of_trial[event.trial] = row_of_trial[event.first] if every is None else len(found)
                found += [] if every is None else [every]
                complete += [] if every is None else [False]
                continue
            if every is not None:
                found.append(every)
                complete.append(True)
                current[segment] = len(found) - 1
                left[segment] = len(event.rest or ())
            else:
                left[segment] -= 1
            left[segment] = math.inf if event.trial in journal.repeats else left[segment]
            complete[current[segment]] = left[segment] == 0
            row_of_trial[event.trial] = current[segment]
        elif isinstance(event, PastAdded):
            if event.propensities is None:
                unknown.append(len(found))
            row_of_trial[event.trial] = len(found)
            found.append(event.propensities or b"")
            complete.append(event.propensities is not None)
        elif isinstance(event, OfArms):
            left = dict.fromkeys(left, 0)
    matrix = _matrix(found, len(journal.names))
    matrix[unknown] = np.nan
    records = journal.records.trials
    past = row_of_trial[[trial for trial, record in enumerate(records) if record.past]]
    own = [trial for trial in journal.counted if not records[trial].past]
    last = max(row_of_trial[own], default=len(found))
    counted = np.array(complete, bool)
    counted[np.setdiff1d(np.arange(last + 1, len(found)), past)] = False
    arms, chances = np.array(journal.arm_of, np.int64), np.array([one.propensity for one in records], np.float64)
    rewards = np.full(n, math.nan)
    rewards[journal.told.trials] = journal.told.rewards
    counts = ~np.isin(np.arange(n), list(journal.repeats))
    return journal, LoggedRounds(journal.names, matrix, counted, row_of_trial, arms, chances, rewards, counts)


def _matrix(found: list[bytes], n_arms: int) -> Floats:
    """Return propensities as rows; arms that were added later have 0."""
    matrix = np.zeros((len(found), n_arms))
    sizes = np.array([len(data) // 8 for data in found], np.int64)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        matrix[rows, :size] = np.frombuffer(b"".join(found[row] for row in rows), "<f8").reshape(rows.size, size)
    return matrix
