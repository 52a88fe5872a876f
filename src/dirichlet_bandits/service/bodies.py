"""What requests and answers look like: the source of the OpenAPI description."""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from dirichlet_bandits.live.description import LONGEST_NAME

MOST_TRIALS: Final = 1000
MOST_REWARDS: Final = 10_000
MOST_ARMS: Final = 1000

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, examples=["maize"])]
Id = Annotated[int, Field(strict=True, ge=0, lt=2**63, examples=[0])]
Reward = Annotated[float, Field(strict=True, allow_inf_nan=False, examples=[3120.0])]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


class _Body(BaseModel):
    """A request: unknown fields are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


class NewStudy(_Body):
    """A study to be created; ``token`` is the caller's own name for this call: the same again gets the same study."""

    name: Name
    arms: Annotated[list[Name], Field(min_length=1, max_length=MOST_ARMS, examples=[["26 Feb", "13 Mar", "28 Mar"]])]
    policy: Annotated[str, Field(max_length=LONGEST_NAME, description="Written like a call, NPTS(upper=1).")] = "RDS"
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**128)] | None = None
    load_if_exists: bool = False
    token: Name | None = None


class Ask(_Body):
    """How many trials; ``token`` is the caller's own name for this call: the same again gets the same trials."""

    n: Annotated[int, Field(strict=True, ge=1, le=MOST_TRIALS)] = 1
    token: Name | None = None


class Tell(_Body):
    """The reward of a trial."""

    id: Id
    reward: Reward


class TellMany(_Body):
    """Rewards of several trials, all or none."""

    ids: Annotated[list[Id], Field(max_length=MOST_REWARDS)]
    rewards: Annotated[list[Reward], Field(max_length=MOST_REWARDS)]


class Abandon(_Body):
    """A trial whose reward will never come."""

    id: Id


class Arm(_Body):
    """An arm by its name."""

    arm: Name


class NewArm(Arm):
    """An arm to add. With ``if_missing`` it is no conflict that the study has it."""

    if_missing: bool = False


class Choice(_Body):
    """Another choice of arms: an arm, weights of arms, or a policy written like a call. One of them.

    With a ``level`` the answer is a CVaR; ``bounds`` are those of all rewards, where the policy does not know them.
    """

    arm: Name | None = None
    weights: dict[Name, Probability] | None = None
    policy: Annotated[str, Field(max_length=LONGEST_NAME)] | None = None
    level: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    bounds: tuple[Reward, Reward] | None = None
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95


class Health(BaseModel):
    """The service answers."""

    status: Literal["ok"]
    version: str


class Names(BaseModel):
    """Studies, the oldest first."""

    studies: list[str]


class StudyInfo(BaseModel):
    """A study: what it was created with, and where it stands. The seed is a number in digits."""

    name: str
    policy: str
    seed: str
    arms: list[str]
    trials: int


class TrialInfo(BaseModel):
    """A trial that was handed out."""

    id: int
    arm: str
    propensity: float
    asked_at: datetime


class Trials(BaseModel):
    """Trials, the oldest first."""

    trials: list[TrialInfo]


class Told(BaseModel):
    """A trial in the log. ``reward`` and ``ended_at`` are null while it is pending."""

    id: int
    arm: str
    propensity: float
    round: int
    status: Literal["pending", "told", "abandoned"]
    reward: float | None
    asked_at: datetime
    ended_at: datetime | None


class Log(BaseModel):
    """A page of the log; ``next`` is the ``first`` of the next page, null at the end."""

    trials: list[Told]
    next: int | None


class ArmSummary(BaseModel):
    """An arm's trials and rewards. Null: not known yet; for ``low`` and ``high``: no bound."""

    arm: str
    active: bool
    told: int
    pending: int
    abandoned: int
    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    value: float | None = None
    value_low: float | None = None
    value_high: float | None = None


class Summary(BaseModel):
    """A row an arm; ``interval`` says which method gave ``low`` and ``high``, and what it assumes.

    ``objective`` names what the policy judges arms by; unless it is the mean, ``value`` has it for each arm's rewards.
    For a CVaR ``value_interval`` says which method gave ``value_low`` and ``value_high``.
    """

    arms: list[ArmSummary]
    best_arm: str | None
    objective: str = "mean"
    interval: str
    value_interval: str | None = None
    level: float


class Propensities(BaseModel):
    """For every arm the probability that it is in the next round."""

    propensities: dict[str, float]


class EstimateInfo(BaseModel):
    """What another choice would have earned a trial; null where the log says nothing."""

    ips: float | None
    ips_error: float | None
    self_normalised: float | None
    self_normalised_error: float | None
    rounds: int
    effective_rounds: float | None
    unsupported: dict[str, float]
    missing: int


class RiskEstimateInfo(BaseModel):
    """The CVaR of the rewards of another choice, with its interval; null where the log says nothing."""

    objective: str
    value: float | None
    low: float
    high: float
    confidence: float
    rounds: int
    effective_rounds: float | None
    unsupported: dict[str, float]
    missing: int


class ReplayInfo(BaseModel):
    """Whether every recorded decision came out again."""

    same: bool
    trials: int
    rounds: int
    n_differences: int
    differences: list[str]


class Done(BaseModel):
    """It is stored."""

    done: Literal[True] = True


class Problem(BaseModel):
    """Why a request was refused; nothing was stored. ``kind`` names the library's exception."""

    error: str
    field: str | None = None
    kind: str
