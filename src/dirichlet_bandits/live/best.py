"""Which arm is best so far, if there is something to say."""

from typing import TYPE_CHECKING, Final, NamedTuple

from dirichlet_bandits.live.intervals import FEWEST

if TYPE_CHECKING:
    import pandas as pd

_NO_REWARD: Final = "no reward yet"


class Best(NamedTuple):
    """The best arm, or None, and in words why."""

    arm: str | None
    reason: str


def best_arm(summary: "pd.DataFrame", larger_is_better: bool) -> Best:
    """The active arm with the best mean (or value, where the policy has another objective), once it can be named.

    It is named when another arm has rewards to compare with, when no other arm is as good, and when it has
    at least ``FEWEST`` rewards of its own: a lucky first try is no answer.
    """
    column = "value" if "value" in summary else "mean"
    judged = summary.loc[summary["active"], [column, "told", "low", "high"]].dropna(subset=[column])
    if judged.empty:
        return Best(None, _NO_REWARD)
    if len(judged) == 1:
        return Best(None, f"{judged.index[0]!r} alone has rewards: there is nothing to compare it with")
    values = judged[column]
    top = values.index[values == (values.max() if larger_is_better else values.min())]
    if len(top) > 1:
        return Best(None, f"{len(top)} arms are equally good, {top[0]!r} and {top[1]!r} among them")
    arm, others = str(top[0]), judged.drop(top[0])
    told = int(judged.loc[arm, "told"])
    if told < FEWEST:
        return Best(None, f"{arm!r} leads with {told} reward{'s' * (told > 1)}: fewer than {FEWEST} say little")
    apart = (
        judged.loc[arm, "low"] > others["high"].max()
        if larger_is_better
        else judged.loc[arm, "high"] < others["low"].min()
    )
    if column == "value":
        return Best(arm, f"its {summary.attrs['objective']} is the best so far")
    if apart:
        return Best(arm, "its interval is apart from those of all other arms")
    return Best(arm, "its mean is the best so far, but intervals overlap")
