"""Games between arms and policies that make it easy to name a wrong winner, compiled: for tests and ``benchmarks``."""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit
from dirichlet_bandits.experiments.plan_games import NOBODY, bet_on_pairs, named_winner, new_bettors
from dirichlet_bandits.inference.lottery import BETS, PRIOR
from dirichlet_bandits.types import Floats, Ints

COIN, SURE, JACKPOT, GRADED = range(4)
STEADY, STEP, RAMP, WEEKDAYS = range(4)
SPLIT, GREEDY, THOMPSON, FREEZER, SHARE = range(5)


class Game(NamedTuple):
    """Arms, how their level moves, and a policy: ``batch`` trials are decided at once, and rewards are known later."""

    law: Ints
    means: Floats
    drift: int = STEADY
    policy: int = SPLIT
    share: float = 0.1  # of the other arms, or of the second arm
    floor: float = 0.0
    batch: int = 1
    delay: int = 0


def coins(*means: float, law: int = COIN, **more: float) -> Game:
    """Return a game of arms of one kind."""
    return Game(np.full(len(means), law), np.array(means), **more)  # type: ignore[arg-type]


def decided(game: Game, trials: int, games: int, deltas: tuple[float, ...], seed: int, every: int = 10) -> Ints:
    """Return for each game and delta the trial at which a winner is named, negative if it is not the best; else 0."""
    log_odds = np.log(game.means.size / (0.9 * np.array(deltas)))
    found = np.zeros((games, len(deltas)), np.int64)
    _play(game, trials, log_odds, seed, every, BETS, PRIOR, found)
    return found


@jit
def _level(drift: int, t: int, trials: int) -> float:
    """Return by how much the mean of all arms has moved."""
    if drift == STEP:
        return 0.2 if t > trials // 4 else 0.0
    if drift == RAMP:
        return 0.4 * t / trials
    if drift == WEEKDAYS:
        return 0.15 if (t // 50) % 7 < 5 else -0.15
    return 0.0


@jit
def _reward(law: int, mean: float) -> float:
    if law == SURE:
        return mean
    if law == JACKPOT:  # mostly a little, rarely everything
        low = 0.5 * mean
        return 1.0 if np.random.random() < (mean - low) / (1.0 - low) else low  # noqa: NPY002
    if law == GRADED:
        return np.random.beta(4.0 * mean, 4.0 * (1.0 - mean))  # noqa: NPY002
    return 1.0 if np.random.random() < mean else 0.0  # noqa: NPY002


@jit
def _chances(policy: int, share: float, floor: float, n: Floats, sums: Floats, lucky: bool) -> Floats:
    n_arms = n.size
    chances = np.full(n_arms, 1.0 / n_arms)
    if policy == SHARE:
        chances[:] = (1.0 - share) / (n_arms - 1)
        chances[1] = share
    elif policy == FREEZER:  # leaves a lucky state as it is: it never again tries more than one arm
        if lucky:
            chances[:] = 1e-6
            chances[0] = 1.0 - 1e-6 * (n_arms - 1)
    elif n.min() > 0 and policy == GREEDY:
        chances[:] = share / n_arms
        chances[np.argmax(sums / n)] += 1.0 - share
    elif n.min() > 0 and policy == THOMPSON:  # of two arms, with normal posteriors
        mean = (sums + 1.0) / (n + 2.0)
        spread = math.sqrt((mean * (1.0 - mean) / (n + 3.0)).sum())
        chances[1] = 0.5 * math.erfc((mean[0] - mean[1]) / (spread * math.sqrt(2.0)))
        chances[0] = 1.0 - chances[1]
    return floor + (1.0 - n_arms * floor) * chances


@entry_point
def _play(
    game: Game, trials: int, log_odds: Floats, seed: int, every: int, bets: Floats, prior: Floats, found: Ints
) -> None:
    np.random.seed(seed)  # noqa: NPY002
    law, means, drift, policy, share, floor, batch, delay = game
    best = means.max()
    for g in range(found.shape[0]):
        bettors, n, sums = new_bettors(bets, prior, means.size), np.zeros(means.size), np.zeros(means.size)
        told, arms, chances, lucky = 0, np.zeros(trials, np.int64), np.full(means.size, 1.0 / means.size), False
        rewards = np.zeros(trials)
        for t in range(trials):
            if t % batch == 0:
                while told < t - delay:
                    n[arms[told]] += 1.0
                    sums[arms[told]] += rewards[told]
                    told += 1
                chances = _chances(policy, share, floor, n, sums, lucky)
            u, arm = np.random.random(), 0  # noqa: NPY002
            while arm < means.size - 1 and u >= chances[arm]:
                u -= chances[arm]
                arm += 1
            arms[t], rewards[t] = arm, _reward(law[arm], means[arm] + _level(drift, t, trials))
            bet_on_pairs(bettors, chances, arms[t : t + 1], rewards[t : t + 1], 0.0)
            if (t + 1) % every == 0:
                lucky = lucky or bettors.wealth[1, 0].sum() > 3.0
                for k in range(log_odds.size):
                    if found[g, k] == 0:
                        winner = named_winner(bettors, log_odds[k])
                        if winner != NOBODY:
                            right = means[winner] == best and (means == best).sum() == 1
                            found[g, k] = t + 1 if right else -t - 1
                if (found[g] != 0).all():
                    break
