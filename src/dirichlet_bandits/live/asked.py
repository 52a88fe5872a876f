"""The note of an ask as JSON: the rest of its round, its segment and its unit."""

import json
from typing import Final, NamedTuple


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
