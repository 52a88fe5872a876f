"""Off-policy estimates: what another choice of arms would have earned, from the log.

The unit is the round (a single trial, unless the policy is round-based). Given everything known when round j
was drawn, arm a is in it with the recorded probability q_j(a); r_j(a) is its reward. For a choice that would
have taken arm a with probability pi_j(a) in round j,

    IPS              V = sum_j c_j / sum_j m_j,     c_j = sum_{a in round j} pi_j(a) r_j(a) / q_j(a),
                                                    m_j = sum_{a: q_j(a) > 0} pi_j(a)
    self-normalized  V = sum_j c_j / sum_j d_j,     d_j = sum_{a in round j} pi_j(a) / q_j(a)

E[c_j | the past] = sum_a pi_j(a) mu_a, so IPS is unbiased for the mean over the rounds in which q_j(a) > 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.errors import ArgumentError, NotFoundError
from dirichlet_bandits.inference.logged_rounds import LoggedRounds
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number

_SURE: Final = 1e-9  # propensities that sum to 1 within it are those of rounds of one arm


@dataclass(frozen=True)
class Estimate:
    """The mean reward per trial of another choice, estimated from the log of a study.

    ``unsupported`` names the arms that the choice would take but the log does not cover, with the share of the
    choice's weight on them: in rounds where their propensity was zero, or in all rounds if the arm was assigned and
    none of its trials has a reward. The estimates leave that share out; they are NaN if nothing is left.
    The log ends with the last round that has a reward: later rounds wait, and are left out. ``missing`` trials of the
    other ``rounds`` have no reward; their rewards are assumed to be like the others of their arm.
    If bounds of the rewards are known, the mean of the choice lies between ``low`` and ``high`` with the
    ``confidence``, at all times at once and even if the arms change (``inference/off_policy_intervals.py``); otherwise
    both are NaN. This interval leaves out rounds in which an arm with a fixed weight could not come.

    ``effective_rounds`` is (sum d)^2 / sum d^2: how many rounds of the choice itself the log is worth.

    Reference: Horvitz and Thompson (1952), JASA 47; Hajek (1971); Swaminathan and Joachims (2015), The
    self-normalized estimator for counterfactual learning, NeurIPS.
    """

    ips: float
    ips_error: float
    self_normalized: float
    self_normalized_error: float
    rounds: int
    effective_rounds: float
    unsupported: dict[str, float]
    missing: int
    low: float = math.nan
    high: float = math.nan
    confidence: float = math.nan


class Wanted(NamedTuple):
    """What a choice would do: the probability of each arm in each round, and the rounds that count for it.

    ``lost`` is the part of it that the log does not cover, by arm. Estimates without an interval use ``spread``: for
    fixed weights of arms, the weight of each is spread over the rounds in which it could come.
    """

    in_rounds: Floats
    counted: np.ndarray
    lost: dict[str, float]
    spread: Floats

    def mass(self, log: LoggedRounds) -> float:
        """Return the weight that the choice puts on arms that could come, over the rounds that count."""
        return float(np.where((log.propensities > 0.0) & self.counted[:, None], self.in_rounds, 0.0).sum())


def wanted_in_rounds(log: LoggedRounds, in_rounds: Floats) -> Wanted:
    """Return a choice that takes arms with these probabilities, one row per round."""
    return Wanted(in_rounds, log.complete, log.unsupported(in_rounds, log.propensities > 0.0), in_rounds)


def wanted_by_weights(log: LoggedRounds, choice: Mapping[str, float] | str) -> Wanted:
    """Return a choice of one arm, or of arms with fixed weights."""
    weights, possible = weights_of(choice, log.names), log.propensities > 0.0
    # Whether an arm could come was known when the round was drawn: a choice of rounds that favors no reward.
    counted = log.complete & possible[:, weights > 0.0].all(axis=1)
    never = ~(possible & log.complete[:, None]).any(axis=0) & (weights > 0.0)
    lost = {log.names[k]: float(weights[k]) for k in np.flatnonzero(never)}
    return Wanted(np.tile(weights, (possible.shape[0], 1)), counted, lost, _spread(log, weights))


def largest_weight(log: LoggedRounds, wanted: Floats, counted: np.ndarray) -> float:
    """Return the most that the weights of a round can sum to: the largest, or all if several arms may be in it."""
    p = log.propensities
    ratios = np.where(p > 0.0, wanted, 0.0) / np.where(p > 0.0, p, 1.0)
    single = p.sum(axis=1) <= 1.0 + _SURE
    return float(np.where(single, ratios.max(axis=1), ratios.sum(axis=1))[counted].max())


def _spread(log: LoggedRounds, weights: Floats) -> Floats:
    """Spread the fixed weight of each arm over the rounds in which it could come, so that its total is right."""
    possible = log.possible & log.complete[:, None]
    shown = possible.sum(axis=0)
    spread = np.where(shown > 0, weights * log.complete.sum() / np.maximum(shown, 1), 0.0)
    return np.where(possible | (shown == 0), np.where(shown > 0, spread, weights), 0.0)


def weights_of(choice: Mapping[str, float] | str, names: list[str]) -> Floats:
    """Return a choice that is not a policy as weights of all arms, which sum to 1."""
    given = {choice: 1.0} if isinstance(choice, str) else choice
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError("choice", "a policy, an arm, or weights of arms", choice)
    weights = np.zeros(len(names))
    for name, weight in given.items():
        weights[arm_number(names, name)] = finite_number(f"choice[{name!r}]", weight)
    if weights.min() < 0.0 or not math.isclose(weights.sum(), 1.0, rel_tol=1e-9):
        raise ArgumentError("choice", "weights that are not negative and sum to 1", choice)
    return weights


def arm_number(names: list[str], name: str) -> int:
    """Return the number of an arm of the study; refuse a name that no arm has."""
    if name not in names:
        raise NotFoundError(f"no arm {name!r} in the study")
    return names.index(name)


def estimate_rounds(log: LoggedRounds, wanted: Floats) -> Estimate:
    """Return both estimates of a choice that takes arms with the ``wanted`` probabilities, one row per round.

    Standard errors treat the rounds as a martingale: sqrt(sum of squared deviations).
    """
    trials, n = log.weighted(wanted, log.complete), log.complete.size
    arms = np.arange(len(log.names))
    unanswered = np.isin(arms, trials.arm) & ~np.isin(arms, trials.arm[trials.told])
    possible = log.possible & ~unanswered
    weight = np.where(unanswered[trials.arm], 0.0, trials.weight)
    c, d = np.bincount(trials.row, weight * trials.filled(), n), np.bincount(trials.row, weight, n)
    m = np.where(possible & log.complete[:, None], wanted, 0.0).sum(axis=1)
    ips = _ratio(c.sum(), m.sum()) if d.any() else math.nan  # without a reward of the choice, nothing is known
    normalised = _ratio(c.sum(), d.sum())
    return Estimate(
        ips=ips,
        ips_error=_ratio(math.sqrt(np.square(c - ips * m).sum()), m.sum()),
        self_normalized=normalised,
        self_normalized_error=_ratio(math.sqrt(np.square(c - normalised * d).sum()), d.sum()),
        rounds=int(log.complete.sum()),
        effective_rounds=trials.effective_rounds(),
        unsupported=log.unsupported(wanted, possible),
        missing=int(trials.told.size - trials.told.sum()),
    )


def _ratio(a: float, b: float) -> float:
    return float(a / b) if b > 0.0 else math.nan
