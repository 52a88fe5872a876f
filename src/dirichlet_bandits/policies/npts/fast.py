"""NPTS by a clock: a run costs little more than its rewards, and has the distribution of the plain loop.

The plain loop draws an index for every arm at every step, with one exponential per reward. But a clear leader is pulled
at nearly every step, so we draw in advance when another arm may next be pulled (``waiting.py``). Where arms are nearly
tied, we draw only their indices, without one weight per reward (``contest.py``). For example, if the ceilings defined
below add up to 0.001, the leader is pulled about a thousand times before any index is drawn.

Let V_0 be the index of a clear leader and V_k those of the challengers. The *foot* is a number that V_0 is rarely below
and the V_k are rarely above. A challenger can be pulled only if one of these rare events happens, and one clock waits
for all of them.

* c is a ceiling of P(V_0 < foot) by Bernstein's inequality. It holds while the leader does well enough.
* r_k is the mass above the foot of a tangent to the density of V_k on a logarithmic scale, where the density is
  concave. It is a ceiling of P(V_k > foot) until the arm is pulled.

Why waiting by the clock has the distribution of the plain loop, whenever it ends:

1. Thinning. A coin shows heads with probability r = c + sum r_k. If it does, one of the events is chosen in proportion
   to its ceiling. If it is that of the leader, V_0 is below the foot with probability P(V_0 < foot)/c, and then the
   other indices are drawn, and the arm with the largest is pulled. If it is that of challenger k, a number y is drawn
   from the tangent above the foot, and k is pulled if foot <= V_0 < y, with probability density/tangent at y, and if no
   other V_j is above y. In all other cases, the leader is pulled. So k is pulled with probability
   P(V_k largest, V_0 < foot) + P(V_k largest, V_0 >= foot), because in the second case V_k is above the foot.
2. Waiting. As long as the tangents and c stay the same, so does r. The coins of these steps are independent of each
   other and of all rewards, so the number of the first head can be drawn in advance.
3. Ending. Whether a certificate is valid for a step follows from the leader's rewards before the step (``holds``), and
   is checked at every step, however soon the clock rings. So the coins of the steps up to the end are all used alike,
   and those beyond it are discarded unseen. If the check were made only from time to time, for instance when a ring
   interrupts repeated pulls, more heads than tails would be discarded, and challengers would be pulled too rarely. So a
   certificate that has become useless ends in the same way as one that no longer holds.
4. Ringing. The coin of that step is used up.
5. Leaving. Waiting begins and ends by rules that depend only on the past; the steps of a contest have the correct
   distribution anyway.
"""

import numpy as np

from dirichlet_bandits.compiler import shared
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.borrowed import borrowed
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
