"""Readings beside means and intervals: lift in percent, the probability of being best, and earnings.

None of these is a guarantee. The probability of being best is Bayesian: each mean has the posterior of the Bayesian
bootstrap, rewards weighted by Dirichlet(1, ..., 1), with one more reward at each bound if there are bounds. It is
computed from the Beta distribution (without bounds, the normal one) of the same mean and variance. For rewards of 0 and
1 this is the exact posterior with a uniform prior, Beta(1 + successes, 1 + failures).

Reference: Rubin (1981), The Bayesian bootstrap, Annals of Statistics 9.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dirichlet_bandits.arms import Mean
from dirichlet_bandits.live.bounds import Bounds, are_finite
from dirichlet_bandits.live.direction import Direction, mirrored
from dirichlet_bandits.live.drift import drifting
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.pairs import rewards_by_arm
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    import pandas as pd

_POINTS: Final = 4000  # of the integral, for all arms together
_REACH: Final = 8.0  # standard deviations around each mean


def add_readings(
    frame: "pd.DataFrame", journal: Journal, policy: Policy, direction: str, control: str | None, bounds: Bounds
) -> None:
    """Add the columns and attributes of this module to a summary."""
    means, told = frame["mean"], frame["told"]
    base = control if control is not None else _leader(frame, direction)
    reference = math.nan if base is None else float(means[base])
    frame["lift_percent"] = 100.0 * (means / reference - 1.0) if reference > 0.0 else math.nan
    frame["probability_best"] = _probabilities(journal, policy, direction, bounds)
    frame.attrs["compared_with"] = base
    parts = journal.parts.journals.values() or [journal]
    frame.attrs["earned"] = float(sum(sum(part.told.rewards) for part in parts)) if told.sum() else 0.0
    frame.attrs["equal_split"] = float(sum(map(_equal_split, parts)))
    names = {part.names[arm] for part in parts for arm in drifting(rewards_by_arm(part), part.since, bounds)}
    frame.attrs["drift"] = [name for name in journal.names if name in names]


def drift_words(arms: Sequence[str]) -> str:
    """Return the warning that a summary shows for arms that drift.

    >>> drift_words(["a", "b"])
    'the rewards of a, b do not look like one distribution: intervals and winners may be wrong'
    """
    return f"the rewards of {', '.join(arms)} do not look like one distribution: intervals and winners may be wrong"


def _leader(frame: "pd.DataFrame", direction: str) -> str | None:
    """Return the active arm with the best mean."""
    means = frame["mean"][frame["active"]].dropna()
    if means.empty:
        return None
    return str(means.idxmax() if direction == "maximize" else means.idxmin())


def _equal_split(journal: Journal) -> float:
    """Return the total if all arms had shared the same number of rewards equally, by their present means."""
    means = [float(x.mean()) for x in rewards_by_arm(journal) if x.size]
    return len(journal.told.rewards) * float(np.mean(means)) if means else 0.0


def _probabilities(journal: Journal, policy: Policy, direction: str, bounds: Bounds) -> Floats:
    """Return the probability of being best for each active arm; NaN where it is not defined."""
    found = np.full(len(journal.names), math.nan)
    if journal.parts.journals or not isinstance(policy.objective, Mean):
        return found
    turned = mirrored(direction, *bounds) if are_finite(bounds) else Direction(direction)
    active = journal.active_arms()
    rewards = rewards_by_arm(journal)
    found[active] = probability_best([turned.turn(rewards[arm]) for arm in active], bounds)
    return found


def probability_best(of_arm: Sequence[Floats], bounds: Bounds) -> Floats:
    """Return the posterior probability that each arm has the largest mean; NaN if that is undefined.

    >>> coins = np.array([1.0, 0.0]), np.array([1.0, 1.0, 0.0])
    >>> probability_best(coins, (0.0, 1.0)).round(3).tolist()
    [0.371, 0.629]
    """
    bounded = are_finite(bounds)
    if not bounded and any(x.size < 2 or not x.var() > 0.0 for x in of_arm):
        return np.full(len(of_arm), math.nan)
    ends = np.array(bounds) if bounded else np.empty(0)
    all_of = [np.append(x, ends) for x in of_arm]
    mean = np.array([x.mean() for x in all_of])
    error = np.sqrt([x.var() / (x.size + 1) for x in all_of])
    each = max(_POINTS // len(of_arm), 20)
    points = (mean[:, None] + error[:, None] * np.linspace(-_REACH, _REACH, each)).ravel()
    points = np.unique(np.clip(points, *bounds))
    below = _distribution(points, mean, error, bounds)
    others = np.stack([np.prod(np.delete(below, arm, axis=0), axis=0) for arm in range(len(of_arm))])
    found = (np.diff(below, axis=1) * 0.5 * (others[:, 1:] + others[:, :-1])).sum(axis=1)
    return np.asarray(found / found.sum())


def _distribution(points: Floats, mean: Floats, error: Floats, bounds: Bounds) -> Floats:
    """Return distribution functions, one row per arm."""
    from scipy.special import betainc, ndtr

    if not are_finite(bounds):
        return np.asarray(ndtr((points - mean[:, None]) / error[:, None]))
    unit = bounds[1] - bounds[0]
    m, v = (mean - bounds[0]) / unit, np.square(error / unit)
    size = m * (1.0 - m) / v - 1.0
    z = np.clip((points - bounds[0]) / unit, 0.0, 1.0)
    return np.asarray(betainc((m * size)[:, None], ((1.0 - m) * size)[:, None], z))
