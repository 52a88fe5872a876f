"""The settings of a study: declared once, and what ``create_study`` builds, stores, compares and sends."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from dirichlet_bandits.declared import Declared, declared
from dirichlet_bandits.engine.verbs import follows_time
from dirichlet_bandits.errors import ArgumentError, ConflictError
from dirichlet_bandits.live import fields
from dirichlet_bandits.live.description import described, restore
from dirichlet_bandits.live.direction import MAXIMIZE, check_within, direction_for
from dirichlet_bandits.live.direction import Direction as Sign
from dirichlet_bandits.live.floors import check_sum, checked_floor
from dirichlet_bandits.live.lateness import Lateness, check_both
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.registry import policies_with, takes_weights
from dirichlet_bandits.policies.written import as_policy
from dirichlet_bandits.storage.events import Settings as Stored
from dirichlet_bandits.validation import LARGEST_SCALE, reward_number


class Warm(NamedTuple):
    """Past rewards by the names of arms, in the study's own numbers, and their weight, between 0 and 1.

    With the weight w, the rewards H of the past and those X that were observed since have the Dirichlet parameters

        (w, ..., w, 1, ..., 1),

    the posterior of a Dirichlet process whose prior is the past, with a mass of w times the number of its rewards.
    A policy that uses only counts and means sees the count N = w |H| + |X| and the mean (w sum H + sum X) / N. A
    weight of 1 is the same as having observed the past, and 0 the same as having none. BDS, RDS and QDS use N in
    place of n, and means in which each reward counts its weight; the bound or bonus keeps its parameter 1. The
    probability of winning a duel is the crossing probability with these parameters, so propensities stay exact.
    Nothing is published about weights between 0 and 1 for BDS, RDS and QDS: there, this is experimental. NPTS draws
    its indices with the same parameters.

    Past rewards affect which arm comes next, and nothing else: summaries, intervals and estimates ignore them.

    Borrowing uses the same weights: in each segment of a study, the past is what the other segments have observed
    so far.

    Reference: Vashishtha and Maillard (2025), arXiv:2503.04518.
    """

    history: Mapping[str, Sequence[float]]
    weight: float


def check_warm(
    history: Mapping[str, Sequence[float]] | None, weight: float | None, arms: Sequence[str], policy: Policy
) -> None:
    """Refuse past rewards that do not fit the arms or the policy of a study."""
    if history is None and weight is None:
        return
    if history is None or not history.keys() <= set(arms):
        raise ArgumentError("history", f"past rewards by the names of arms: {', '.join(arms)}", history)
    if weight is None:
        raise ArgumentError("weight", "a number from 0 to 1, given together with history", weight)
    if weight > 0.0:
        _check_state(policy, "history")
    if 0.0 < weight < 1.0:
        _check_weights(policy, "weight", "0 or 1", weight)


def check_borrow(borrow: float | None, segments: object, history: object, policy: Policy) -> None:
    """Refuse a weight of the rewards of other segments that does not fit the study."""
    if borrow is not None and not segments:
        raise ArgumentError("borrow", "given together with segments", borrow)
    if borrow:
        if history is not None:
            raise ArgumentError("borrow", "0 in a study with a history", borrow)
        _check_state(policy, "borrow")
        _check_weights(policy, "borrow", "0", borrow)


def _check_state(policy: Policy, field: str) -> None:
    """Refuse a policy that cannot take rewards of the past."""
    if follows_time(policy.params):
        reason = "whose state depends on when trials were asked for"
        raise ArgumentError(field, f"None with {policy!r}, {reason}", "past rewards")


def _check_weights(policy: Policy, field: str, others: str, weight: object) -> None:
    """Refuse a policy that cannot take rewards with weights between 0 and 1."""
    if not takes_weights(policy):
        able = ", ".join(policies_with("weighted"))
        raise ArgumentError(field, f"{others} with {policy!r} (other weights: {able} without a level)", weight)


_DEFAULT: Final[Any] = "RDS"


@declared
class StudySettings(Declared):
    """What a study is created with and never changes; :func:`create_study` describes the fields.

    The floor is that of the beginning: :attr:`Study.floor` is the present one. Without a seed, one is drawn when the
    study is created.
    """

    arms: Annotated[fields.Names, "Names of the arms."]
    policy: fields.OfPolicy = _DEFAULT
    seed: fields.SeedNumber | None = None
    direction: Annotated[fields.Direction, "Rewards are maximized; with minimize, they are costs."] = MAXIMIZE
    control: Annotated[fields.Name | None, "Arm that the others are compared with."] = None
    reward_unit: Annotated[fields.Name | None, "Unit of the rewards, such as kg/ha; only shown."] = None
    bounds: fields.Bounds | None = None
    floor: fields.FloorOfArms | None = None
    window: fields.Window | None = None
    late: fields.Late | None = None
    segments: Annotated[fields.Names | None, "Segments that learn separately."] = None
    history: fields.History | None = None
    weight: Annotated[fields.Probability | None, "Weight of each past reward, from 0 to 1."] = None
    borrow: Annotated[fields.Probability | None, "Weight of rewards in other segments, from 0 to 1 (experimental)."] = (
        None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalize("policy", as_policy(self.policy))  # the default is a text
        direction_for(self.policy, self.direction)
        if self.control is not None and self.control not in self.arms:
            raise ArgumentError("control", "one of the arms, or None", self.control)
        low, high = self.policy.reward_bounds
        if self.bounds is not None and not low <= self.bounds[0] < self.bounds[1] <= high:
            raise ArgumentError("bounds", f"within those of {self.policy!r}, from {low:g} to {high:g}", self.bounds)
        self._normalize("floor", checked_floor(self.floor, self.arms) or None)
        if self.floor is not None:
            check_sum(self.floor, self.arms)
        check_warm(self.history, self.weight, self.arms, self.policy)
        check_borrow(self.borrow, self.segments, self.history, self.policy)
        self._normalize("borrow", self.borrow or None)
        for arm, rewards in (self.history or {}).items():
            for k, reward in enumerate(rewards):
                self.policy.check_reward(reward)
                check_within(f"history[{arm!r}][{k}]", reward, self.bounds)
        check_both(self.window, self.late)
        if isinstance(self.late, float):
            self.policy.check_reward(self.late)
            check_within("late", self.late, self.bounds)
        self.policy.check_arms(len(self.arms))

    def _normalize(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # What follows from them

    @property
    def sign(self) -> Sign:
        """How the policy sees the rewards or costs of the study."""
        return direction_for(self.policy, self.direction)

    @property
    def in_unit(self) -> str:
        """The unit of the rewards in parentheses, after a space; empty if there is none."""
        return f" ({self.reward_unit})" if self.reward_unit else ""

    @property
    def limits(self) -> tuple[float, float]:
        """Bounds of the rewards: the declared ones, else those of the policy, infinite where they are not known."""
        return self.bounds or self.policy.reward_bounds

    @property
    def lateness(self) -> Lateness | None:
        """When a missing reward is late, and what that means."""
        if self.window is None:
            return None
        return Lateness(self.window, self.late if isinstance(self.late, float) else None)

    @property
    def warm(self) -> Warm | None:
        """Past rewards with which the policy starts."""
        return None if self.history is None or self.weight is None else Warm(self.history, self.weight)

    def checked_reward(self, reward: object, field: str = "reward") -> float:
        """Return a reward that the study accepts."""
        value = reward_number(field, reward)
        if abs(value) > LARGEST_SCALE:
            raise ArgumentError(field, f"between -{LARGEST_SCALE:g} and {LARGEST_SCALE:g}", reward)
        self.policy.check_reward(value)
        check_within(field, value, self.bounds)
        return value

    # Stored, compared and sent

    def stored(self) -> Stored:
        """Return the settings as a storage keeps them."""
        return {**self.as_json(leave_out="policy"), "policy": described(self.policy), "window": self.window}

    @classmethod
    def restored(cls, stored: Stored, policy: Policy | None, first: Lateness | None) -> "StudySettings":
        """Return stored settings; ``first`` is the window of a study that is older than windows in its settings."""
        given = {name: stored[name] for name in cls.fields if name in stored}
        if "window" not in stored and first is not None:
            given |= {"window": first.window, "late": first.as_given}
        return cls(**{**given, "policy": restore(stored["policy"], policy)})

    def check_same(self, name: str, there: "StudySettings") -> None:
        """Refuse to load a study that was created with other settings than these; a seed counts only if it is given."""
        for field in self.fields:
            stored, here = getattr(there, field), getattr(self, field)
            if stored != here and not (field == "seed" and here is None):
                raise ConflictError(f"the study {name!r} was created with {field} {stored} (got {here})")
