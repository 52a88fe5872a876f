"""Find the best arm so far, if one can be named."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from dirichlet_bandits.inference.intervals import FEWEST

NO_REWARD: Final = "no reward yet"


class Judged(NamedTuple):
    """An active arm with rewards: the value by which the policy judges it, and the interval of its mean."""

    arm: str
    value: float
    told: int
    low: float
    high: float


class Best(NamedTuple):
    """The best arm, or None, and the reason in words."""

    arm: str | None
    reason: str


def best_arm(judged: Sequence[Judged], larger_is_better: bool, objective: str, if_none: str = NO_REWARD) -> Best:
    """Return the active arm with the best mean (or value, if the policy has another objective), once it can be named.

    An arm is named if another arm has rewards to compare with, if no other arm is as good, and if it has at least
    ``FEWEST`` rewards of its own, because a lucky first try proves nothing.
    """
    if not judged:
        return Best(None, if_none)
    if len(judged) == 1:
        return Best(None, f"{judged[0].arm!r} alone has rewards: there is nothing to compare it with")
    values = [one.value for one in judged]
    peak = max(values) if larger_is_better else min(values)
    top = [one for one in judged if one.value == peak]
    if len(top) > 1:
        return Best(None, f"{len(top)} arms are equally good, {top[0].arm!r} and {top[1].arm!r} among them")
    (best,) = top
    others = [one for one in judged if one is not best]
    if best.told < FEWEST:
        words = f"{best.arm!r} leads with {best.told} reward{'s' * (best.told > 1)}: fewer than {FEWEST} say little"
        return Best(None, words)
    if objective != "mean":
        return Best(best.arm, f"its {objective} is the best so far")
    if best.low > max(one.high for one in others) if larger_is_better else best.high < min(one.low for one in others):
        return Best(best.arm, "its interval is apart from those of all other arms")
    return Best(best.arm, "its mean is the best so far, but intervals overlap")
