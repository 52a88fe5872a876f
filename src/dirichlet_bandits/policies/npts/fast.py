"""NPTS by a clock: a run takes little more than its rewards, and has the law of the plain loop.

The plain loop draws an index for every arm at every step, one exponential for each reward. But a clear leader is pulled
at nearly every step, so we draw in advance when another arm may next be pulled (``waiting.py``). Where arms are nearly
tied, we draw only the indices of these, and without a weight for each reward (``contest.py``).

The leader is pulled unless some challenger's index V_k is above its own, V_0, and above all others. These events
exclude each other, so one clock waits for all of them; its ceiling is the sum over the challengers of

    q_k := P(V_k largest) <= P(V_k > V_0) = integral of f_k(v) P(V_0 < v) dv <= integral of t_k(v) c(v) dv =: r_k.

* t_k is a tangent of the density f_k in logarithmic scale, which is concave: it holds until the arm is pulled.
* c is the ceiling of the leader's distribution function: it holds while the leader does well enough.

When the clock rings, an arm is chosen in proportion to r_k and a v in proportion to t_k(v) c(v). The arm is pulled
with probability f_k(v)/t_k(v) * P(V_0 < v)/c(v), times that of all other challengers staying below v; else the leader.

Why waiting by the clock has the law of the plain loop, whenever it ends:

1. Thinning. A coin shows heads with probability r = sum r_k. If it does, k is chosen with probability r_k/r and pulled
   with probability q_k/r_k; in all other cases the leader is. So k is pulled with probability q_k, for any r_k >= q_k.
2. Waiting. As long as tangents and ceiling stay the same, so does r: the coins of these steps are independent of each
   other and of all rewards, so the number of the first head can be drawn in advance.
3. Ending. Whether a certificate is good for a step follows from the leader's rewards before the step (``holds``), and
   is checked at every step, however soon the clock rings. So the coins of the steps up to the end are all used alike,
   and those beyond it are discarded unseen. If the check were made only from time to time, for instance when a ring
   interrupts repeated pulls, more heads than tails would be discarded, and challengers would be pulled too rarely. So a
   ceiling that has become too high to be useful ends the certificate in the same way as one that no longer holds.
4. Ringing. The coin of that step is spent. Tangents may be drawn again, and the next coins have the new r.
5. Leaving. Waiting begins and ends by rules that depend on the past alone; the steps of a contest have the law anyway.
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
from dirichlet_bandits.policies.npts.challengers import Challengers, new_challengers
from dirichlet_bandits.policies.npts.contest import contest
from dirichlet_bandits.policies.npts.rule import NPTSParams


@shortcut(NPTSParams)
def play_npts(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play to the horizon."""
    state = play_opening(policy, state, run, rng)
    play_by_clock(policy, state, run, new_challengers(state.pulls.size, policy.upper), rng)


@shared
def play_opening(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> History:
    """Draw every index while the arms have few rewards, which then costs less than anything that could spare it."""
    run, rng = borrowed(run), borrowed(rng)
    for _ in range(int(sum_of(state.pulls)), PLAIN_PULLS * state.pulls.size):
        if ended(run.progress):
            break
        arm = verbs.select(policy, state, rng)
        state = verbs.update(policy, state, arm, pull_alone(run, arm), rng)
    return state


@shared
def play_by_clock(
    policy: NPTSParams, state: History, run: Run, challengers: Challengers, rng: np.random.Generator
) -> None:
    """Play to the horizon by contests."""
    run, challengers, rng = borrowed(run), borrowed(challengers), borrowed(rng)
    order = np.empty(state.pulls.size, np.int64)
    while not ended(run.progress):
        leader = argmax_of(state.means)
        state = with_places(state, leader)
        contest(policy, state, run, challengers, order, leader, rng)
