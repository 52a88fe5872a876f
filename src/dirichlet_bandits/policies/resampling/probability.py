"""Propensities of bootstrap means: binomial distributions for binary rewards, and the stored replicates otherwise."""

import numpy as np

from dirichlet_bandits.numerics.discrete import Discrete, binomial_law
from dirichlet_bandits.policies.bounded import pseudo_rewards
from dirichlet_bandits.policies.index import discrete_index_propensities
from dirichlet_bandits.policies.resampling.rule import GIRO, BootstrapTS, OnlineBootstrapTS, Replicates, Sorted
from dirichlet_bandits.types import Floats


def only_binary(policy: GIRO | BootstrapTS) -> str:
    """Return the obstacle to exact propensities, or an empty string if all rewards are binary."""
    if policy.binary:
        return ""
    return (
        f"{type(policy).__name__}(binary=True) where propensities are needed: the bootstrap mean of rewards other than "
        "the two bounds has as many values as there are samples, so the probability of a decision is not known"
    )


def giro_propensities(policy: GIRO, state: Sorted) -> Floats:
    """Return the propensities of GIRO from one binomial distribution per arm."""
    indices = []
    for n, ones in zip(state.pulls.tolist(), state.ones.tolist(), strict=True):
        m = pseudo_rewards.py_func(policy.a, n)  # type: ignore[attr-defined]
        first, chances = binomial_law(n + 2 * m, (ones + m) / (n + 2 * m))
        indices.append(Discrete(np.arange(first, first + chances.size) / (n + 2 * m), chances))
    return discrete_index_propensities(indices)


def bootstrap_propensities(policy: BootstrapTS, state: Sorted) -> Floats:
    """Return the propensities from binomial distributions mixed over the heads of the artificial coins."""
    _, coins = binomial_law(policy.artificial, 0.5)
    indices = []
    for n, ones in zip(state.pulls.tolist(), state.ones.tolist(), strict=True):
        size = n + policy.artificial
        mixed = np.zeros(size + 1)
        for shown, chance in enumerate(coins):
            first, chances = binomial_law(size, (ones + shown) / size)
            mixed[first : first + chances.size] += chance * chances
        indices.append(Discrete(np.arange(size + 1) / size, mixed))
    return discrete_index_propensities(indices)


def replicate_propensities(policy: OnlineBootstrapTS, state: Replicates) -> Floats:
    """Return the propensities; every replicate of an arm is equally probable."""
    share = np.full(policy.replicates, 1.0 / policy.replicates)
    return discrete_index_propensities([Discrete(means, share) for means in state.totals / state.weights])
