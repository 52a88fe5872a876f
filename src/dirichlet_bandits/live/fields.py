"""The fields of operations and settings: what each accepts, in the words of its errors."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from dirichlet_bandits.csv_tables import WORDS
from dirichlet_bandits.declared import Check, choice, integer, number, pair, read_number, sequence, text
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.direction import MAXIMIZE, MINIMIZE
from dirichlet_bandits.live.floors import Floor, checked_shares
from dirichlet_bandits.live.lateness import ABANDON_LATE, LATE_WORDS, checked_late, seconds
from dirichlet_bandits.live.past_trials import Past, checked_past
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.written import POLICY, as_policy
from dirichlet_bandits.seeding import root_sequence
from dirichlet_bandits.validation import finite_number

MOST_ASKED: Final = 1_000_000
"""Trials of one ask: they are decided and stored all at once."""

MOST_PAST: Final = 100_000
"""Rewards of the past; they are stored with the study's settings."""

SERVED_TRIALS: Final = 1000
SERVED_REWARDS: Final = 10_000
SERVED_ARMS: Final = 1000
"""What one request to a service may hold."""


def read_reward(word: str) -> float | str:
    """Return a number; yes and no are 1 and 0.

    >>> read_reward("3120.5"), read_reward("Yes"), read_reward("no")
    (3120.5, 1.0, 0.0)
    """
    return WORDS[word.lower()] if word.lower() in WORDS else read_number(word)


LONGEST_NOTE: Final = 1000
MOST_ATTRIBUTES: Final = 50

_LARGEST_INTEGER: Final = 10**300  # a reader of JSON need not take more digits than the largest doubles have
_NOTE: Final = text(LONGEST_NOTE, lines=True, example="hail in May")

Name = Annotated[str, text()]
Arm = Annotated[str, text(example="26 Feb"), "Name of the arm."]
Unit = Annotated[str, text(), "Unit that keeps its arm, such as a user."]
Segment = Annotated[str, text(), "Segment of the study, if it has any."]
Reason = Annotated[str, text(example="typed twice"), "Reason, for the log."]
Note = Annotated[str, _NOTE, "Note, which replaces the stored one."]
Count = Annotated[int, integer(1, MOST_ASKED, served=SERVED_TRIALS), "Number of trials."]
Reward = Annotated[
    float, replace(number(flags=True, example=3120.0), read=read_reward), "Reward: a number, or yes and no for 1 and 0."
]
Probability = Annotated[float, number(0, 1)]
Confidence = Annotated[
    float, number(0, 1, strictly=True, example=0.95), "Probability that the interval is right, at all times at once."
]
Delta = Annotated[float, number(0, 1, strictly=True, example=0.05), "Probability of ever naming a wrong winner."]
Margin = Annotated[float, number(), "How much worse than the best arm the winner may be."]
Number = Annotated[float, number()]
Bounds = Annotated[tuple[float, float], pair(), "Bounds of all rewards."]
Names = Annotated[
    Sequence[str], sequence(text(), "a list of names", distinct=True, most=SERVED_ARMS, example=["26 Feb", "13 Mar"])
]
Direction = Annotated[str, choice(MAXIMIZE, MINIMIZE)]


_TRIAL: Final = integer(0, example=0)
TrialId = Annotated[int, _TRIAL, "Id of the trial, as ask returns it."]
TrialIds = Annotated[Sequence[int], sequence(_TRIAL, "a list of trials", most=SERVED_REWARDS)]
Rewards = Annotated[Sequence[float], sequence(number(flags=True, example=1.0), "numbers", most=SERVED_REWARDS)]


def as_given(word: str) -> str | int | float:
    """Return a number if Python writes it the same way, else the text, so that no digit is lost.

    >>> [as_given(word) for word in ("7", "-7.5", "007", "7.50", "9007199254740993", "nan")]
    [7, -7.5, '007', '7.50', 9007199254740993, 'nan']
    """
    for kind in (int, float):
        try:
            found = kind(word)
        except ValueError:
            continue
        if str(found) == word and (kind is int or math.isfinite(found)):
            return found
    return word


def _accepted_attributes(field: str, given: Any) -> dict[str, Any]:
    """Check attributes and return them as they are stored.

    >>> _accepted_attributes("attributes", {"plot": [1]})
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'attributes['plot']' must be a text, a number, True, False or None (got [1])
    """
    if not isinstance(given, Mapping) or len(given) > MOST_ATTRIBUTES:
        raise ArgumentError(field, f"at most {MOST_ATTRIBUTES} values by name", given)
    return {checked_name(field, key): _accepted_attribute(f"{field}[{key!r}]", x) for key, x in given.items()}


def _accepted_attribute(field: str, x: object) -> str | int | float | bool | None:
    if x is None or isinstance(x, bool):
        return x
    if isinstance(x, str):
        return str(_NOTE.accept(field, x))
    if isinstance(x, numbers.Integral):
        if abs(int(x)) >= _LARGEST_INTEGER:
            raise ArgumentError(field, "an integer of at most 300 digits", "one of more")
        return int(x)  # a float would round those beyond 2**53
    try:
        return finite_number(field, x)
    except ArgumentError:
        raise ArgumentError(field, "a text, a number, True, False or None", x) from None


_SCALARS: Final[list[dict[str, Any]]] = [{"type": kind} for kind in ("string", "number", "boolean", "null")]
Attributes = Annotated[
    Mapping[str, Any],
    Check(
        f"at most {MOST_ATTRIBUTES} values by name",
        _accepted_attributes,
        {"type": "object", "additionalProperties": {"anyOf": _SCALARS}, "maxProperties": MOST_ATTRIBUTES},
        as_given,
        example={"plot": 7},
    ),
    "Values to store with the trial, by name.",
]

_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
FloorOfArms = Annotated[
    Floor,
    Check(
        "a number, or numbers by the names of arms",
        checked_shares,
        {"anyOf": [_SHARE, {"type": "object", "additionalProperties": _SHARE}]},
        read_number,
        example=0.1,
        served=SERVED_ARMS,
    ),
    "Least probability of every arm, such as 0.1, or of some arms, by name; 0 for none.",
]


def _accepted_policy(field: str, value: Any) -> Policy:
    policy = as_policy(value, field)
    if not isinstance(policy, Policy):
        raise ArgumentError(field, "a policy of this library, or one of your own as compiled verbs", value)
    return policy


OfPolicy = Annotated[
    Policy,
    Check(
        "a policy such as RDS or NPTS(upper=1)",
        _accepted_policy,
        {"type": "string", "minLength": 1},
        write=lambda policy: POLICY.to_text(policy, "policy"),
        example="NPTS(upper=1)",
    ),
    "Policy with parameters, such as NPTS(upper=1).",
]


def seed_number(field: str, value: Any) -> int:
    """Return a seed as one whole number; None draws one."""
    if isinstance(value, str):
        if not (value.isascii() and value.isdecimal() and len(value) <= 1000):
            raise ArgumentError(field, "digits", value)
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        entropy = root_sequence(value).entropy
        assert isinstance(entropy, int)
        return entropy
    words = root_sequence(value).generate_state(4)
    return sum(int(word) << (32 * k) for k, word in enumerate(words))


SeedNumber = Annotated[
    int,
    Check(
        "a whole number; the same seed and rewards give the same decisions",
        seed_number,
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{1,1000}$"}]},
        write=str,  # JSON readers may not keep so large an integer
        example=7,
        served=2**128 - 1,
    ),
    "The same seed and rewards give the same decisions.",
]
Window = Annotated[
    float,
    Check(
        "seconds, or a text such as '24h', '30min', '7d' or '45s'",
        lambda field, value: seconds(value, field),
        {"anyOf": [{"type": "number"}, {"type": "string"}]},
        read_number,
        example="24h",
    ),
    "When a missing reward is late: 24h, 30min, 7d or seconds.",
]
Late = Annotated[
    float | str,
    Check(LATE_WORDS, checked_late, {"anyOf": [{"const": ABANDON_LATE}, {"type": "number"}]}, read_number, example=0),
    "What a late reward means: 'abandon', or a reward such as 0.",
]


def _accepted_history(field: str, value: Any) -> dict[str, tuple[float, ...]]:
    if not isinstance(value, Mapping) or not value:
        raise ArgumentError(field, "past rewards by the names of arms", value)
    found = {}
    for arm, given in value.items():
        rewards = _REWARDS.accept(f"{field}[{arm!r}]", given)
        if not rewards:
            raise ArgumentError(f"{field}[{arm!r}]", "a non-empty, one-dimensional sequence of numbers", given)
        found[str(arm)] = rewards
    if sum(map(len, found.values())) > MOST_PAST:
        raise ArgumentError(field, f"at most {MOST_PAST} rewards", f"{sum(map(len, found.values()))} rewards")
    return found


_REWARDS: Final = sequence(number(flags=True), "a non-empty, one-dimensional sequence of numbers")
History = Annotated[
    Mapping[str, Sequence[float]],
    Check(
        "past rewards by the names of arms",
        _accepted_history,
        {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
        write=lambda history: {arm: list(rewards) for arm, rewards in history.items()},
        example={"26 Feb": [2900.0, 3120.0]},
    ),
]
PastTrials = Annotated[
    Sequence[Past],
    Check(
        "trials, each with an arm and a reward, and perhaps a time and a propensity",
        checked_past,
        {
            "type": "array",
            "maxItems": SERVED_REWARDS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["arm", "reward"],
                "properties": {
                    "arm": {"type": "string"},
                    "reward": {"type": "number"},
                    "time": {"type": ["string", "null"], "format": "date-time"},
                    "propensity": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1},
                },
            },
        },
        write=lambda rows: [row.as_json() for row in rows],
        example=[{"arm": "26 Feb", "reward": 3120.0, "time": "2026-03-13T08:30:00Z", "propensity": 0.5}],
        served=SERVED_REWARDS,
    ),
]

Choice = Policy | Mapping[str, float] | str
"""Another choice of arms: an arm, weights of arms, or a policy."""


def _accepted_choice(field: str, value: Any) -> Choice:
    if isinstance(value, Policy):
        return value
    if isinstance(value, Mapping):
        if value.keys() == {"policy"} and isinstance(value["policy"], str):  # as JSON has it
            return as_policy(value["policy"], field)
        return {str(arm): number().accept(f"{field}[{arm!r}]", share) for arm, share in value.items()}
    if not isinstance(value, str):
        raise ArgumentError(field, "a policy, an arm, or weights of arms", value)
    return str(text().accept(field, value))


def _written_choice(choice: Choice) -> Any:
    return {"policy": POLICY.to_text(choice, "choice")} if isinstance(choice, Policy) else choice


ChoiceOfArms = Annotated[
    Choice,
    Check(
        "a policy, an arm, or weights of arms",
        _accepted_choice,
        {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": {"type": "number"}},
                {"type": "object", "properties": {"policy": {"type": "string"}}, "required": ["policy"]},
            ]
        },
        write=_written_choice,
        example="26 Feb",
    ),
]
EventLimit = Annotated[int, integer(1, 10_000, example=100), "Number of events."]
