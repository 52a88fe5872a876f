"""Worlds as one would first write them: a list of what is on its way, searched before each decision."""

import math

import numpy as np

from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.seeding import generator


def play(policy, reward_of, gaps, horizon, seed, spare, *, delay_of=None, window=math.inf, late=None, batches=None):
    """Return the pulls and the cumulative regret of one replication.

    ``reward_of(arm, t, j)`` is the reward of the pull at time t, the j-th of the arm; ``delay_of(arm, t, j)`` is its
    delay. ``late`` is what a reward beyond the window counts as, None if it is lost.
    """
    n_arms = gaps.shape[1]
    rng = generator(seed)
    batches = set(range(horizon)) if batches is None else set(batches)
    under_way, reported, pulls, regret, told = [], [], [], [0.0], 0
    tries = np.zeros(n_arms, int)
    while len(pulls) < horizon:
        now = len(pulls)
        if any(first in batches for first in range(told, now + 1)):  # a batch began since the last report
            due = sorted(item for item in under_way if item[0] <= now)
            under_way = [item for item in under_way if item[0] > now]
            for _, _, arm, value in due:
                if value is None:
                    tries[arm] -= 1
                else:
                    reported.append((arm, value))
            told = now + 1
        known = sorted({arm for arm, _ in reported})
        if tries.min() == 0 or len(known) < 2:
            chosen = np.flatnonzero(tries == tries.min())
            shuffle(chosen, rng if now == 0 else spare)
        else:
            chosen = asked(policy, known, reported, rng)
        for arm in list(chosen)[: horizon - now]:
            t, j = len(pulls), pulls.count(arm)
            reward, delay = reward_of(arm, t, j), 0 if delay_of is None else delay_of(arm, t, j)
            value = reward if delay <= window else late
            under_way.append((t + 1 + min(delay, window), t, int(arm), value))
            tries[arm] += 1
            pulls.append(arm)
            regret.append(regret[-1] + gaps[t, arm])
    return np.bincount(pulls, minlength=n_arms), np.array(regret[1:])


def asked(policy, known, reported, rng):
    """Ask a policy that is told everything anew; only for policies whose updates draw nothing."""
    state = policy.init(len(known))
    for arm, value in reported:
        state = policy.update(state, known.index(arm), value, rng)
    return [known[place] for place in policy.select(state, rng)]
