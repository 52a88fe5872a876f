"""The games that :func:`dirichlet_bandits.plan` simulates; they end when the rule of live studies names a winner."""

from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.engine.tally import unpulled
from dirichlet_bandits.inference.lottery import PRODUCT, Pair, Purse, bet_on_round, peak
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

    Bounds and margin are in the unit of the rewards. ``bets`` are those of the lottery rule, with their weights.
    """

    lower: float
    upper: float
    log_odds: float
    margin: float
    every: int
    bets: Floats
    prior: Floats


class Bettors(NamedTuple):
    """The wealth of bets on "b beats a" for every pair of arms (``inference/lottery.py``): the first index is b."""

    bets: Floats
    gains: Floats
    wealth: Floats
    sums: Floats
    moments: Floats


@jit
def new_bettors(bets: Floats, prior: Floats, n_arms: int) -> Bettors:
    """Return the bettors before the first round."""
    wealth, sums = np.empty((n_arms, n_arms, bets.size)), np.zeros((n_arms, n_arms, 6))
    wealth[:] = prior
    sums[:, :, 5] = 1.0
    return Bettors(bets, np.empty(bets.size), wealth, sums, np.zeros((n_arms, n_arms, 3, 3)))


@jit
def bet_on_pairs(bettors: Bettors, chances: Floats, arms: Ints, rewards: Floats, h: float) -> None:
    """Bet on a round, for all pairs of which an arm is in it."""
    n_arms = chances.size
    for b in range(n_arms):
        for a in range(n_arms):
            if a != b and ((arms == a) | (arms == b)).any():
                known = bettors.wealth[b, a], bettors.sums[b, a], bettors.moments[b, a]
                purse = Purse(bettors.bets, bettors.gains, *known)
                bet_on_round(chances, arms, rewards, Pair(b, a, h, PRODUCT), purse)


@jit
def named_winner(bettors: Bettors, log_odds: float) -> int:
    """Return the first arm that has beaten all others, or -1."""
    n_arms = bettors.sums.shape[0]
    for b in range(n_arms):
        beaten = 0
        for a in range(n_arms):
            beaten += a != b and peak(bettors.sums[b, a]) >= log_odds
        if beaten == n_arms - 1:
            return b
    return NOBODY


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

    Propensities take long to compute, so the bets take recent shares of the arms for them: of the last tenth of the
    rounds, and at least of the last twenty. As the arms do not change, that hardly matters. Another thread ends all
    games by setting ``stop[0]``.
    """
    n_arms, length, unit = tapes.shape[1], tapes.shape[2], rule.upper - rule.lower
    rng, words = stream
    for game in range(tapes.shape[0]):
        start_stream(rng, words, seeds[game])
        state = verbs.init(policy, n_arms)
        pulls, shares, rounds = np.zeros(n_arms, np.int64), np.full(n_arms, 2.0 / n_arms), 2.0
        bettors = new_bettors(rule.bets, rule.prior, n_arms)
        trials, decided, winner = 0, 0, NOBODY
        while trials < length and winner == NOBODY and not stop[0]:
            arms = next_arms(policy, state, pulls, floors, rng)
            if trials < n_arms:  # the opening
                arms = arms[:1]
            arms = arms[: length - trials]
            rewards = np.empty(arms.size)
            for i in range(arms.size):
                reward = tapes[game, arms[i], pulls[arms[i]]]
                state = verbs.update(policy, state, arms[i], reward, rng)
                rewards[i] = (reward - rule.lower) / unit
                pulls[arms[i]] += 1
            chances = shares / rounds
            bet_on_pairs(bettors, chances, arms, rewards, -rule.margin / unit)
            decided += 1
            kept = 1.0 - 1.0 / max(20.0, 0.1 * decided)
            shares *= kept
            rounds = rounds * kept + 1.0
            for arm in arms:
                shares[arm] += 1.0
            checks = trials // rule.every
            trials += arms.size
            if trials // rule.every > checks:
                winner = named_winner(bettors, rule.log_odds)
        games.trials[game], games.winners[game] = trials, winner
        games.pulls[game] = pulls
