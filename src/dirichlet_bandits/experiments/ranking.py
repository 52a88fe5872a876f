"""Rank policies: all that apply play the same bandit, and their regrets are compared."""

from __future__ import annotations  # help() then shows short names

import math
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.display import tables
from dirichlet_bandits.display.numbers import in_percent, number
from dirichlet_bandits.display.summaries import Summary
from dirichlet_bandits.environments import Environment
from dirichlet_bandits.environments.feedback import Batch, Delay
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.experiments.applicable import all_applicable, reward_facts
from dirichlet_bandits.inference.intervals import Bounds
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.policies.registry import all_policies
from dirichlet_bandits.policies.written import as_policies
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.plot import plain, slots, style
from dirichlet_bandits.seeding import Seed
from dirichlet_bandits.simulation import simulate
from dirichlet_bandits.simulation.plan import AnyPolicy, Policies
from dirichlet_bandits.validation import large_count, number_between, true_or_false, whole_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_INTERRUPTED = "was interrupted before enough of its replications were finished"


class RankedPolicy(NamedTuple):
    """A policy in a ranking: its mean regret at the horizon, and its difference from that of the best.

    ``low`` and ``high`` are the ends of the paired interval of the ``difference``. If ``tied``, the interval does not
    decide which of the two is better.
    """

    policy: str
    mean: float
    difference: float
    low: float
    high: float
    tied: bool
    replications: int


@dataclass(frozen=True)
class Ranking:
    """The outcome of :func:`compare_policies`: policies from best to worst, and why others were left out.

    ``policies`` has those that ran, by the names in ``places``; ``result`` is the simulation itself.
    """

    places: Sequence[RankedPolicy]
    left_out: Mapping[str, str]
    policies: Mapping[str, AnyPolicy]
    result: Result
    confidence: float

    @property
    def best(self) -> AnyPolicy:
        """The policy in the first place."""
        return self.policies[self.places[0].policy]

    def summary(self) -> pd.DataFrame:
        """Return the ranking as a table, one row per policy."""
        return Summary(whole_module("pandas").DataFrame(self.places, columns=RankedPolicy._fields).set_index("policy"))

    def _repr_html_(self) -> str:
        """Return the ranking as an HTML table."""
        rows = []
        for k, place in enumerate(self.places):
            more = (place.difference, place.low, place.high) if k else (math.nan,) * 3
            rows.append((place.policy, place.mean, *more, "" if not place.tied else "statistical tie" if k else "best"))
        headers = ("policy", f"mean {self.result.regret_label}", "more than the best", "from", "to", "")
        left_out = f"left out: {', '.join(self.left_out)}" if self.left_out else ""
        caption = f"{self.result.regret_label} after {self.result.horizon} pulls"
        return tables.table(caption, headers, rows, marked=0, below=left_out)

    def plot(
        self, path: str | PathLike[str] | None = None, *, most: int | None = None, title: str | None = None
    ) -> Figure:
        """Draw the ranking: one dot per policy at its difference from the best, with the paired interval.

        Dots whose interval contains 0 are hollow: the data do not separate these policies from the best. Use
        ``ranking.result.plot()`` for the regret over time.

        Parameters
        ----------
        path
            A file to write: .png, .pdf, .svg...
        most
            How many policies to draw, starting with the best; all by default.
        title
            What to write above the plot.
        """
        from dirichlet_bandits.results.kinds import Picture  # matplotlib takes half a second to import

        shown = list(self.places if most is None else self.places[: whole_number("most", most, at_least=1)])
        looks = slots(self.result.policies)
        figure = Picture(figsize=(7.0, 1.2 + 0.3 * len(shown)))
        axes = figure.add_subplot()
        axes.axvline(0.0, color="0.4", linewidth=0.8)
        for row, place in enumerate(shown):
            color = style(looks[place.policy])["color"]
            axes.hlines(row, place.low, place.high, color=color, linewidth=2, alpha=0.7)
            face = "white" if place.tied and row else color
            axes.plot(place.difference, row, "o", color=color, markerfacecolor=face, markersize=6)
        axes.set_yticks(range(len(shown)), [plain(f"{k + 1}. {place.policy}") for k, place in enumerate(shown)])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        best, level = plain(self.places[0].policy), in_percent(self.confidence)
        axes.set_xlabel(f"{plain(self.result.regret_label)} above that of {best}, paired {level} intervals")
        axes.grid(axis="x", alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        if title:
            axes.set_title(plain(title), fontsize=11)
        if path is not None:
            figure.savefig(path, dpi=150)
        return figure

    def to_latex(self) -> str:
        """Return the ranking as a LaTeX table for the package ``booktabs``."""
        rows = [
            (
                place.policy,
                number(place.mean, padded=True),
                "{} [{}, {}]".format(*(number(x, padded=True) for x in place[2:5])) if k else "",
            )
            for k, place in enumerate(self.places)
        ]
        return tables.latex_table(("policy", f"mean {self.result.regret_label}", "difference from the best"), rows)

    def as_json(self) -> dict[str, Any]:
        """Return the ranking as numbers and texts for JSON."""
        return {
            "horizon": self.result.horizon,
            "objective": self.result.objective,
            "breakpoints": list(self.result.breakpoints),
            "confidence": self.confidence,
            "ranking": [{**place._asdict(), "parameters": repr(self.policies[place.policy])} for place in self.places],
            "left_out": dict(self.left_out),
        }


def compare_policies(
    bandit: Environment,
    *,
    horizon: int,
    replications: int = 200,
    policies: Policies | None = None,
    bounds: Bounds | None = None,
    sigma: float | None = None,
    ordered: bool = False,
    confidence: float = 0.95,
    seed: Seed = None,
    workers: int | None = None,
    progress: bool | None = None,
    executor: Executor | None = None,
    delay: Delay | Sequence[Delay] = 0,
    window: int | None = None,
    late: float | Literal["abandon"] = "abandon",
    batch: Batch = 1,
) -> Ranking:
    """Let all policies that apply play the bandit, and rank them by their mean regret at the horizon.

    A policy applies if all of its required parameters are known. We never guess what you leave out: the policy is left
    out, and :attr:`Ranking.left_out` gives the reason. All policies see the same rewards, so differences are paired.
    With k policies, each interval has the level 1 - (1 - confidence)/(k - 1), by Bonferroni. So, with at least the
    given confidence, the policy with the least expected regret is the first one or one of those ``tied`` with it.

    If the arms are past rewards (:func:`read_rewards`), the ranking is only as good as these are numerous and typical
    of the future. Ctrl-C ranks the finished replications.

    Parameters
    ----------
    bandit
        The arms, or an environment in which they change, such as :class:`Piecewise`, which also gives the number of
        changes to policies that need it. With a CVaR as the objective, policies that look for the best mean are left
        out.
    horizon, replications
        The number of pulls in a replication, which is passed to policies with a horizon, and of replications.
    policies
        Names of classes, which get their parameters from what is known, or policies to run as given, in one of the
        forms that :func:`simulate` accepts; by default every class of the library.
    bounds
        Bounds of all rewards, past and future, (lower, upper); infinite if unknown. Rewards of 0 and 1 need none.
    sigma
        A standard deviation that no arm exceeds.
    ordered
        Whether the order of the arms matters: in this order, the means rise to a peak and then fall.
    confidence
        The confidence of the whole ranking.
    seed, workers, progress, executor, delay, window, late, batch
        As in :func:`simulate`.

    >>> from dirichlet_bandits import Bandit, Empirical
    >>> past = Bandit([Empirical([0, 0, 1]), Empirical([0, 1, 1])], names=["red", "blue"])
    >>> ranking = compare_policies(past, horizon=100, replications=10, policies=["IMED", "UCB1"], seed=0)
    >>> [place.policy for place in ranking.places], ranking.best
    (['IMED'], IMED(family='bernoulli', sigma=None))
    >>> ranking.left_out
    {'UCB1': 'needs the standard deviation of the rewards (sigma)'}

    Reference: Hsu (1984), Constrained simultaneous confidence intervals for multiple comparisons with the best, on the
    same question; we use plain Bonferroni intervals.
    """
    horizon = large_count("horizon", horizon, at_least=len(Environment.checked(bandit)))
    if not bandit.gaps_over(horizon).any():
        values = bandit.values_over(horizon)[0]
        raise ArgumentError("bandit", f"arms that differ in their {bandit.objective.name}", values.tolist())
    large_count("replications", replications, at_least=2)
    number_between("confidence", confidence, 0, 1)
    true_or_false("ordered", ordered)
    known = reward_facts(bandit, horizon=horizon, bounds=bounds, sigma=sigma, ordered=ordered)
    asked = as_policies(list(all_policies()) if policies is None else policies, classes=all_policies())
    classes = [name for name, policy in asked.items() if isinstance(policy, str)]
    own = {name: policy for name, policy in asked.items() if name not in classes}
    tried, left_out = all_applicable(classes, known, bandit.objective)
    playing: dict[str, AnyPolicy] = {**tried, **own}
    if not playing and left_out:
        reasons = "; ".join(f"{name} {reason}" for name, reason in left_out.items())
        raise ArgumentError("policies", f"at least one that applies: {reasons}", list(left_out))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="interrupted")  # the ranking lists what was interrupted
        result = simulate(
            bandit,
            playing,
            horizon=horizon,
            replications=replications,
            seed=seed,
            workers=workers,
            progress=progress,
            executor=executor,
            delay=delay,
            window=window,
            late=late,
            batch=batch,
        )
    places = ranked(result, confidence)
    placed = {place.policy for place in places}
    left_out |= {name: _INTERRUPTED for name in playing if name not in placed}
    return Ranking(places, left_out, playing, result, confidence)


def ranked(result: Result, confidence: float) -> list[RankedPolicy]:
    """Rank the policies of a result, best first; those that share fewer than two replications with it are left out."""
    summary = result.summary()
    means = summary["mean"][summary["replications"] >= 2].sort_values(kind="stable")
    if means.empty:
        return []
    best = str(means.index[0])
    places = [RankedPolicy(best, float(means.iloc[0]), 0.0, 0.0, 0.0, True, int(summary.loc[best, "replications"]))]
    level = 1.0 - (1.0 - confidence) / max(1, len(means) - 1)
    for name in map(str, means.index[1:]):
        common = ~np.isnan(result.final_regret(name) - result.final_regret(best))
        if common.sum() >= 2:
            found = result.compare(name, best, level)
            tied = bool(found.low <= 0.0 <= found.high)
            shared = found.replications
            places.append(RankedPolicy(name, float(means[name]), found.difference, found.low, found.high, tied, shared))
    return places
