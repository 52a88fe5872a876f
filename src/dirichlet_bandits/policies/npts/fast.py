"""NPTS without drawing every index: a run costs little more than its rewards, and has the plain loop's distribution.

The plain loop draws an index for every arm at every step, with one exponential per reward. After an opening in which
this is the cheapest way, the shortcut plays *contests* (``contest.py``, with the argument). In a contest, only the
indices of arms close to the leader are drawn, without one weight per reward, and one clock waits for all other arms.
For example, with ten arms of which two are nearly tied, two indices are drawn at most steps instead of ten.
"""

import numpy as np

from dirichlet_bandits.compiler import borrowed, shared
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.history import History
from dirichlet_bandits.engine.repeated_pulls import with_places
from dirichlet_bandits.engine.run import Run, ended, pull_alone
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.arrays import argmax_of, sum_of
from dirichlet_bandits.numerics.costs import PLAIN_PULLS
from dirichlet_bandits.policies.npts.challengers import new_challengers
from dirichlet_bandits.policies.npts.contest import contest
from dirichlet_bandits.policies.npts.rule import NPTSParams


@shortcut(NPTSParams)
def play_npts(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play until the run is over."""
    state = play_opening(policy, state, run, rng)
    challengers, order = new_challengers(state.pulls.size, policy.upper), np.empty(state.pulls.size, np.int64)
    while not ended(run.progress):
        leader = argmax_of(state.means)
        state = with_places(state, leader)
        contest(state, run, challengers, order, leader, rng)


@shared
def play_opening(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> History:
    """Draw every index while the arms have few rewards, when this is the cheapest way."""
    run, rng = borrowed(run), borrowed(rng)
    for _ in range(int(sum_of(state.pulls)), PLAIN_PULLS * state.pulls.size):
        if ended(run.progress):
            break
        arm = verbs.select(policy, state, rng)
        state = verbs.update(policy, state, arm, pull_alone(run, arm), rng)
    return state
