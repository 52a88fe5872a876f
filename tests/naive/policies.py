"""The slow, obvious twin of every policy: plain Python on lists of rewards, straight from the pseudo-code.

A twin looks at the histories (one list of rewards for each arm, none empty) and answers with the arms of the
next round.
"""

import functools
import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar


def pick(candidates, rng):
    """One of the candidates, uniformly."""
    return candidates[int(rng.integers(len(candidates)))]


def largest(indices, rng):
    best = max(indices)
    return [pick([k for k, value in enumerate(indices) if value == best], rng)]


def duels(histories, wins, rng):
    """One round of leader against challengers."""
    sizes = [len(h) for h in histories]
    means = [float(np.mean(h)) for h in histories]
    longest = [k for k, n in enumerate(sizes) if n == max(sizes)]
    top = max(means[k] for k in longest)
    leader = pick([k for k in longest if means[k] == top], rng)
    winners = [k for k in range(len(histories)) if sizes[k] < sizes[leader] and wins(histories[k], histories[leader])]
    rng.shuffle(winners)
    return winners or [leader]


def bonus_of_excess(x, m, rho):
    return m + rho * np.mean(np.maximum(m - np.asarray(x), 0.0))


def dirichlet_sampling(histories, rng, bonus, truncate=None):
    def wins(x, y):
        m = float(np.mean(y))
        if np.mean(x) >= m:
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
        return [*ordered[: q - 1], float(np.mean(tail))], [1.0] * (q - 1) + [float(len(tail))]

    return dirichlet_sampling(histories, rng, lambda x, m: bonus_of_excess(x, m, rho), truncate)


def rbsda(histories, rng):
    def wins(x, y):
        start = int(rng.integers(len(y) - len(x) + 1))
        return np.mean(x) >= np.mean(y[start : start + len(x)])

    return duels(histories, wins, rng)


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
    return largest([np.mean(h) + sigma * math.sqrt(2 * math.log(t) / len(h)) for h in histories], rng)


def rucblt(histories, rng, f="log2"):
    t = sum(len(h) for h in histories)
    growth = {"log2": math.log(t) ** 2, "log": math.log(t), "sqrt-log": math.sqrt(math.log(t))}[f]
    return largest([np.mean(h) + math.sqrt(growth * math.log(t) / len(h)) for h in histories], rng)


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


def klucb(histories, rng, family, sigma=None):
    t = sum(len(h) for h in histories)
    indices = []
    for h in histories:
        mean, level = float(np.mean(h)), math.log(t) / len(h)
        high = {"bernoulli": 1.0}.get(family, mean + 1.0)
        while family != "bernoulli" and kl(family, sigma, mean, high) < level:
            high = mean + 2 * (high - mean)
        if family == "exponential" and mean == 0:
            indices.append(0.0)
        elif family == "bernoulli" and kl(family, sigma, mean, 1.0) <= level:
            indices.append(1.0)
        else:
            indices.append(brentq(lambda q: min(kl(family, sigma, mean, q), 1e9) - level, mean, high, xtol=1e-13))  # noqa: B023
    return largest([round(index, 9) for index in indices], rng)


@functools.cache  # small discrete problems meet the same few histories again and again
def kinf(values, target, upper):
    x = np.asarray(values, dtype=float)
    if x.mean() >= target:
        return 0.0
    if target >= upper:
        return math.inf

    def minus_dual(lam):
        return -float(np.mean(np.log(np.maximum(1 - lam * (x - target), 1e-300))))

    found = minimize_scalar(minus_dual, bounds=(0.0, 1 / (upper - target)), method="bounded", options={"xatol": 1e-12})
    return max(-found.fun, -minus_dual(1 / (upper - target)))


@functools.cache
def kinf_upper(values, level, upper):
    low, high = float(np.mean(values)), upper
    while high - low > 1e-10 * (1 + abs(low)):
        middle = (low + high) / 2
        low, high = (middle, high) if kinf(values, middle, upper) <= level else (low, middle)
    return low


def empirical_klucb(histories, rng, upper):
    t = sum(len(h) for h in histories)
    return largest([round(kinf_upper(tuple(sorted(h)), math.log(t) / len(h), upper), 8) for h in histories], rng)


def imed(histories, rng, family, sigma=None):
    means = [float(np.mean(h)) for h in histories]
    top = max(means)
    cost = [len(h) * kl(family, sigma, mean, top) + math.log(len(h)) for h, mean in zip(histories, means, strict=True)]
    return largest([-round(c, 9) for c in cost], rng)


def empirical_imed(histories, rng, upper):
    top = max(float(np.mean(h)) for h in histories)
    return largest([-round(len(h) * kinf(tuple(sorted(h)), top, upper) + math.log(len(h)), 6) for h in histories], rng)


def thompson(histories, rng, family, sigma=None):
    draws = []
    for h in histories:
        n, s = len(h), float(np.sum(h))
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


def play(select, draws, horizon, rng, toss=None):
    """Pull counts of one run. ``draws[k](rng)`` is a reward of arm k; ``toss`` turns a reward into what is kept."""
    histories = [[] for _ in draws]
    chosen = list(rng.permutation(len(draws)))
    left = horizon
    while True:
        for arm in chosen:
            reward = draws[arm](rng)
            histories[arm].append(reward if toss is None else toss(reward, rng))
            left -= 1
            if left == 0:
                return [len(h) for h in histories]
        chosen = select(histories, rng)
