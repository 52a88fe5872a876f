"""Requests, from which the OpenAPI description is generated; ``answers.py`` has the responses."""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from dirichlet_bandits.live.annotations import LONGEST_NOTE, MOST_ATTRIBUTES
from dirichlet_bandits.live.description import LONGEST_NAME
from dirichlet_bandits.service import plans

MOST_TRIALS: Final = 1000
MOST_REWARDS: Final = 10_000
MOST_ARMS: Final = 1000

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, examples=["maize"])]
Id = Annotated[int, Field(strict=True, ge=0, lt=2**63, examples=[0])]
Reward = Annotated[float, Field(strict=True, allow_inf_nan=False, examples=[3120.0])]
Reason = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, examples=["typed twice"])]
Note = Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE, examples=["hail in May"])]
Value = bool | int | Annotated[float, Field(allow_inf_nan=False)] | Note | None
Attributes = Annotated[dict[Name, Value], Field(max_length=MOST_ATTRIBUTES, examples=[{"plot": 7}])]
Direction = Literal["maximize", "minimize"]
Window = Annotated[str | float, Field(description="Seconds, or a text such as 24h, 30min, 7d.", examples=["24h"])]
Late = Annotated[Literal["abandon"] | float, Field(description="What a missing reward means after it.", examples=[0])]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Floor = (
    Annotated[float, Field(strict=True, ge=0.0, le=1.0, examples=[0.1])]
    | Annotated[
        dict[Name, Annotated[float, Field(strict=True, ge=0.0, le=1.0)]],
        Field(max_length=MOST_ARMS, examples=[{"control": 0.2}]),
    ]
)

_PAIRS: Final = f"With floors and the equal split, at most {plans.MOST_CASES} pairs of a policy and a floor."


class _Body(BaseModel):
    """A request: unknown fields are refused, so that a misspelled one is noticed."""

    model_config = ConfigDict(extra="forbid")


class _Change(_Body):
    """A request that changes a study; ``token`` is the caller's own name for it: repeating it changes nothing."""

    token: Name | None = None


class NewStudy(_Body):
    """A study to create; ``token`` is the caller's own name for the call: repeating it returns the same study."""

    name: Name
    arms: Annotated[list[Name], Field(min_length=1, max_length=MOST_ARMS, examples=[["26 Feb", "13 Mar", "28 Mar"]])]
    policy: Annotated[str, Field(max_length=LONGEST_NAME, description="Written like a call, NPTS(upper=1).")] = "RDS"
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**128)] | None = None
    direction: Direction = "maximize"
    control: Name | None = None
    reward_unit: Annotated[Name, Field(description="Shown next to rewards, such as kg/ha.")] | None = None
    bounds: Annotated[tuple[Reward, Reward], Field(description="Bounds of all rewards.")] | None = None
    floor: Floor | None = None
    window: Window | None = None
    late: Late | None = None
    segments: Annotated[list[Name], Field(min_length=1, max_length=MOST_ARMS)] | None = None
    history: dict[Name, Annotated[list[Reward], Field(max_length=MOST_REWARDS)]] | None = None
    weight: Probability | None = None
    borrow: Annotated[Probability, Field(description="Weight of rewards of other segments.")] | None = None
    load_if_exists: bool = False
    token: Name | None = None


class Ask(_Body):
    """The number of trials; ``token`` is the caller's own name for the call: repeating it returns the same trials."""

    n: Annotated[int, Field(strict=True, ge=1, le=MOST_TRIALS)] = 1
    segment: Name | None = None
    unit: Annotated[Name, Field(description="A unit keeps its arm; n must be 1.")] | None = None
    token: Name | None = None


class Tell(_Change):
    """The reward of a trial, with an optional note and attributes."""

    id: Id
    reward: Reward
    note: Note | None = None
    attributes: Attributes | None = None


class Annotate(_Change):
    """A note and attributes of a trial; null removes an attribute."""

    id: Id
    note: Note | None = None
    attributes: Attributes | None = None


class PastTrial(_Body):
    """A trial that was decided elsewhere; without a propensity, it does not count for estimates."""

    arm: Name
    reward: Reward
    time: datetime | None = None
    propensity: Annotated[float, Field(strict=True, gt=0.0, le=1.0)] | None = None


class AddTrials(_Body):
    """Past trials, of which all are stored, or none; ``token`` works as in an ask."""

    trials: Annotated[list[PastTrial], Field(max_length=MOST_REWARDS)]
    token: Name | None = None


class TellMany(_Change):
    """Rewards of several trials, of which all are stored, or none."""

    ids: Annotated[list[Id], Field(max_length=MOST_REWARDS)]
    rewards: Annotated[list[Reward], Field(max_length=MOST_REWARDS)]


class Settle(_Body):
    """A request to close the windows that have ended; repeating it changes nothing."""


class Abandon(_Change):
    """A trial whose reward will never come."""

    id: Id


class Reopen(_Change):
    """An abandoned trial that should be pending again."""

    id: Id


class Void(_Change):
    """A reward to take back, and the reason."""

    id: Id
    reason: Reason


class Correct(_Change):
    """Another reward for a trial that has or had one."""

    id: Id
    reward: Reward
    reason: Reason | None = None


class Arm(_Change):
    """The name of an arm."""

    arm: Name


class SetFloor(_Change):
    """The minimal probability of each arm: one number for all, numbers by name, or null for no floor."""

    floor: Floor | None


class Rename(_Change):
    """A new name for a study."""

    name: Name


class Archive(_Change):
    """Whether to leave a study out of the list."""

    archived: bool = True


class Delete(_Body):
    """The name of the study, repeated. With ``if_missing``, it is no error if the study does not exist."""

    confirm: Name
    if_missing: bool = False


class Plan(_Body):
    """Studies to simulate: arms with the means ``baseline`` and ``baseline + lift``, or past rewards as a ``bandit``.

    The fields are the arguments of ``db.plan``.
    """

    bandit: (
        Annotated[
            dict[Name, Annotated[list[Reward], Field(max_length=MOST_REWARDS)]],
            Field(max_length=plans.MOST_ARMS, description="Past rewards of each arm, instead of baseline and lift."),
        ]
        | None
    ) = None
    baseline: Annotated[float, Field(description="Mean of all arms but one.", examples=[0.1])] | None = None
    lift: (
        Annotated[float, Field(description="How much larger the mean of the last arm is.", examples=[0.03])] | None
    ) = None
    arms: Annotated[int, Field(strict=True, le=plans.MOST_ARMS)] = 2
    policies: (
        Annotated[
            list[Annotated[str, Field(max_length=LONGEST_NAME)]],
            Field(max_length=plans.MOST_CASES, description=_PAIRS, examples=[["TopTwo", "EpsilonGreedy(0.2)"]]),
        ]
        | None
    ) = None
    floors: Annotated[list[float], Field(max_length=plans.MOST_CASES, examples=[[0.0, 0.1]])] = [0.0, 0.1]
    delta: float = 0.05
    margin: float = 0.0
    horizon: Annotated[int, Field(strict=True, le=plans.MOST_TRIALS)] = 20_000
    every: Annotated[int, Field(strict=True, description="Trials between checks for a winner.")] = 100
    replications: Annotated[int, Field(strict=True, le=plans.MOST_REPLICATIONS)] = 200
    bounds: (
        Annotated[tuple[Reward, Reward], Field(description="Bounds of all rewards; 0 and 1 if left out.")] | None
    ) = None
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**128)] = 0


class Choice(_Body):
    """Another choice of arms, given as an arm, as weights of arms, or as a policy written like a call.

    With a ``level``, the result is a CVaR; ``bounds`` are those of all rewards, if the policy does not declare them.
    """

    arm: Name | None = None
    weights: dict[Name, Probability] | None = None
    policy: Annotated[str, Field(max_length=LONGEST_NAME)] | None = None
    level: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    bounds: tuple[Reward, Reward] | None = None
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95


class Question(_Body):
    """A request to name the winner with this probability of error; it may be worse than the best arm by the margin."""

    delta: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.05
    margin: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    segment: Name | None = None


class Difference(_Body):
    """Two arms to compare; ``bounds`` are those of all rewards, if the study does not declare them."""

    a: Name
    b: Name
    bounds: tuple[Reward, Reward] | None = None
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
