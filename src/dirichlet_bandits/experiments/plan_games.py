"""The games that :func:`dirichlet_bandits.plan` simulates; they end when the rule of live studies names a winner."""

from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.engine.tally import unpulled
from dirichlet_bandits.numerics.grid import count_on_grid, grid_statistic, new_grid
from dirichlet_bandits.numerics.kinf_statistic import portfolio_regret
from dirichlet_bandits.policies.floored import forced_arm
from dirichlet_bandits.seeding import start_stream
from dirichlet_bandits.types import Floats, Ints, Words

NOBODY = -1


class Games(NamedTuple):
    """Games that were played: the number of trials of each, its winner or -1, and the number of trials of each arm."""

    trials: Ints
    winners: Ints
    pulls: Ints  # one row per game


def new_games(n_games: int, n_arms: int) -> Games:
    """Return space for this many games."""
    return Games(np.zeros(n_games, np.int64), np.zeros(n_games, np.int64), np.zeros((n_games, n_arms), np.int64))


class WinnerRule(NamedTuple):
    """The rule for a winner: bounds of the rewards, log(1/error) for each rival, margin, trials between checks.

    Bounds and margin are in the unit of the rewards.
    """

    lower: float
    upper: float
    log_odds: float
    margin: float
    every: int


@jit
def named_winner(weights: Floats, sums: Floats, pulls: Ints, log_odds: float, margin: float) -> int:
    """Return the arm that the rule of live studies names, or -1, for rewards in [0, 1] on a grid, which all arms have.

    Within a positive margin, the first of several equally good arms may be named.
    """
    leader, tied = 0, False
    for arm in range(pulls.size):
        if pulls[arm] == 0:
            return NOBODY
        ahead = sums[arm] / pulls[arm] - sums[leader] / pulls[leader]
        if ahead > 0.0:
            leader, tied = arm, False
        elif ahead == 0.0 and arm != leader:
            tied = True
    if tied and margin <= 0.0:
        return NOBODY
    for arm in range(pulls.size):
        if arm != leader:
            n_best, n_rival = float(pulls[leader]), float(pulls[arm])
            z = grid_statistic(weights[leader], n_best, weights[arm], n_rival, margin)
            if not z >= log_odds + portfolio_regret(n_best) + portfolio_regret(n_rival):
                return NOBODY
    return leader


@jit
def next_arms(policy: Any, state: Any, pulls: Ints, floors: Floats, rng: np.random.Generator) -> Ints:
    """Return the arms to try next: those never tried, an arm forced by a floor, or those of the policy."""
    arms = unpulled(pulls, rng)
    if arms.size == 0:
        forced = forced_arm(floors, rng.random()) if floors.sum() > 0.0 else -1
        arms = np.full(1, forced) if forced >= 0 else as_round(verbs.select(policy, state, rng), np.empty(1, np.int64))
    return arms


def play_games(
    policy: Any, tapes: Floats, floors: Floats, rule: WinnerRule, seeds: Words, stream: Any, stop: Ints, games: Games
) -> None:
    """Play one game per tape until a winner is named or the tape ends, and write down how it ended; an entry point.

    Another thread ends all of them by setting ``stop[0]``.
    """
    n_arms, length, unit = tapes.shape[1], tapes.shape[2], rule.upper - rule.lower
    rng, words = stream
    for game in range(tapes.shape[0]):
        start_stream(rng, words, seeds[game])
        state = verbs.init(policy, n_arms)
        weights, sums, pulls = new_grid(n_arms), np.zeros(n_arms), np.zeros(n_arms, np.int64)
        trials, winner = 0, NOBODY
        while trials < length and winner == NOBODY and not stop[0]:
            for arm in next_arms(policy, state, pulls, floors, rng):
                reward = tapes[game, arm, pulls[arm]]
                state = verbs.update(policy, state, arm, reward, rng)
                z = (reward - rule.lower) / unit
                count_on_grid(weights[arm], z)
                sums[arm] += z
                pulls[arm] += 1
                trials += 1
                if trials % rule.every == 0:
                    winner = named_winner(weights, sums, pulls, rule.log_odds, rule.margin / unit)
                if winner != NOBODY or trials == length:
                    break
        games.trials[game], games.winners[game] = trials, winner
        games.pulls[game] = pulls
