"""Reference implementations of policies that forget old rewards: windows and discounts."""

import math

import numpy as np

from tests.naive.policies import RHO, average, kl_upper, largest, pick


def sliding_window(histories, rng, window, inner):
    seen = [[] for _ in histories]
    for arm, reward in histories.order[-window:]:
        seen[arm].append(reward)
    absent = [arm for arm, h in enumerate(seen) if not h]
    rng.shuffle(absent)
    return absent or inner(seen, rng)


def discounted(histories, rng, gamma, index):
    """``index(n, mean, total)`` of the discounted counts and means; what weighs less than 1e-6 is dropped."""
    n_arms = len(histories)
    counts, sums, weight = [0.0] * n_arms, [0.0] * n_arms, 1.0
    for arm, reward in reversed(histories.order):
        if weight >= 1e-6:
            counts[arm] += weight
            sums[arm] += weight * reward
        weight *= gamma
    absent = [arm for arm in range(n_arms) if counts[arm] == 0.0]
    rng.shuffle(absent)
    indices = [index(n, s / n, sum(counts)) for n, s in zip(counts, sums, strict=True)] if not absent else []
    return absent or largest([round(value, 9) for value in indices], rng)


def discounted_ucb1(histories, rng, gamma, sigma):
    return discounted(histories, rng, gamma, lambda n, mean, t: mean + sigma * math.sqrt(2 * math.log(max(t, 1)) / n))


def discounted_klucb(histories, rng, gamma, family, sigma=None):
    def index(n, mean, t):
        return kl_upper(family, sigma, mean, math.log(max(t, 1)) / n)

    return discounted(histories, rng, gamma, index)


def discounted_ts(histories, rng, gamma):
    return discounted(histories, rng, gamma, lambda n, mean, t: rng.beta(1 + n * mean, 1 + n * (1 - mean)))


def discounted_samples(histories, gamma):
    """Rewards and weights of each arm; what weighs less than 1e-6 is dropped."""
    samples, weight = [([], []) for _ in histories], 1.0
    for arm, reward in reversed(histories.order):
        if weight >= 1e-6:
            samples[arm][0].append(reward)
            samples[arm][1].append(weight)
        weight *= gamma
    return samples


def discounted_npts(histories, rng, gamma, upper):
    samples = discounted_samples(histories, gamma)
    absent = [arm for arm, (x, _) in enumerate(samples) if not x]
    rng.shuffle(absent)
    return absent or largest([float(rng.dirichlet([*w, 1.0]) @ np.array([*x, upper])) for x, w in samples], rng)


def discounted_rds(histories, rng, gamma, rho="sqrt-log"):
    samples = discounted_samples(histories, gamma)
    absent = [arm for arm, (x, _) in enumerate(samples) if not x]
    rng.shuffle(absent)
    if absent:
        return absent
    counts = [math.fsum(w) for _, w in samples]
    means = [math.fsum(a * b for a, b in zip(x, w, strict=True)) / n for (x, w), n in zip(samples, counts, strict=True)]
    leader = max(range(len(counts)), key=counts.__getitem__)  # weights do not tie
    m, winners = means[leader], []
    for arm, (x, w) in enumerate(samples):
        bonus = m + RHO[rho](counts[arm]) * sum(b * max(m - a, 0.0) for a, b in zip(x, w, strict=True)) / counts[arm]
        index = float(rng.dirichlet([*w, 1.0]) @ np.array([*x, bonus]))
        if arm != leader and (means[arm] >= m - 1e-12 or index >= m):
            winners.append(arm)
    rng.shuffle(winners)
    return winners or [leader]


class SWLBSDA:
    """Follows a run: the lead is looked at after each pull. Fewer pulls than before mean that a new run has begun."""

    def __init__(self, window):
        self.window, self.seen = window, math.inf

    def __call__(self, histories, rng):
        n_arms, order = len(histories), histories.order
        if len(order) < self.seen:
            self.seen, self.leader, self.since = 0, None, 0
        while self.seen < len(order):
            self.seen += 1
            self.look(n_arms, order[: self.seen], rng)
        seen = self.within(n_arms, order)
        absent = [arm for arm in range(n_arms) if not seen[arm]]
        rng.shuffle(absent)
        return absent or self.winners(seen, order, rng)

    def within(self, n_arms, order):
        return [[reward for arm, reward in order[-self.window :] if arm == k] for k in range(n_arms)]

    def look(self, n_arms, order, rng):
        seen, arm = self.within(n_arms, order), order[-1][0]
        standing = [(len(h), math.fsum(h)) for h in seen]
        n, leader = sum(map(len, seen)), self.leader
        if leader is None or len(seen[leader]) < n / (2 * n_arms):
            leader = pick([k for k in range(n_arms) if standing[k] == max(standing)], rng)
        if len(seen[arm]) >= n / n_arms and standing[arm] > standing[leader]:
            leader = arm
        if leader != self.leader:
            self.leader, self.since = leader, len(order)

    def winners(self, seen, order, rng):
        log, leader = math.log(self.window), self.leader
        wait = int((len(seen) - 1) * log**2)
        recent = {arm for arm, _ in order[-wait:]} if wait else set()
        stuck = len(order) - self.since >= wait and leader not in recent
        won = []
        for arm, h in enumerate(seen):
            if arm != leader:
                n = min(len(h), len(seen[leader]))
                duel = len(h) < log ** (1 / 3) or average(h) >= average(seen[leader][-n:])
                if duel or (stuck and arm not in recent and len(h) <= log**2):
                    won.append(arm)
        rng.shuffle(won)
        return won or [leader]
