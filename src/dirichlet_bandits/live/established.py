"""A winner that was named, as the study stores it."""

import json
from typing import Any, NamedTuple

from dirichlet_bandits.errors import FormatError


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
