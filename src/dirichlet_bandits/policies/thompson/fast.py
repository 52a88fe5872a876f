"""Thompson Sampling with cheap posterior draws: the same distribution from one normal and one exponential variable.

A general routine for beta or gamma variables computes its constants at every draw. Here, one normal variable per arm,
transformed by a few constants of the posterior, is accepted or rejected with the help of one exponential variable. The
constants change only when the arm is pulled, so they are computed then. An accepted draw has exactly the distribution
of the posterior, and a rejected one is replaced by another attempt. For example, the Gaussian posterior N(m, s^2) needs
no rejection at all: the draw is m + s x for a normal x.

The loop is that of :mod:`~dirichlet_bandits.policies.drawn_index`; this module provides the parameters of each
posterior.
"""

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, shortcut
from dirichlet_bandits.numerics.divergences import Family
from dirichlet_bandits.numerics.draws import beta_frame, beta_or_nan, gamma_frame, gamma_or_nan
from dirichlet_bandits.policies.drawn_index import index_or_nan, learn_law, play_drawn_indices
from dirichlet_bandits.policies.thompson.rule import BinarizedTSParams, ThompsonParams, coin_posterior, posterior
from dirichlet_bandits.types import Floats


@implements(learn_law, ThompsonParams)
def learn_posterior(policy: ThompsonParams, state: Tally, arm: int, laws: Floats) -> None:
    """Write the parameters of the posterior; the third is S in the exponential family and 1/n in the Poisson family."""
    first, second = posterior(policy, state.pulls[arm], state.means[arm])
    if policy.family == Family.GAUSSIAN:
        laws[arm, 0], laws[arm, 1] = first, second
    elif policy.family == Family.BERNOULLI:
        laws[arm, 0], laws[arm, 1], laws[arm, 2], laws[arm, 3], laws[arm, 4] = beta_frame(first, second)
    else:
        laws[arm, 0], laws[arm, 1] = gamma_frame(second if policy.family == Family.EXPONENTIAL else first)
        laws[arm, 2] = first if policy.family == Family.EXPONENTIAL else 1.0 / second


@implements(index_or_nan, ThompsonParams)
def posterior_or_nan(policy: ThompsonParams, laws: Floats, arm: int, x: float, e: float) -> tuple[float, float]:
    """Draw from the posterior: beta, normal, inverse gamma or gamma."""
    if policy.family == Family.GAUSSIAN:
        return laws[arm, 0] + laws[arm, 1] * x, e
    if policy.family == Family.BERNOULLI:
        return beta_or_nan(laws, arm, x, e)
    value, left = gamma_or_nan(laws[arm, 0], laws[arm, 1], x, e)
    return laws[arm, 2] / value if policy.family == Family.EXPONENTIAL else laws[arm, 2] * value, left


@implements(learn_law, BinarizedTSParams)
def learn_coins(policy: BinarizedTSParams, state: Tally, arm: int, laws: Floats) -> None:
    """Write the parameters of the beta posterior."""
    heads, tails = coin_posterior(state.pulls[arm], state.sums[arm])
    laws[arm, 0], laws[arm, 1], laws[arm, 2], laws[arm, 3], laws[arm, 4] = beta_frame(heads, tails)


@implements(index_or_nan, BinarizedTSParams)
def coins_or_nan(policy: BinarizedTSParams, laws: Floats, arm: int, x: float, e: float) -> tuple[float, float]:
    """Draw from the beta posterior."""
    return beta_or_nan(laws, arm, x, e)


shortcut(ThompsonParams, BinarizedTSParams)(play_drawn_indices)
