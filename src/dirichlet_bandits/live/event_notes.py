"""What asks and winners store in the notes of their events, as JSON."""

import json
from typing import Any, Final, NamedTuple

from dirichlet_bandits.errors import FormatError


class Asked(NamedTuple):
    """What is stored with an ask besides its arm and propensities.

    ``rest`` are the arms that the round has yet to assign, with their propensities. ``first`` is the trial that
    assigned the unit's arm, if this ask repeats it.
    """

    rest: list[tuple[int, float]]
    segment: str | None = None
    unit: str | None = None
    first: int | None = None


NOTHING: Final = Asked([])


def written_ask(asked: Asked) -> str | None:
    """Return the note of an ask; without a segment or unit, it is a list, as in older studies.

    >>> written_ask(Asked([(2, 0.5)])), written_ask(Asked([], "clay", "field 7"))
    ('[[2, 0.5]]', '{"segment": "clay", "unit": "field 7"}')
    """
    if asked.segment is None and asked.unit is None:
        return json.dumps(asked.rest) if asked.rest else None
    return json.dumps({key: value for key, value in asked._asdict().items() if value not in (None, [])})


def read_ask(note: str | None) -> Asked:
    """Read the note of an ask."""
    if note is None:
        return NOTHING
    said = json.loads(note)
    if isinstance(said, list):
        return Asked([(arm, chance) for arm, chance in said])
    rest = [(arm, chance) for arm, chance in said.get("rest", [])]
    segment, unit, first = said.get("segment"), said.get("unit"), said.get("first")
    if not all(isinstance(text, str | None) for text in (segment, unit)) or type(first) not in (int, type(None)):
        raise ValueError(note)
    return Asked(rest, segment, unit, first)


class Established(NamedTuple):
    """A winner that was named: the arm, the question that it answers, and the number of trials at that time.

    ``segment`` is that of the question, None in a study without segments.
    """

    arm: int
    delta: float
    margin: float
    trials: int
    proved: bool
    segment: str | None


def written_winner(found: Established) -> str:
    """Return what the event of a winner stores besides the arm and delta.

    >>> written_winner(Established(1, 0.05, 0.0, 400, True, None))
    '{"margin": 0.0, "trials": 400, "proved": true}'
    """
    said = {key: value for key, value in found._asdict().items() if key not in ("arm", "delta") and value is not None}
    return json.dumps(said)


def read_winner(number: int, arm: Any, delta: Any, note: Any, n_arms: int) -> Established:
    """Return the winner that an event names.

    >>> read_winner(7, 1, 0.05, '{"margin": 0.0, "trials": 400, "proved": true}', 2)
    Established(arm=1, delta=0.05, margin=0.0, trials=400, proved=True, segment=None)
    """
    said = json.loads(note)
    good = type(delta) is float and 0.0 < delta < 1.0 and type(arm) is int and 0 <= arm < n_arms
    if not good or not isinstance(said, dict) or type(said["trials"]) is not int:
        raise FormatError(f"event {number} names the winner {arm!r} with {note!r}: the storage is damaged")
    return Established(arm, delta, float(said["margin"]), said["trials"], bool(said["proved"]), said.get("segment"))
