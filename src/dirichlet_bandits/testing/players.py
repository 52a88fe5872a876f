"""Play a policy of either form step by step, one verb at a time."""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.simulation.python_loop import checked_round


class Unsound(Exception):  # noqa: N818 - a finding, told to the author of a policy
    """A policy broke its contract while it played."""


class PlayerUnderTest(Protocol):
    """One play of a policy. Its methods raise :class:`Unsound` when the policy does what it must not."""

    def select(self, rng: np.random.Generator) -> Any:
        """Return the arms of the next round."""

    def update(self, arm: int, reward: float, rng: np.random.Generator) -> None:
        """Give the policy the reward of an arm that was pulled."""


def play(
    player: PlayerUnderTest,
    n_arms: int,
    pulls: int,
    draw: Callable[[np.random.Generator], float],
    seed: int,
    delay: int = 0,
) -> list[int]:
    """Pull every arm once, then what the policy selects, and return the arms in the order of their pulls.

    The first reward of each arm is known at once, any other one only ``delay`` pulls later.
    """
    rng, rewards = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    chosen, arms, waiting = list(range(n_arms)), list[int](), list[tuple[int, float]]()
    while True:
        for arm in chosen:
            waiting.append((arm, draw(rewards)))
            arms.append(arm)
            while len(waiting) > (delay if len(arms) > n_arms else 0):
                player.update(*waiting.pop(0), rng)
            if len(arms) == pulls:
                return arms
        player.select(rng)  # a live study may ask several times before a reward comes
        answer = player.select(rng)
        try:
            chosen = checked_round(answer, n_arms)
        except ArgumentError as error:
            expected = "an arm from 0 to n_arms - 1, or a sequence of them that is not empty"
            raise Unsound(f"select must return {expected}; it returned {answer!r}") from error


def reward_inside(policy: Any, reward: float) -> float:
    """Return the reward, moved into the interval that a compiled policy declares."""
    low, high = policy.reward_bounds if isinstance(policy, Policy) else (-math.inf, math.inf)
    if high <= 0.0 or low >= 1.0:  # the scenes are written for rewards around [0, 1]
        reward += low if low > -math.inf else high - 1.0
    return float(min(max(reward, low), high))
