"""Policies that restart, as their papers write them: after each reward, look at the whole list again.

A twin is called with the histories of a game; it remembers what it decided, so it knows the order of the rewards.
"""

import math

from tests.naive.policies import average, kl, kl_upper, largest


def glr(x):
    """The largest gain of two means over one."""
    n, m = len(x), average(x)
    splits = ((s, average(x[:s]), average(x[s:])) for s in range(1, n))
    gains = (s * kl("bernoulli", None, a, m) + (n - s) * kl("bernoulli", None, b, m) for s, a, b in splits)
    return max(gains, default=0.0)


def glr_alarm(delta, factor=3.0, every=1):
    return lambda x: len(x) > 1 and len(x) % every == 0 and glr(x) >= math.log(factor * len(x) ** 1.5 / delta)


def cusum_alarm(first, drift, threshold):
    def alarm(x):
        up = down = 0.0
        for value in x[first:]:
            up = max(0.0, up + value - average(x[:first]) - drift)
            down = max(0.0, down + average(x[:first]) - value - drift)
        return max(up, down) >= threshold

    return alarm


def mean_shift_alarm(window, threshold):
    half = window // 2
    return lambda x: len(x) >= window and abs(sum(x[-half:]) - sum(x[-window:-half])) > threshold


def diminishing(n_arms, since, alarms):
    return min(1.0, 0.1 * math.sqrt(n_arms / since)) if since else 1.0


def constant(rate):
    return lambda n_arms, since, alarms: rate


def klucb(kept, clocks, rng):
    """KL-UCB in which each arm has the time since its own restart."""
    indices = [kl_upper("bernoulli", None, average(h), math.log(t) / len(h)) for h, t in zip(kept, clocks, strict=True)]
    return largest([round(index, 9) for index in indices], rng)


def of(twin, **parameters):
    """A twin of another policy, which needs no clock."""
    return lambda kept, clocks, rng: twin(kept, rng, **parameters)


class Restarting:
    """A game begins when every arm has one reward. ``rate(K, since, alarms)`` is the probability of exploration."""

    def __init__(self, ask, alarm, rate=diminishing, local=False, first=1, scheduled=False):
        self.ask, self.alarm, self.rate = ask, alarm, rate
        self.local, self.first, self.scheduled = local, first, scheduled

    def __call__(self, histories, rng):
        if sum(len(h) for h in histories) == len(histories):
            self.kept = [list(h) for h in histories]
            self.restarts, self.time, self.last_alarm, self.alarms = [0] * len(histories), len(histories), 0, 0
        else:
            seen = {arm: len(histories[arm]) - self.round.count(arm) for arm in self.round}
            for arm in self.round:
                self.observe(arm, histories[arm][seen[arm]])
                seen[arm] += 1
        self.round = [int(arm) for arm in self.decide(rng)]
        return self.round

    def observe(self, arm, reward):
        self.time += 1
        self.kept[arm].append(reward)
        if self.alarm(self.kept[arm]):
            for k in [arm] if self.local else range(len(self.kept)):
                self.kept[k], self.restarts[k] = [], self.time
            self.last_alarm, self.alarms = self.time, self.alarms + 1

    def decide(self, rng):
        n_arms, since = len(self.kept), self.time - self.last_alarm
        fresh = [k for k in range(n_arms) if len(self.kept[k]) < self.first]
        rate = self.rate(n_arms, since, self.alarms)
        if not (fresh and self.first > 1):
            if self.scheduled and since % int(n_arms / rate) < n_arms:
                return [since % int(n_arms / rate)]
            if not self.scheduled and rng.random() < rate:
                return [rng.integers(n_arms)]
        if fresh:
            return rng.permutation(fresh)
        return self.ask(self.kept, [self.time - restart for restart in self.restarts], rng)


class EXP3S:
    """Weights that are never divided by anything."""

    def __init__(self, alpha, gamma):
        self.alpha, self.gamma = alpha, gamma

    def __call__(self, histories, rng):
        n_arms = len(histories)
        if sum(len(h) for h in histories) == n_arms:
            self.weights = [1.0] * n_arms
        else:
            estimate, total = histories[self.arm][-1] / self.chances[self.arm], sum(self.weights)
            self.weights[self.arm] *= math.exp(self.gamma * estimate / n_arms)
            self.weights = [w + math.e * self.alpha / n_arms * total for w in self.weights]
        total = sum(self.weights)
        self.chances = [(1 - self.gamma) * w / total + self.gamma / n_arms for w in self.weights]
        self.arm = int(rng.choice(n_arms, p=self.chances))
        return [self.arm]
