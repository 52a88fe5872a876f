"""Policies that perturb or resample the rewards of each arm, written out as their papers do, slowly."""

import math

import numpy as np

from tests.naive.policies import average, largest


def phe(histories, rng, a=1.1):
    indices = []
    for h in histories:
        m = math.ceil(round(a * len(h), 9))
        indices.append((sum(h) + rng.binomial(m, 0.5)) / (len(h) + m))
    return largest(indices, rng)


def reboot(histories, rng, sigma):
    indices = []
    for h in histories:
        n, mean = len(h), average(h)
        pseudo = sigma * math.sqrt(n + 2)
        residuals = np.array([*(np.asarray(h) - mean), pseudo, -pseudo])
        indices.append(mean + float(rng.normal(size=n + 2) @ residuals) / (n + 2))
    return largest(indices, rng)


def mbe(histories, rng, scale=0.5, variance=0.5):
    indices = []
    for h in histories:
        w, u, v = rng.normal(1.0, math.sqrt(variance), size=(3, len(h)))
        weights = float(np.sum(w + scale * u + scale * v))
        indices.append(float(w @ np.array(h) + scale * u.sum()) / weights if weights > 0 else math.inf)
    return largest(indices, rng)


def giro(histories, rng, a=1.0):
    indices = []
    for h in histories:
        m = math.ceil(round(a * len(h), 9))
        values = [*h, *([0.0] * m), *([1.0] * m)]
        indices.append(average(rng.choice(values, size=len(values))))
    return largest(indices, rng)


def bootstrap_ts(histories, rng, artificial, coins=False):
    indices = []
    for h in histories:
        values = [*h, *(rng.integers(2, size=artificial) if coins else rng.random(artificial))]
        indices.append(average(rng.choice(values, size=len(values))))
    return largest(indices, rng)


def double_or_nothing(reward, rng, replicates=6):
    return reward, rng.integers(2, size=replicates)


def poisson(reward, rng, replicates=6):
    return reward, rng.poisson(1.0, size=replicates)


def online_bootstrap_ts(histories, rng, replicates=6):
    """Sees rewards with their weights in each replicate: see ``toss`` in :func:`play`."""
    indices = []
    for h in histories:
        j = int(rng.integers(replicates))
        total, weight = 1.0, 2.0
        for reward, weights in h:
            total, weight = total + weights[j] * reward, weight + weights[j]
        indices.append(total / weight)
    return largest(indices, rng)
