"""What a duel of Dirichlet Sampling reweights besides the bonus, and a contour of it that follows the rewards."""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.policies.dirichlet import BDSParams, QDSParams, RDSParams, rank_of_tail, split_tail, tail_mean
from dirichlet_bandits.policies.tally import Floats
from dirichlet_bandits.policies.verbs import implements, verb


@verb
def resampled(policy: Any, x: Floats) -> Any:
    """What is reweighted for a challenger with rewards x: values and Dirichlet weights (none: all 1)."""


@implements(resampled, BDSParams, RDSParams)
def all_rewards(policy: Any, x: Floats) -> tuple[Floats, Floats]:
    """The rewards as they are."""
    return x, np.empty(0)


@implements(resampled, QDSParams)
def truncated_rewards(policy: QDSParams, x: Floats) -> tuple[Floats, Floats]:
    """The rewards below the tail, and the tail's mean with the weight of the tail."""
    below, tail = split_tail(x, policy.alpha)
    weights = np.ones(below.size + 1)
    weights[-1] = tail.size
    return np.append(below, tail_mean(tail, 0, math.nan)), weights


@verb
def learn(policy: Any, contours: Contours, arm: int, x: Floats, reward: float) -> Any:
    """Bring the contour of an arm with rewards x up to date with one more."""


@implements(learn, BDSParams, RDSParams)
def learn_reward(policy: Any, contours: Contours, arm: int, x: Floats, reward: float) -> None:
    """One more value."""
    contour.append(contours, arm, reward, 1)


@implements(learn, QDSParams)
def learn_truncated(policy: QDSParams, contours: Contours, arm: int, x: Floats, reward: float) -> None:
    """One more value below the tail, which the reward seldom reaches, or one more in it."""
    below, tail = split_tail(x, policy.alpha)
    dropped = 1 if rank_of_tail(x.size + 1, policy.alpha) > below.size + 1 else 0
    if dropped > 0:
        contour.append(contours, arm, min(reward, tail[0]), 1)
        if reward <= tail[0]:
            return
    elif below.size > 0 and reward < below.max():
        contour.append(contours, arm, reward, 1)
        contour.append(contours, arm, below.max(), -1)
        reward = below.max()
    contour.append(contours, arm, tail_mean(tail, 0, math.nan), -tail.size)
    contour.append(contours, arm, tail_mean(tail, dropped, reward), tail.size + 1 - dropped)
