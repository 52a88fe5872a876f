"""The slow, obvious twin of every policy: plain Python on lists of rewards, straight from the pseudo-code.

A twin looks at the histories (one list of rewards for each arm, none empty) and answers with the arms of the
next round.
"""

import functools
import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar


def average(x):
    return math.fsum(x) / len(x)


def pick(candidates, rng):
    """One of the candidates, uniformly."""
    return candidates[int(rng.integers(len(candidates)))]


def largest(indices, rng):
    best = max(indices)
    return [pick([k for k, value in enumerate(indices) if value == best], rng)]


def duels(histories, wins, rng, judge=average):
    """One round of leader against challengers; ``judge`` says what decides between arms pulled equally often."""
    sizes = [len(h) for h in histories]
    means = [judge(h) for h in histories]
    longest = [k for k, n in enumerate(sizes) if n == max(sizes)]
    top = max(means[k] for k in longest)
    leader = pick([k for k in longest if means[k] == top], rng)
    winners = [k for k in range(len(histories)) if sizes[k] < sizes[leader] and wins(histories[k], histories[leader])]
    rng.shuffle(winners)
    return winners or [leader]


def bonus_of_excess(x, m, rho):
    return m + rho * average([max(m - value, 0.0) for value in x])


def dirichlet_sampling(histories, rng, bonus, truncate=None):
    def wins(x, y):
        m = average(y)
        if average(x) >= m:
            return True
        values, weights = (list(x), [1.0] * len(x)) if truncate is None else truncate(x)
        w = rng.dirichlet([*weights, 1.0])
        return float(w @ np.array([*values, bonus(x, m)])) >= m

    return duels(histories, wins, rng)


def bds_known(histories, rng, upper):
    return dirichlet_sampling(histories, rng, lambda x, m: upper)


def bds_detectable(histories, rng, rho, gamma):
    return dirichlet_sampling(histories, rng, lambda x, m: max(max(x) + gamma, bonus_of_excess(x, m, rho)))


RHO = {
    "sqrt-log": lambda n: math.sqrt(math.log(1 + n)),
    "log": lambda n: math.log(1 + n),
    "log2": lambda n: math.log(1 + n) ** 2,
}


def rds(histories, rng, rho="sqrt-log"):
    return dirichlet_sampling(histories, rng, lambda x, m: bonus_of_excess(x, m, RHO[rho](len(x))))


def qds(histories, rng, rho, alpha):
    def truncate(x):
        ordered = sorted(x)
        q = math.ceil(round(len(x) * (1 - alpha), 9))
        tail = ordered[q - 1 :]
        return [*ordered[: q - 1], average(tail)], [1.0] * (q - 1) + [float(len(tail))]

    return dirichlet_sampling(histories, rng, lambda x, m: bonus_of_excess(x, m, rho), truncate)


GROWTH = {"sqrt-log": lambda r: math.sqrt(math.log(r)), "cbrt-log": lambda r: math.log(r) ** (1 / 3), None: lambda r: 0}


def subsampling(histories, rng, subsample, forced=None):
    """Duels of the challenger's mean with that of ``subsample(n, leader's rewards, r)``, in round r."""
    r = 1 + sum(len(h) - 1 for h in histories)

    def wins(x, y):
        return len(x) < GROWTH[forced](r) or average(x) >= average(subsample(len(x), y, r))

    return duels(histories, wins, rng)


def rbsda(histories, rng, forced=None):
    def block(n, y, r):
        start = int(rng.integers(len(y) - n + 1))
        return y[start : start + n]

    return subsampling(histories, rng, block, forced)


def wrsda(histories, rng, forced=None, ties="challenger"):
    def subset(n, y, r):
        drawn = rng.choice(y, n, replace=False)
        return (
            drawn if ties == "challenger" or rng.random() < 0.5 else np.nextafter(drawn, np.inf)
        )  # then a tie is lost

    return subsampling(histories, rng, subset, forced)


def lbsda(histories, rng, forced=None):
    return subsampling(histories, rng, lambda n, y, r: y[-n:], forced)


def limited_lbsda(histories, rng, forced=None):
    """While max(10, (log r)^2) is 10, as it is for short: an arm keeps its last ten rewards."""
    r = 1 + sum(len(h) - 1 for h in histories)
    assert math.log(r) ** 2 <= 10

    def wins(x, y):
        return len(x) < GROWTH[forced](r) or average(x[-10:]) >= average(y[-10:][-len(x) :])

    return duels(histories, wins, rng)


def ldssda(histories, rng, forced=None):
    def block(n, y, r):
        u = int(format(r, "b")[::-1], 2) / 2 ** len(format(r, "b"))
        start = math.ceil(u * (len(y) - n))
        return y[start : start + n]

    return subsampling(histories, rng, block, forced)


def ssmc(histories, rng, forced="sqrt-log"):
    def lowest(n, y, r):
        return min((y[start : start + n] for start in range(len(y) - n + 1)), key=average)

    return subsampling(histories, rng, lowest, forced)


def besa(histories, rng, ties="fewer"):
    def better(a, b):
        n = min(len(histories[a]), len(histories[b]))
        one, other = (average(rng.choice(histories[k], n, replace=False)) for k in (a, b))
        if one != other:
            return a if one > other else b
        fewest = [k for k in (a, b) if len(histories[k]) == n or ties == "random"]
        return pick(fewest, rng)

    arms = list(rng.permutation(len(histories)))
    while len(arms) > 1:
        odd = arms[len(arms) - len(arms) % 2 :]
        arms = [better(a, b) for a, b in zip(arms[::2], arms[1::2], strict=False)] + odd
    return [int(arms[0])]


def npts(histories, rng, upper):
    return largest([float(rng.dirichlet([1.0] * (len(h) + 1)) @ np.array([*h, upper])) for h in histories], rng)


def cvar(values, weights, level):
    """Of a discrete law: the smallest values first, until the level is reached."""
    left, total = level, 0.0
    for x, w in sorted(zip(values, weights, strict=True)):
        taken = min(w, left)
        total += taken * x
        left -= taken
    return total / level


def bcvts(histories, rng, upper, level):
    draws = [cvar([*h, upper], rng.dirichlet([1.0] * (len(h) + 1)), level) for h in histories]
    return largest([round(index, 9) for index in draws], rng)  # ties are exact on paper


def risk_rds(histories, rng, level, rho="sqrt-log"):
    """RDS with CVaRs in place of means: of the leader, of the challenger, and of the reweighted rewards and bonus."""

    def judge(x):
        return round(cvar(x, [1 / len(x)] * len(x), level), 9)  # ties are exact on paper

    def wins(x, y):
        m = judge(y)
        if judge(x) >= m:
            return True
        values = [*x, bonus_of_excess(x, m, RHO[rho](len(x)))]
        return cvar(values, rng.dirichlet([1.0] * len(values)), level) >= m

    return duels(histories, wins, rng, judge)


def mcvts(histories, rng, support, level):
    draws = []
    for h in histories:
        seen = [max(x for x in support if x <= reward) for reward in h]
        draws.append(cvar(support, rng.dirichlet([1.0 + seen.count(x) for x in support]), level))
    return largest([round(index, 9) for index in draws], rng)


def uucb(histories, rng, upper, level):
    t = sum(len(h) for h in histories)
    indices = [
        cvar(h, [1 / len(h)] * len(h), level) + upper / level * math.sqrt(math.log(t) / len(h)) for h in histories
    ]
    return largest([round(index, 9) for index in indices], rng)


def cvar_ucb(histories, rng, upper, level, horizon=None):
    t = horizon or sum(len(h) for h in histories)
    indices = []
    for h in histories:
        b = math.sqrt(math.log(2 * t**2) / (2 * len(h)))
        steps, weights, reached = sorted(h), [], 0.0
        for i in range(len(steps)):
            height = max((i + 1) / len(h) - b, 0.0)
            weights.append(height - reached)
            reached = height
        indices.append(cvar([*steps, upper], [*weights, 1 - reached], level))
    return largest([round(index, 9) for index in indices], rng)


def ucb1(histories, rng, sigma):
    t = sum(len(h) for h in histories)
    return largest([average(h) + sigma * math.sqrt(2 * math.log(t) / len(h)) for h in histories], rng)


def rucblt(histories, rng, f="log2", scale=1.0):
    t = sum(len(h) for h in histories)
    growth = {"log2": math.log(t) ** 2, "log": math.log(t), "sqrt-log": math.sqrt(math.log(t))}[f]
    return largest([average(h) + scale * math.sqrt(growth * math.log(t) / len(h)) for h in histories], rng)


def kl(family, sigma, x, y):
    def xlog(a, b):
        return 0.0 if a == 0 else (math.inf if b == 0 else a * math.log(a / b))

    if family == "bernoulli":
        return xlog(x, y) + xlog(1 - x, 1 - y)
    if family == "gaussian":
        return (x - y) ** 2 / (2 * sigma**2)
    if family == "exponential":
        return math.inf if x == 0 else x / y - 1 - math.log(x / y)
    return y - x + xlog(x, y)


@functools.cache  # small discrete problems meet the same few histories again and again
def kl_upper(family, sigma, mean, level):
    """The largest q with kl(mean, q) <= level."""
    high = {"bernoulli": 1.0}.get(family, mean + 1.0)
    while family != "bernoulli" and kl(family, sigma, mean, high) < level:
        high = mean + 2 * (high - mean)
    if level == 0 or (family == "exponential" and mean == 0):
        return mean
    if family == "bernoulli" and kl(family, sigma, mean, 1.0) <= level:
        return 1.0
    return brentq(lambda q: min(kl(family, sigma, mean, q), 1e9) - level, mean, high, xtol=1e-13)


def klucb(histories, rng, family, sigma=None):
    t = sum(len(h) for h in histories)
    indices = [kl_upper(family, sigma, average(h), math.log(t) / len(h)) for h in histories]
    return largest([round(index, 9) for index in indices], rng)


def log_plus(x):
    return max(math.log(x), 0.0)


def phi(x):
    return log_plus(x * (1 + log_plus(x) ** 2))


def klucb_plus_plus(histories, rng, horizon, family, sigma=None):
    share = horizon / len(histories)
    indices = [kl_upper(family, sigma, average(h), phi(share / len(h)) / len(h)) for h in histories]
    return largest([round(index, 9) for index in indices], rng)


@functools.cache
def kinf(values, target, upper):
    if average(values) >= target:
        return 0.0
    if target >= upper:
        return math.inf

    def minus_dual(lam):
        return -average([math.log(max(1 - lam * (x - target), 1e-300)) for x in values])

    found = minimize_scalar(minus_dual, bounds=(0.0, 1 / (upper - target)), method="bounded", options={"xatol": 1e-12})
    return max(-found.fun, -minus_dual(1 / (upper - target)))


@functools.cache
def kinf_upper(values, level, upper):
    low, high = average(values), upper
    while high - low > 1e-10 * (1 + abs(low)):
        middle = (low + high) / 2
        low, high = (middle, high) if kinf(values, middle, upper) <= level else (low, middle)
    return low


def empirical_klucb(histories, rng, upper):
    t = sum(len(h) for h in histories)
    return largest([round(kinf_upper(tuple(sorted(h)), math.log(t) / len(h), upper), 8) for h in histories], rng)


def klucb_switch(histories, rng, upper, horizon=None):
    """For rewards in [0, upper]."""
    share = (horizon or sum(len(h) for h in histories)) / len(histories)
    indices = []
    for h in histories:
        n = len(h)
        level = log_plus(share / n) if horizon else phi(share / n)
        few = n**5 <= share
        moss = average(h) + upper * math.sqrt(level / (2 * n))
        indices.append(round(kinf_upper(tuple(sorted(h)), level / n, upper) if few else moss, 8))
    return largest(indices, rng)


def imed(histories, rng, family, sigma=None):
    means = [average(h) for h in histories]
    top = max(means)
    cost = [len(h) * kl(family, sigma, mean, top) + math.log(len(h)) for h, mean in zip(histories, means, strict=True)]
    return largest([-round(c, 9) for c in cost], rng)


def empirical_imed(histories, rng, upper):
    top = max(average(h) for h in histories)
    return largest([-round(len(h) * kinf(tuple(sorted(h)), top, upper) + math.log(len(h)), 6) for h in histories], rng)


def unimodal_imed(histories, rng, family, sigma=None):
    means = [average(h) for h in histories]
    top = max(means)
    fewest = min(len(h) for h, mean in zip(histories, means, strict=True) if mean == top)
    leader = pick([k for k, h in enumerate(histories) if means[k] == top and len(h) == fewest], rng)
    cost = [len(h) * kl(family, sigma, mean, top) + math.log(len(h)) for h, mean in zip(histories, means, strict=True)]
    return largest([-round(c, 9) if abs(k - leader) <= 1 else -math.inf for k, c in enumerate(cost)], rng)


def divergences(histories, family=None, sigma=None, upper=None):
    """Of each arm from the best mean."""
    means = [average(h) for h in histories]
    if upper is None:
        return [kl(family, sigma, mean, max(means)) for mean in means]
    return [kinf(tuple(sorted(h)), max(means), upper) for h in histories]


def med(histories, rng, **assumed):
    weights = np.array(
        [math.exp(-len(h) * d) for h, d in zip(histories, divergences(histories, **assumed), strict=True)]
    )
    return [int(rng.choice(len(histories), p=weights / weights.sum()))]


class DMED:
    """Has a memory: the current list and the next one. A game begins when every arm has one reward."""

    def __init__(self, **assumed):
        self.assumed = assumed

    def __call__(self, histories, rng):
        t, arms = sum(len(h) for h in histories), range(len(histories))
        if t == len(histories):
            self.waiting, self.coming = [], []
        scaled = [len(h) * d for h, d in zip(histories, divergences(histories, **self.assumed), strict=True)]
        for k in arms:
            if k not in self.waiting and k not in self.coming and scaled[k] <= math.log(t / len(histories[k])) + 1e-9:
                self.coming.append(k)
        if not self.waiting:
            self.waiting, self.coming = sorted(self.coming), []
        return [self.waiting.pop(0)]


def thompson(histories, rng, family, sigma=None):
    draws = []
    for h in histories:
        n, s = len(h), math.fsum(h)
        if family == "bernoulli":
            draws.append(rng.beta(1 + s, 1 + n - s))
        elif family == "gaussian":
            draws.append(rng.normal(s / n, sigma / math.sqrt(n)))
        elif family == "exponential":
            draws.append(s / rng.gamma(n))
        else:
            draws.append(rng.gamma(s + 0.5) / n)
    return largest(draws, rng)


def binarized_ts(histories, rng, lower, upper):
    """Sees coins, not rewards: see ``toss`` in :func:`play`."""
    return thompson(histories, rng, "bernoulli")


class Histories(list):
    """One list of rewards for each arm; ``order`` has all of them with their arms, in the order of the decisions."""

    def __init__(self, n_arms):
        super().__init__([] for _ in range(n_arms))
        self.order = []

    def add(self, arm, reward):
        self[arm].append(reward)
        self.order.append((arm, reward))


def floored(histories, rng, floor, inner):
    k = int(rng.random() / floor)
    return [k] if k < len(histories) else inner(histories, rng)


def play(select, draws, horizon, rng, toss=None):
    """Pull counts of one run. ``draws[k](rng)`` is a reward of arm k; ``toss`` turns a reward into what is kept."""
    histories = Histories(len(draws))
    chosen = list(rng.permutation(len(draws)))
    left = horizon
    while True:
        for arm in chosen:
            reward = draws[arm](rng)
            histories.add(arm, reward if toss is None else toss(reward, rng))
            left -= 1
            if left == 0:
                return [len(h) for h in histories]
        chosen = select(histories, rng)
