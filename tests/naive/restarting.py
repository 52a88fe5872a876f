"""Policies for changing rewards, as their papers write them: before each decision, look at the whole past again."""

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
    return min(1.0, 0.2 * math.sqrt(n_arms / max(since, 1)))


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
    """``rate(K, since, alarms)`` is the probability of exploration, ``since`` rewards after the last alarm."""

    def __init__(self, ask, alarm, rate=diminishing, local=False, first=1, scheduled=None):
        self.ask, self.alarm, self.rate = ask, alarm, rate
        self.local, self.first, self.scheduled = local, first, scheduled

    def __call__(self, histories, rng):
        n_arms, time = len(histories), len(histories.order)
        kept, restarts, alarms = [[] for _ in range(n_arms)], [0] * n_arms, []
        for number, (arm, reward) in enumerate(histories.order, start=1):
            kept[arm].append(reward)
            if self.alarm(kept[arm]):
                for k in [arm] if self.local else range(n_arms):
                    kept[k], restarts[k] = [], number
                alarms.append(number)
        since = time - max(alarms, default=0)
        rate = self.rate(n_arms, since, len(alarms))
        fresh = [k for k in range(n_arms) if len(kept[k]) < self.first]
        if not (fresh and self.first > 1):
            clock = {"since the alarm": since, "since the start": time}.get(self.scheduled)
            if clock is not None and clock % int(n_arms / rate) < n_arms:
                return [clock % int(n_arms / rate)]
            if not self.scheduled and rng.random() < rate:
                return [int(rng.integers(n_arms))]
        if fresh:
            return list(rng.permutation(fresh))
        return self.ask(kept, [time - restart for restart in restarts], rng)


def exp3s(histories, rng, alpha, gamma):
    """Weights that are never divided by anything; the opening does not count."""
    n_arms = len(histories)
    weights = [1.0] * n_arms

    def chance(arm):
        return (1 - gamma) * weights[arm] / sum(weights) + gamma / n_arms

    for arm, reward in histories.order[n_arms:]:
        estimate, total = reward / chance(arm), sum(weights)
        weights[arm] *= math.exp(gamma * estimate / n_arms)
        weights = [w + math.e * alpha / n_arms * total for w in weights]
    return [int(rng.choice(n_arms, p=[chance(arm) for arm in range(n_arms)]))]
