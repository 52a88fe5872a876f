"""Thompson Sampling with cheap posterior draws: the same law from one normal and one exponential variable an arm.

The loop is that of :mod:`~dirichlet_bandits.policies.drawn_index`; here is what a posterior needs.
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
    """Of the beta, normal or gamma law; the third number is the exponential family's S, the Poisson family's 1/n."""
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
    """Beta, normal, inverse gamma or gamma."""
    if policy.family == Family.GAUSSIAN:
        return laws[arm, 0] + laws[arm, 1] * x, e
    if policy.family == Family.BERNOULLI:
        return beta_or_nan(laws, arm, x, e)
    value, left = gamma_or_nan(laws[arm, 0], laws[arm, 1], x, e)
    return laws[arm, 2] / value if policy.family == Family.EXPONENTIAL else laws[arm, 2] * value, left


@implements(learn_law, BinarizedTSParams)
def learn_coins(policy: BinarizedTSParams, state: Tally, arm: int, laws: Floats) -> None:
    """Of the beta law."""
    heads, tails = coin_posterior(state.pulls[arm], state.sums[arm])
    laws[arm, 0], laws[arm, 1], laws[arm, 2], laws[arm, 3], laws[arm, 4] = beta_frame(heads, tails)


@implements(index_or_nan, BinarizedTSParams)
def coins_or_nan(policy: BinarizedTSParams, laws: Floats, arm: int, x: float, e: float) -> tuple[float, float]:
    """Beta."""
    return beta_or_nan(laws, arm, x, e)


shortcut(ThompsonParams, BinarizedTSParams)(play_drawn_indices)
