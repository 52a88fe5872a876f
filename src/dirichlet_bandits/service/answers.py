"""Responses, from which the OpenAPI description is generated."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from dirichlet_bandits.service.bodies import Late


class Health(BaseModel):
    """A response that shows that the service is up."""

    status: Literal["ok"]
    version: str


class Names(BaseModel):
    """The names of studies, oldest first."""

    studies: list[str]


class StudyInfo(BaseModel):
    """A study: its settings and its present state. The seed is written as decimal digits."""

    name: str
    policy: str
    seed: str
    arms: list[str]
    trials: int
    direction: str
    control: str | None
    reward_unit: str | None = None
    bounds: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None
    floor: float | dict[str, float] = 0.0
    archived: bool
    identity: str
    window: float | None = None
    late: Late | None = None
    segments: list[str] = []
    history: dict[str, list[float]] | None = None
    weight: float | None = None
    borrow: float = 0.0


class Identity(BaseModel):
    """The identity of a study, which no other study of the same name has; empty for studies older than this field."""

    identity: str


class TrialInfo(BaseModel):
    """A trial that was assigned."""

    id: int
    arm: str
    propensity: float
    asked_at: datetime
    segment: str | None = None
    unit: str | None = None


class Trials(BaseModel):
    """Trials, oldest first."""

    trials: list[TrialInfo]


class Told(BaseModel):
    """A trial in the log. ``reward`` and ``ended_at`` are null while the trial is pending.

    ``propensity`` is null for a past trial that was added without one. For a trial that was voided or corrected,
    ``original`` is the first reward, ``reason`` the last reason, and ``revisions`` all rewards and reasons.
    """

    id: int
    arm: str
    propensity: float | None
    round: int
    status: Literal["pending", "told", "abandoned", "voided", "held", "repeated"]
    reward: float | None
    asked_at: datetime
    ended_at: datetime | None
    original: float | None = None
    reason: str | None = None
    revisions: Annotated[str | None, Field(description="As JSON.")] = None
    note: str | None = None
    attributes: Annotated[str | None, Field(description="As JSON.")] = None
    late: bool = False
    segment: str | None = None
    unit: str | None = None


class Ids(BaseModel):
    """Ids of trials, in the order of the request."""

    ids: list[int]


class Log(BaseModel):
    """A page of the log; ``next`` is the ``first`` of the next page, null at the end."""

    trials: list[Told]
    next: int | None


class EventInfo(BaseModel):
    """Something that happened in a study; ``note`` is a reason, a note or a floor.

    ``actor`` is the name of the key that did it: empty if no key was used, null if that was not recorded.
    """

    number: int
    what: str
    trial: int | None
    arm: str | None
    reward: float | None
    note: str | None
    at: datetime
    actor: str | None


class Events(BaseModel):
    """Events of a study, newest first."""

    events: list[EventInfo]


class AuditEntryInfo(BaseModel):
    """Something that was done to a study as a whole; ``study`` is its name before, and ``note`` a new name."""

    what: str
    study: str
    note: str | None
    at: datetime
    actor: str


class AuditLog(BaseModel):
    """What was done to studies, newest first."""

    audit_log: list[AuditEntryInfo]


class ArmSummary(BaseModel):
    """An arm's trials and rewards. Null means not known yet; for ``low`` and ``high``, no bound, for the reason given.

    ``lift`` is the mean less that of the control, if the study has one, with an interval of its own.
    """

    arm: str
    active: bool
    told: int
    pending: int
    abandoned: int
    voided: int
    held: int | None = None
    late: int | None = None
    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    no_interval: str | None
    value: float | None = None
    value_low: float | None = None
    value_high: float | None = None
    lift: float | None = None
    lift_low: float | None = None
    lift_high: float | None = None
    lift_percent: float | None = None
    probability_best: float | None = None


class Summary(BaseModel):
    """One row per arm; ``interval`` describes the method behind ``low`` and ``high``, and what it assumes.

    ``objective`` names the criterion by which the policy judges arms; unless this is the mean, ``value`` is the
    criterion of each arm's rewards. For a CVaR, ``value_interval`` describes the method behind ``value_low`` and
    ``value_high``.
    """

    arms: list[ArmSummary]
    best_arm: str | None
    best_arm_reason: str
    direction: str
    control: str | None
    objective: str = "mean"
    interval: str
    value_interval: str | None = None
    confidence: float
    compared_with: Annotated[str | None, Field(description="The arm that lift_percent compares with.")] = None
    earned: Annotated[float, Field(description="The sum of all rewards.")]
    equal_split: Annotated[float, Field(description="That sum if arms had been tried equally often, by their means.")]
    drift: Annotated[list[str], Field(description="Arms whose rewards do not look like one distribution any more.")]


class RivalInfo(BaseModel):
    """A rival of the leader: it is beaten if the statistic is at least the threshold, or equally if low > -margin.

    ``lead`` is by how much the leader's mean is better, from ``low`` to ``high``; null: no bound.
    """

    arm: str
    statistic: float | None
    threshold: float
    lead: float | None
    low: float | None
    high: float | None


class WinnerInfo(BaseModel):
    """The winner, or what is missing to name one: about ``more`` trials, or ``with_floor`` with a ``floor`` per arm.

    ``more_low`` and ``more_high`` are the numbers of trials if the lead is one standard error larger or smaller.
    ``drift`` names the arms whose rewards no longer look like one distribution. ``delta`` bounds the probability of
    error if what ``assumes`` says is true.
    """

    arm: str | None
    leader: str | None
    delta: float
    margin: float
    proved: bool
    method: str
    rivals: list[RivalInfo]
    trials: int
    established_at: int | None
    more: int | None
    more_low: int | None
    more_high: int | None
    floor: float | None
    with_floor: int | None
    reason: str
    note: str | None
    drift: list[str]
    assumes: str


class PlanRowInfo(BaseModel):
    """What one policy with one floor can be expected to do: the share of studies that name a winner, and their loss.

    ``median`` and ``ninety`` are the numbers of trials after which 50% and 90% of all studies have decided, or null if
    fewer do. ``relative`` is the loss divided by that of an equal split; null if that loses nothing.
    """

    policy: str
    floor: float
    decided: float
    wrong: float
    median: float | None
    ninety: float | None
    loss: float
    loss_error: float
    relative: float | None


class PlanInfo(BaseModel):
    """One row per policy and floor, the equal split first, and the conclusion in one sentence.

    ``interrupted`` is true if the time ran out; the rows are then based on fewer ``replications``.
    """

    rows: list[PlanRowInfo]
    horizon: int
    delta: float
    margin: float
    replications: int
    interrupted: bool
    answer: str


class Propensities(BaseModel):
    """The probability that each arm is in the next round."""

    propensities: dict[str, float]


class EstimateInfo(BaseModel):
    """What another choice would have earned per trial; null where the log does not show it."""

    ips: float | None
    ips_error: float | None
    self_normalized: float | None
    self_normalized_error: float | None
    rounds: int
    effective_rounds: float | None
    unsupported: dict[str, float]
    missing: int
    low: float | None = None
    high: float | None = None
    confidence: float | None = None


class DifferenceInfo(BaseModel):
    """The mean reward of one arm minus that of another, with its interval; null where the log does not show it."""

    a: str
    b: str
    value: float | None
    low: float
    high: float
    confidence: float
    rounds: int
    missing: int


class RiskEstimateInfo(BaseModel):
    """The CVaR of the rewards of another choice, with its interval; null where the log does not show it."""

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
    """Whether the replay reproduced every recorded decision."""

    same: bool
    trials: int
    rounds: int
    n_differences: int
    differences: list[str]


class Done(BaseModel):
    """A confirmation that the change is stored."""

    done: Literal[True] = True


class Renamed(Done):
    """A confirmation of a rename, and the name that the study has now; others may have renamed it again."""

    name: str


class Problem(BaseModel):
    """The reason why a request was refused; nothing was stored. ``kind`` names the library's exception."""

    error: str
    field: str | None = None
    kind: str
