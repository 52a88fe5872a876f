"""Thompson Sampling with cheap posterior draws: the same distribution from one normal and one exponential variable.

A general routine for beta or gamma variables computes its constants at every draw. Here, one normal variable per arm,
transformed by a few constants of the posterior, is accepted or rejected with the help of one exponential variable. The
constants change only when the arm is pulled, so they are computed then. An accepted draw has exactly the distribution
of the posterior, and a rejected one is replaced by another attempt. For example, the Gaussian posterior N(m, s^2) needs
no rejection at all: the draw is m + s x for a normal x.

The loop is that of :mod:`~dirichlet_bandits.policies.drawn_index`; this module provides the parameters of each
posterior.
"""

from typing import Any

import numpy as np

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, shortcut
from dirichlet_bandits.numerics.divergences import Family
from dirichlet_bandits.numerics.draws import BETA_FIELDS, beta_or_nan, gamma_frame, gamma_or_nan, learn_beta
from dirichlet_bandits.policies.drawn_index import index_or_nan, learn_law, new_laws, play_drawn_indices
from dirichlet_bandits.policies.thompson.rule import BinarizedTSParams, ThompsonParams, coin_posterior, posterior

POSTERIOR = np.dtype([*BETA_FIELDS, ("d", np.float64), ("factor", np.float64)])
"""Constants of a posterior: a beta distribution, a normal one (``center`` and ``deviation``), or a gamma one (``d`` and
``c``), whose draw is multiplied by the ``factor`` 1/n in the Poisson family and divides S in the exponential family.
"""


@implements(new_laws, ThompsonParams, BinarizedTSParams)
def new_posteriors(policy: Any, n_arms: int) -> Any:
    """Return a record per arm for the constants of its posterior."""
    return np.zeros(n_arms, POSTERIOR)


@implements(learn_law, ThompsonParams)
def learn_posterior(policy: ThompsonParams, state: Tally, arm: int, law: Any) -> None:
    """Write the constants of the posterior."""
    first, second = posterior(policy, state.pulls[arm], state.means[arm])
    if policy.family == Family.GAUSSIAN:
        law.center, law.deviation = first, second
    elif policy.family == Family.BERNOULLI:
        learn_beta(law, first, second)
    else:
        law.d, law.c = gamma_frame(second if policy.family == Family.EXPONENTIAL else first)
        law.factor = first if policy.family == Family.EXPONENTIAL else 1.0 / second


@implements(index_or_nan, ThompsonParams)
def posterior_or_nan(policy: ThompsonParams, law: Any, x: float, e: float) -> tuple[float, float]:
    """Draw from the posterior: beta, normal, inverse gamma or gamma."""
    if policy.family == Family.GAUSSIAN:
        return law.center + law.deviation * x, e
    if policy.family == Family.BERNOULLI:
        return beta_or_nan(law, x, e)
    value, left = gamma_or_nan(law.d, law.c, x, e)
    return law.factor / value if policy.family == Family.EXPONENTIAL else law.factor * value, left


@implements(learn_law, BinarizedTSParams)
def learn_coins(policy: BinarizedTSParams, state: Tally, arm: int, law: Any) -> None:
    """Write the constants of the beta posterior."""
    heads, tails = coin_posterior(state.pulls[arm], state.sums[arm])
    learn_beta(law, heads, tails)


@implements(index_or_nan, BinarizedTSParams)
def coins_or_nan(policy: BinarizedTSParams, law: Any, x: float, e: float) -> tuple[float, float]:
    """Draw from the beta posterior."""
    return beta_or_nan(law, x, e)


shortcut(ThompsonParams, BinarizedTSParams)(play_drawn_indices)
