"""Plan a study: how long until a winner is named, and what that costs, for each policy and floor."""

from __future__ import annotations  # help() then shows short names

import math
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple

import numpy as np

from dirichlet_bandits.answers import Null
from dirichlet_bandits.display import tables
from dirichlet_bandits.display.numbers import number, with_error
from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.environments import Bandit, Bernoulli, Mean
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.experiments.plan_games import NOBODY, Games, WinnerRule, new_games, play_games
from dirichlet_bandits.experiments.plan_question import PlanQuestion, past_bandit
from dirichlet_bandits.inference.intervals import Bounds
from dirichlet_bandits.inference.lottery import BETS, PRIOR
from dirichlet_bandits.inference.winner import log_odds
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live.direction import check_around
from dirichlet_bandits.live.floors import SLACK
from dirichlet_bandits.policies import BinarizedTS, EqualSplit, Policy, ThompsonSampling, TopTwo
from dirichlet_bandits.policies.written import Policies, as_policies
from dirichlet_bandits.seeding import Seed, new_stream, replication_seeds, root_sequence
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import LARGEST_SCALE, number_between, whole_number

if TYPE_CHECKING:
    import pandas as pd

_CHUNK: Final = 2  # games between two looks at the keyboard and the clock; a standard error needs two
_SPLIT: Final = EqualSplit()


class PlanRow(NamedTuple):
    """What one policy with one floor can be expected to do.

    ``decided`` is the share of studies that name a winner in time, and ``wrong`` the share that name an arm that is not
    the best. ``median`` and ``ninety`` are the numbers of trials after which 50% and 90% of all studies have decided,
    or infinite if fewer do. ``loss`` is the mean reward lost over all trials against always using the best arm, with
    its standard error, if you use the winner once it is named. ``relative`` is the loss divided by that of an equal
    split.
    """

    policy: str
    floor: float
    decided: float
    wrong: float
    median: Annotated[float, Null(math.inf)]
    ninety: Annotated[float, Null(math.inf)]
    loss: float
    loss_error: float
    relative: float


@dataclass(frozen=True)
class StudyPlan:
    """The outcome of :func:`plan`: one row per policy and floor, the equal split first.

    After Ctrl-C, or if the time of a service ran out, ``interrupted`` is True, and the rows are based on the
    ``replications`` that were complete.
    """

    rows: Sequence[PlanRow]
    horizon: int
    delta: float
    margin: float
    replications: int
    interrupted: bool = False
    headers: ClassVar = ("policy", "floor", "decided", "median", "90%", "loss", "vs split")

    def summary(self) -> pd.DataFrame:
        """Return one row per policy and floor; see :class:`PlanRow`."""
        return whole_module("pandas").DataFrame(self.rows, columns=PlanRow._fields).set_index(["policy", "floor"])

    @property
    def answer(self) -> str:
        """The conclusion in one sentence: what is lost, and how much longer it takes, compared with an A/B test."""
        split, others = self.rows[0], self.rows[1:]
        start = f"An equal split (an A/B test) {_decides(split, self.horizon)} and loses {number(split.loss)}"
        if not others:
            return f"{start}."
        best = min(others, key=lambda row: (-round(row.decided, 1), row.loss))
        takes = _decides(best, self.horizon)
        if math.isfinite(best.median) and math.isfinite(split.median) and f"{best.median / split.median:.2g}" != "1":
            takes += f", {best.median / split.median:.2g} times as many,"
        loses = f"loses {number(best.loss)}{_compared(best.relative)}"
        least = min(others, key=lambda row: row.loss)
        rest = ""
        if least is not best and least.loss < split.loss:
            rest = f"; {_called(least)} loses least, {number(least.loss)}, but {_decides(least, self.horizon)}"
        return f"{start}; {_called(best)} {takes} and {loses}{rest}."

    def __str__(self) -> str:
        cells = [self.headers, *self.cells()]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.headers))]
        lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells]
        words = f"{self.replications} simulated studies of {self.horizon:,} trials, error probability {self.delta:g}"
        below = (f"{words}, margin {self.margin:g}.", self.answer)
        return "\n".join([*lines, *(line for text in below for line in textwrap.wrap(text, 80))])

    def _repr_html_(self) -> str:
        """Return the rows as a table, and the conclusion."""
        caption = f"{self.replications} simulated studies of {self.horizon:,} trials"
        return tables.table(caption, self.headers, self.cells(), below=self.answer)

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows as people read them."""
        return [_cells(row, self.horizon) for row in self.rows]


def plan(
    bandit: Bandit | Mapping[str, Sequence[float]] | None = None,
    *,
    baseline: float | None = None,
    lift: float | None = None,
    arms: int = 2,
    policies: Policies | None = None,
    floors: Sequence[float] = (0.0, 0.1),
    delta: float = 0.05,
    margin: float = 0.0,
    horizon: int = 20_000,
    every: int = 100,
    replications: int = 200,
    bounds: Bounds | None = None,
    seed: Seed = 0,
    progress: bool | None = None,
) -> StudyPlan:
    """Simulate whole studies to estimate when they would name a winner and what they would lose until then.

    The rewards are 0 and 1: all arms but one have the mean ``baseline``, and the last one has ``baseline + lift``. Or
    give a ``bandit`` with your own arms, for example past rewards (:func:`read_rewards`, or lists of rewards by name).
    Every study is played on the same rewards with each policy and each floor, and ends when the rule of
    :meth:`Study.winner` names a winner. All policies are compared with an equal split, which is an A/B test.

    Rewards are known at once. The lottery rule takes the shares of the last tenth of the trials for the probabilities
    of the arms, which a live study knows exactly.

    Parameters
    ----------
    bandit
        The arms, instead of ``baseline``, ``lift`` and ``arms``.
    baseline, lift
        The mean of all arms but the last, and by how much that of the last one is larger.
    arms
        The number of arms.
    policies
        Policies in one of the forms that :func:`simulate` accepts; by default top-two sampling and Thompson Sampling.
    floors
        Least probabilities of every arm to try, as in ``create_study(..., floor=0.1)``.
    delta, margin
        As in :meth:`Study.winner`.
    horizon
        The number of trials after which a study without a winner ends.
    every
        The number of trials between checks of the rule.
    replications
        The number of studies to simulate.
    bounds
        Bounds of all rewards, (lower, upper); needed for a ``bandit`` whose rewards are not all between 0 and 1.
    seed, progress
        As in :func:`simulate`.

    >>> found = plan(baseline=0.2, lift=0.4, policies=["EpsilonGreedy(0.5)"], horizon=2000, replications=20)
    >>> [row.policy for row in found.rows], found.rows[0].decided
    (['EqualSplit', 'EpsilonGreedy', 'EpsilonGreedy'], 1.0)

    Reference: ``inference/lottery.py`` has the rule and its proof.
    """
    asked = PlanQuestion(
        bandit=bandit,
        baseline=baseline,
        lift=lift,
        arms=arms,
        policies=policies,
        floors=floors,
        delta=delta,
        margin=margin,
        horizon=horizon,
        every=every,
        replications=replications,
        bounds=bounds,
        seed=seed,
    )
    return play(prepare(asked), progress)


class Prepared(NamedTuple):
    """A question whose arguments make sense: the arms, each policy with each floor, and the rule for a winner."""

    bandit: Bandit
    cases: list[tuple[str, Policy, float]]
    horizon: int
    replications: int
    delta: float
    rule: WinnerRule
    root: np.random.SeedSequence


def prepare(asked: PlanQuestion) -> Prepared:
    """Check all arguments; nothing is simulated."""
    made = _bandit(asked.bandit, asked.baseline, asked.lift, asked.arms)
    low, high = _bounds(made, asked.bounds)
    named, n_arms = _policies(asked.policies, made, low, high), len(made)
    cases = [(name, policy, share) for name, policy in named.items() for share in _floors(asked.floors, policy, n_arms)]
    horizon = whole_number("horizon", asked.horizon, at_least=n_arms)
    odds = float(log_odds(asked.delta, [0] * n_arms, 0, True)[1])
    every = min(asked.every, horizon + 1)  # compiled code has no larger integers
    rule = WinnerRule(low, high, odds, asked.margin, every, BETS, PRIOR)
    return Prepared(made, cases, horizon, asked.replications, asked.delta, rule, root_sequence(asked.seed))


def play(prepared: Prepared, progress: bool | None, seconds: float = math.inf, stop: Ints | None = None) -> StudyPlan:
    """Simulate the studies, or those that are complete after some seconds or after Ctrl-C; at least two are needed.

    It also ends when another thread sets ``stop[0]``, in the middle of a study.
    """
    cases, replications = prepared.cases, prepared.replications
    totals = {_title(name, share): replications for name, _, share in cases}
    found: dict[str, list[Games]] = {title: [] for title in totals}
    limit = time.monotonic() + seconds
    stop = np.zeros(1, np.int64) if stop is None else stop
    try:
        with bars(totals, progress, "studies") as bar:
            for done, tapes, seeds in _games(prepared):
                for name, policy, share in cases:
                    if time.monotonic() > limit:
                        raise TimeoutError
                    title = _title(name, share)
                    games = _played(policy, share, tapes, seeds, prepared.rule, stop)
                    if stop[0]:
                        raise TimeoutError
                    found[title].append(games)
                    bar.show(title, done)
    except (KeyboardInterrupt, TimeoutError):
        if min(map(len, found.values())) == 0:
            raise
    complete = min(map(len, found.values()))
    rows: list[PlanRow] = []
    for name, _, share in cases:
        games = Games(*map(np.concatenate, zip(*found[_title(name, share)][:complete], strict=True)))
        rows.append(_row(name, share, games, prepared.bandit, prepared.horizon, rows))
    played = min(complete * _CHUNK, replications)
    return StudyPlan(rows, prepared.horizon, prepared.delta, prepared.rule.margin, played, played < replications)


def _bandit(
    given: Bandit | Mapping[str, Sequence[float]] | None, baseline: float | None, lift: float | None, arms: int
) -> Bandit:
    bandit = past_bandit(given) if isinstance(given, Mapping) else given
    if bandit is not None:
        if baseline is not None or lift is not None:
            raise ArgumentError("baseline", "left out if past rewards are given, and so must lift", baseline)
        if not isinstance(Bandit.checked(bandit).objective, Mean):
            raise ArgumentError("bandit", "a Bandit whose arms are judged by their means", bandit)
        return bandit
    if baseline is None:
        raise ArgumentError("baseline", "given, or else past rewards", baseline)
    if lift is None:
        raise ArgumentError("lift", "given with baseline", lift)
    p = number_between("baseline", baseline, 0, 1)
    q = p + lift
    if not 0.0 <= q <= 1.0:
        raise ArgumentError("lift", f"such that baseline + lift is from 0 to 1, with baseline = {p:g}", lift)
    return Bandit([*(Bernoulli(p) for _ in range(arms - 1)), Bernoulli(q)])


def _bounds(bandit: Bandit, bounds: Bounds | None) -> Bounds:
    low, high = bounds or (0.0, 1.0)
    check_around(bandit.support(), (low, high), bounds)
    if not high - low <= LARGEST_SCALE:
        raise ArgumentError("bounds", f"at most {LARGEST_SCALE:g} apart: choose another unit", bounds)
    return low, high


def _policies(given: Policies | None, bandit: Bandit, low: float, high: float) -> dict[str, Policy]:
    """Return the equal split and the policies to compare it with, by short names."""
    if given is None:
        coins = all(hasattr(law, "atoms") and set(law.atoms()[0].tolist()) <= {0.0, 1.0} for law in bandit.arms)
        sampling = ThompsonSampling("bernoulli") if coins else BinarizedTS(low, high)
        given = [TopTwo(low, high), sampling]
    named, bottom, top = as_policies(given), *bandit.support()
    for name, policy in named.items():
        if not isinstance(policy, Policy):
            raise ArgumentError(f"policies[{name!r}]", "a policy with compiled verbs", policy)
        if policy.reward_bounds[0] > bottom or policy.reward_bounds[1] < top:
            raise ArgumentError(f"policies[{name!r}]", f"fit for rewards in [{bottom:g}, {top:g}]", policy)
        policy.check_arms(len(bandit))
    split = type(_SPLIT).__name__
    if named.get(split, _SPLIT) != _SPLIT:
        raise ArgumentError("policies", f"named otherwise than {split}, with which they are compared", split)
    return {split: _SPLIT} | {name: policy for name, policy in named.items() if policy != _SPLIT}


def _floors(floors: Sequence[float], policy: Policy, n_arms: int) -> list[float]:
    """Return the floors to try with a policy; a floor does not change an equal split."""
    if not floors:
        raise ArgumentError("floors", "a list of numbers", floors)
    for share in floors:
        if not 0.0 <= share * n_arms <= 1.0 + SLACK:
            raise ArgumentError("floors", f"numbers from 0 to 1 / {n_arms}, with {n_arms} arms", share)
    return [0.0] if policy == _SPLIT else list(dict.fromkeys(floors))


def _games(prepared: Prepared) -> Iterator[tuple[int, Floats, Any]]:
    """Yield a few games at a time: the number so far, the rewards of each game, and the seeds of the policy."""
    bandit, n_arms = prepared.bandit, len(prepared.bandit)
    for first in range(0, prepared.replications, _CHUNK):
        last = min(first + _CHUNK, prepared.replications)
        seeds = replication_seeds(prepared.root, first, last, n_arms + 1)
        yield last, np.stack([bandit.rewards(one, prepared.horizon) for one in seeds]), seeds[:, n_arms].copy()


def _played(policy: Policy, share: float, tapes: Floats, seeds: Any, rule: WinnerRule, stop: Ints) -> Games:
    games = new_games(tapes.shape[0], tapes.shape[1])
    floors, params = np.full(tapes.shape[1], share), policy.params
    specialized(play_games, params)(params, tapes, floors, rule, seeds, new_stream(), stop, games)
    return games


def _row(name: str, share: float, games: Games, bandit: Bandit, trials: int, before: Sequence[PlanRow]) -> PlanRow:
    """Make a row from the games of one policy; the first row is that of the equal split."""
    ended, winner, gaps = games.trials, games.winners, np.asarray(bandit.gaps)
    decided = winner != NOBODY
    times = np.where(decided, ended, math.inf)
    loss = games.pulls @ gaps + np.where(decided, (trials - ended) * gaps[winner], 0.0)
    mean = float(loss.mean())
    split = before[0].loss if before else mean
    return PlanRow(
        policy=name,
        floor=share,
        decided=float(decided.mean()),
        wrong=float((decided & (gaps[winner] > 0.0)).mean()),
        median=_quantile(times, 0.5),
        ninety=_quantile(times, 0.9),
        loss=mean,
        loss_error=float(loss.std(ddof=1) / math.sqrt(loss.size)),
        relative=mean / split if split > 0.0 else math.nan,
    )


def _quantile(times: Floats, level: float) -> float:
    """Return the least number of trials after which at least this share of studies has decided.

    >>> _quantile(np.array([100.0, 300.0, 200.0, math.inf]), 0.5)
    200.0
    """
    return float(np.sort(times)[math.ceil(level * times.size) - 1])


def _title(name: str, share: float) -> str:
    return f"{name}, floor {share:g}" if share else name


def _called(row: PlanRow) -> str:
    return f"{row.policy} with a floor of {row.floor:g}" if row.floor else row.policy


def _decides(row: PlanRow, trials: int) -> str:
    if math.isfinite(row.median):
        return f"decides after {row.median:,.0f} trials (median)"
    return f"decides in {row.decided:.0%} of cases within {trials:,} trials"


def _compared(relative: float) -> str:
    """Describe a loss relative to that of the equal split.

    >>> _compared(0.64), _compared(1.1), _compared(0.998), _compared(math.nan)
    (', 36% less', ', 10% more', ', about as much', '')
    """
    if math.isnan(relative):
        return ""
    change = f"{abs(1.0 - relative):.0%}"
    return ", about as much" if change == "0%" else f", {change} {'less' if relative < 1.0 else 'more'}"


def _cells(row: PlanRow, trials: int) -> tuple[str, ...]:
    """Return a row as people read it."""
    late = f"> {trials:,}"
    times = [f"{time:,.0f}" if math.isfinite(time) else late for time in (row.median, row.ninety)]
    relative = f"{row.relative:.0%}" if math.isfinite(row.relative) else ""
    return row.policy, f"{row.floor:g}", f"{row.decided:.0%}", *times, with_error(row.loss, row.loss_error), relative
