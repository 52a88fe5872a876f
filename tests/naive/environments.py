"""Environments as one would first write them: a list of what is on its way, searched before each decision."""

import math

import numpy as np

from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.seeding import generator


def play(
    policy,
    reward_of,
    gaps,
    horizon,
    seed,
    spare,
    *,
    delay_of=None,
    window=math.inf,
    late=None,
    batches=None,
    ask=None,
    fewest=2,
):
    """Return the pulls and the cumulative regret of one replication.

    ``ask(policy, known, reported, waiting, now, rng)`` asks the policy, by default by telling it everything anew;
    ``reported`` has a triple of arm, reward and time of the pull for each report, ``waiting`` a pair of arm and time
    for each pull whose reward is outstanding.

    ``reward_of(arm, t, j)`` is the reward of the pull at time t, the j-th of the arm; ``delay_of(arm, t, j)`` is its
    delay. ``late`` is what a reward beyond the window counts as, None if it is lost. The policy is asked when
    ``fewest`` arms have a reward.
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
            for _, t, arm, value in due:
                if value is None:
                    tries[arm] -= 1
                else:
                    reported.append((arm, value, t))
            told = now + 1
        known = sorted({arm for arm, _, _ in reported})
        if tries.min() == 0 or len(known) < fewest:
            chosen = np.flatnonzero(tries == tries.min())
            shuffle(chosen, rng if now == 0 else spare)
        else:
            waiting = [(arm, t) for _, t, arm, _ in under_way]
            chosen = (ask or asked)(policy, known, reported, waiting, now, rng)
        for arm in list(chosen)[: horizon - now]:
            t, j = len(pulls), pulls.count(arm)
            reward, delay = reward_of(arm, t, j), 0 if delay_of is None else delay_of(arm, t, j)
            value = reward if delay <= window else late
            under_way.append((t + 1 + min(delay, window), t, int(arm), value))
            tries[arm] += 1
            pulls.append(arm)
            regret.append(regret[-1] + gaps[t, arm])
    return np.bincount(pulls, minlength=n_arms), np.array(regret[1:])


def asked(policy, known, reported, waiting, now, rng):
    """Ask a policy that is told everything anew; only for policies whose updates draw nothing."""
    state = policy.init(len(known))
    for arm, value, _ in reported:
        state = policy.update(state, known.index(arm), value, rng)
    return [known[place] for place in policy.select(state, rng)]


def asked_in_window(policy, known, reported, waiting, now, rng):
    """Ask a sliding window: its inner policy sees the rewards of the last decisions, in the order of the decisions."""
    recent = sorted((t, arm, value) for arm, value, t in reported if t >= now - policy.window)
    absent = np.array([arm for arm in known if arm not in {arm for _, arm, _ in recent}], int)
    if absent.size:
        shuffle(absent, rng)
        return absent.tolist()
    return asked(policy.policy, known, [(arm, value, t) for t, arm, value in recent], waiting, now, rng)


def asked_discounted(policy, known, reported, waiting, now, rng):
    """Ask a discounted UCB1, whose rewards do not tie."""
    counts, sums = dict.fromkeys(known, 0.0), dict.fromkeys(known, 0.0)
    for arm, value, t in reported:
        weight = policy.gamma ** (now - 1 - t)
        if weight >= 1e-6:
            counts[arm] += weight
            sums[arm] += weight * value
    absent = np.array([arm for arm in known if counts[arm] == 0.0], int)
    if absent.size:
        shuffle(absent, rng)
        return absent.tolist()
    log = math.log(max(sum(counts.values()), 1.0))
    return [max(known, key=lambda k: sums[k] / counts[k] + policy.policy.sigma * math.sqrt(2 * log / counts[k]))]


def asked_with_pending(policy, known, reported, waiting, now, rng):
    """Ask a UCB1 that counts outstanding rewards as pulls, where nothing ties."""
    counts = {arm: sum(a == arm for a, *_ in [*reported, *waiting]) for arm in known}
    values = {arm: [x for a, x, _ in reported if a == arm] for arm in known}
    log = math.log(sum(counts.values()))
    sigma = policy.policy.sigma
    return [max(known, key=lambda k: math.fsum(values[k]) / len(values[k]) + sigma * math.sqrt(2 * log / counts[k]))]


class Queue:
    """Algorithm 2 of Joulani et al. (2013): the hook ``ask`` for one game of a queued policy.

    ``seen`` lists the arms and rewards that the inner policy has been given.
    """

    def __init__(self):
        self.seen, self.inner, self.wanted = [], None, []

    def __call__(self, policy, known, reported, waiting, now, rng):
        base = policy.policy
        if self.inner is None:
            self.inner = base.init(len(known))
            self.wanted = sorted(known, key=lambda k: min(t for a, *_, t in [*reported, *waiting] if a == k))
        while (reward := self.head(policy, self.wanted[0], reported, waiting)) is not None:
            arm = self.wanted.pop(0)
            self.inner = base.update(self.inner, arm, reward, rng)
            self.seen.append((arm, reward))
            if not self.wanted:
                self.wanted = base.select(self.inner, rng)
        return self.wanted[:1]

    def head(self, policy, arm, reported, waiting):
        """The next reward of the arm, None if it has not come."""
        n = sum(a == arm for a, _ in self.seen)
        rewards = [(t, x) for a, x, t in reported if a == arm]
        if policy.order == "pulls":
            first = min((t for a, t in waiting if a == arm), default=math.inf)
            rewards = sorted((t, x) for t, x in rewards if t < first)
        return rewards[n][1] if n < len(rewards) else None


def play_tape(policy, bandit, tape, policy_seed, spare, **settings):
    """Play the rewards of a tape, one row per arm; the gaps are those of the bandit."""
    horizon = tape.shape[1]
    gaps = np.tile(bandit.gaps, (horizon, 1))
    return play(policy, lambda arm, t, j: tape[arm, j], gaps, horizon, policy_seed, spare, **settings)
