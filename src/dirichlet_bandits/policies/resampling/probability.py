"""Which arm bootstrap means pull: binomial laws where rewards are binary; the replicates where there are some."""

import numpy as np

from dirichlet_bandits.numerics.discrete import Discrete, binomial_law
from dirichlet_bandits.policies.bounded import pseudo_rewards
from dirichlet_bandits.policies.index import discrete_index_propensities
from dirichlet_bandits.policies.resampling.rule import GIRO, BootstrapTS, OnlineBootstrapTS, Replicates, Sorted
from dirichlet_bandits.types import Floats


def only_binary(policy: GIRO | BootstrapTS) -> str:
    """What is missing, unless all rewards are to be one of the bounds."""
    if policy.binary:
        return ""
    return (
        f"{type(policy).__name__}(binary=True) where propensities are needed: the bootstrap mean of rewards other than "
        "the two bounds has as many values as there are samples, and nobody knows how probable a decision was"
    )


def giro_propensities(policy: GIRO, state: Sorted) -> Floats:
    """One binomial law an arm."""
    indices = []
    for n, ones in zip(state.pulls.tolist(), state.ones.tolist(), strict=True):
        m = pseudo_rewards.py_func(policy.a, n)  # type: ignore[attr-defined]
        first, chances = binomial_law(n + 2 * m, (ones + m) / (n + 2 * m))
        indices.append(Discrete(np.arange(first, first + chances.size) / (n + 2 * m), chances))
    return discrete_index_propensities(indices)


def bootstrap_propensities(policy: BootstrapTS, state: Sorted) -> Floats:
    """Binomial laws mixed over the heads of the artificial coins."""
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
    """Every replicate of an arm is as probable as any other."""
    share = np.full(policy.replicates, 1.0 / policy.replicates)
    return discrete_index_propensities([Discrete(means, share) for means in state.totals / state.weights])
