"""The fields of operations and settings: what each accepts, in the words of its errors."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from dirichlet_bandits.declared import Check, choice, integer, number, pair, sequence, text
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live.annotations import LONGEST_NOTE, MOST_ATTRIBUTES, checked_attributes
from dirichlet_bandits.live.direction import MAXIMIZE, MINIMIZE
from dirichlet_bandits.live.floors import Floor, checked_shares
from dirichlet_bandits.live.lateness import ABANDON_LATE, LATE_WORDS, checked_late, seconds
from dirichlet_bandits.live.past_trials import Past, checked_past
from dirichlet_bandits.live.warm_start import MOST
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.written import POLICY, as_policy
from dirichlet_bandits.seeding import root_sequence

MOST_ASKED: Final = 1_000_000
"""Trials of one ask: they are decided and stored all at once."""

SERVED_TRIALS: Final = 1000
SERVED_REWARDS: Final = 10_000
SERVED_ARMS: Final = 1000
"""What one request to a service may hold."""

Name = Annotated[str, text(example="maize")]
Reason = Annotated[str, text(example="typed twice")]
Note = Annotated[str, text(LONGEST_NOTE, lines=True, example="hail in May")]
Count = Annotated[int, integer(1, MOST_ASKED, served=SERVED_TRIALS)]
Reward = Annotated[float, number(flags=True, example=3120.0)]
Probability = Annotated[float, number(0, 1)]
Confidence = Annotated[float, number(0, 1, strictly=True, example=0.95)]
Number = Annotated[float, number()]
Bounds = Annotated[tuple[float, float], pair()]
Names = Annotated[Sequence[str], sequence(text(example="26 Feb"), "a list of names", distinct=True, most=SERVED_ARMS)]
Direction = Annotated[str, choice(MAXIMIZE, MINIMIZE)]


_TRIAL: Final = integer(0, example=0)
TrialId = Annotated[int, _TRIAL]
TrialIds = Annotated[Sequence[int], sequence(_TRIAL, "a list of trials", most=SERVED_REWARDS)]
Rewards = Annotated[Sequence[float], sequence(number(flags=True, example=1.0), "numbers", most=SERVED_REWARDS)]

_SCALARS: Final[list[dict[str, Any]]] = [{"type": kind} for kind in ("string", "number", "boolean", "null")]
Attributes = Annotated[
    Mapping[str, Any],
    Check(
        f"at most {MOST_ATTRIBUTES} values by name",
        checked_attributes,
        {"type": "object", "additionalProperties": {"anyOf": _SCALARS}, "maxProperties": MOST_ATTRIBUTES},
        example={"plot": 7},
    ),
]

_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
FloorOfArms = Annotated[
    Floor,
    Check(
        "a number, or numbers by the names of arms",
        checked_shares,
        {"anyOf": [_SHARE, {"type": "object", "additionalProperties": _SHARE}]},
        example=0.1,
        served=SERVED_ARMS,
    ),
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
]
Window = Annotated[
    float,
    Check(
        "seconds, or a text such as '24h', '30min', '7d' or '45s'",
        lambda field, value: seconds(value, field),
        {"anyOf": [{"type": "number"}, {"type": "string"}]},
        example="24h",
    ),
]
Late = Annotated[
    float | str,
    Check(
        LATE_WORDS,
        checked_late,
        {"anyOf": [{"const": ABANDON_LATE}, {"type": "number"}]},
        read=lambda word: word if word == ABANDON_LATE else _number_or_text(word),
        example=0,
    ),
]


def _number_or_text(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def _accepted_history(field: str, value: Any) -> dict[str, tuple[float, ...]]:
    if not isinstance(value, Mapping) or not value:
        raise ArgumentError(field, "past rewards by the names of arms", value)
    found = {}
    for arm, given in value.items():
        rewards = _REWARDS.accept(f"{field}[{arm!r}]", given)
        if not rewards:
            raise ArgumentError(f"{field}[{arm!r}]", "a non-empty, one-dimensional sequence of numbers", given)
        found[str(arm)] = rewards
    if sum(map(len, found.values())) > MOST:
        raise ArgumentError(field, f"at most {MOST} rewards", f"{sum(map(len, found.values()))} rewards")
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
EventLimit = Annotated[int, integer(1, 10_000, example=100)]
