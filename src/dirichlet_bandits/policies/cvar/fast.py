"""B-CVTS by a clock: indices are drawn where they can matter, the law stays.

The leader is pulled unless some challenger's index V_k is at least its own, V_0, and all others. Cut the line at
thresholds q_0 > q_1 > ... > q_{J-1}; cell j is [q_j, q_{j-1}), the first cell has no upper end, the last no lower
one.

    P(k is pulled) <= P(V_k >= V_0) <= sum over j of P(V_0 in cell j) P(V_k >= q_j) <= sum over j of L_j U_kj =: r_k.

* U_kj is the probability itself, or Chernoff's bound of it (``challenger.py``), 1 in the last cell. It holds until
  the arm is pulled.
* L_0 = 1, and L_j is at least Chernoff's bound G_{j-1} of P(V_0 < q_{j-1}) (``leader.py``), which follows the
  leader's rewards one by one: it holds while G stays below it.

One clock waits with the rate r = sum of all r_k. When it rings, (k, j) is chosen in proportion to L_j U_kj. Then V_k
is drawn given V_k >= q_j; where U_kj is Chernoff's bound, under the tilted law, and kept with the probability that
makes it such a draw. V_0 is drawn in the same way given that it is in cell j. If V_k >= V_0, and no other arm's
index, drawn as in the plain loop, is larger, arm k is pulled; arms that tie are chosen from at random. In all other
cases the leader is pulled.

So each k is pulled with its own probability in each step, whatever the L_j and U_kj are, and no probability is
computed by quadrature. Why it may be waited for, and when a wait may end: steps 1 to 5 in the head of
``npts/fast.py``. The coins of a step here have a mark: what was chosen and V_k. Both are independent of the leader's
rewards, so the marks are drawn in advance too, up to the first V_k that is kept. Whether ceilings hold is asked at
every step from the leader's rewards alone; then marks that lie ahead are thrown away with their coins.
"""

import math

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.borrowed import borrowed
from dirichlet_bandits.engine.clocks import geometric, ringing_arm
from dirichlet_bandits.engine.history import History
from dirichlet_bandits.engine.run import Run, ended, left, upcoming
from dirichlet_bandits.engine.stretch import pull_into_place, stretch, with_places
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.arrays import argmax_of, max_of, sum_of
from dirichlet_bandits.policies.cvar.challenger import CEILING, Tilts, index_above, new_tilts, set_tilts
from dirichlet_bandits.policies.cvar.contest import Distant, new_distant, plain_steps, watch
from dirichlet_bandits.policies.cvar.leader import (
    AT,
    MOST,
    N_CELLS,
    Leader,
    holds,
    index_below,
    lead,
    outgrown,
    pulls_below,
    set_bounds,
    set_ceilings,
    shortfalls,
)
from dirichlet_bandits.policies.cvar.ordering import Samples, draw_index, new_samples
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.types import Floats

_RATE_MOST = 0.9  # rings a step up to which one may wait
_RING_COST, _STEP_COST = 60, 200  # of a ring, besides the values that it draws one by one, and of a plain step
_NEAR = 0.8  # a challenger that is so few standard deviations below the leader would ring too often
_LEADER_LEAST = 16  # rewards of a leader before anybody waits
_PATIENCE, _SHARE = 24, 64  # plain steps at most between two tries to wait: so many, or this share of all pulls


@jit
def set_rate(tilts: Tilts, cells: Floats, rates: Floats, arm: int) -> None:
    """The rate r_k at which the clock rings for this arm."""
    row = tilts.rows[arm, :, CEILING]
    rates[arm] = row[0]
    for j in range(1, N_CELLS):
        rates[arm] += cells[MOST, j - 1] * row[j]


@jit
def worth_waiting(policy: BCVTSParams, state: History, tilts: Tilts, rates: Floats, first: int) -> bool:
    """Whether the clock rings seldom enough, and rings cost less than plain steps."""
    together = cost = 0.0
    for k in range(rates.size):
        together += rates[k]
        if k != first:
            cost += rates[k] * (_RING_COST + policy.level * state.pulls[k])
            cost += (rates[k] - tilts.rows[k, 0, CEILING]) * policy.level * state.pulls[first]
    return together <= _RATE_MOST and cost <= _STEP_COST


@jit
def certify_all(
    policy: BCVTSParams, state: History, samples: Samples, tilts: Tilts, rates: Floats, leader: Leader, first: int
) -> bool:
    """Tilts and a rate for everybody; False as soon as together they are too high to wait."""
    for k in range(rates.size):
        rates[k] = 0.0
    for begin, end in ((0, 1), (1, N_CELLS - 1)):  # the first threshold alone may say so
        for k in range(rates.size):
            if k != first:
                set_tilts(policy, state, samples, tilts, k, leader.cells[AT, :end], begin)
                rates[k] = tilts.rows[k, 0, CEILING]
                if begin > 0:
                    set_rate(tilts, leader.cells, rates, k)
                if not worth_waiting(policy, state, tilts, rates, first):
                    return False
    set_bounds(policy, state, leader, first)
    for k in range(rates.size):
        if k != first:
            set_rate(tilts, leader.cells, rates, k)
    return worth_waiting(policy, state, tilts, rates, first)


@jit
def next_ring(
    policy: BCVTSParams,
    state: History,
    samples: Samples,
    tilts: Tilts,
    rates: Floats,
    leader: Leader,
    limit: int,
    rng: np.random.Generator,
) -> tuple[int, int, int, float]:
    """How many steps, at most ``limit``, come before the one in which the index of a challenger is kept; the arm, the
    cell and the index."""
    total, step = 0.0, 0
    for k in range(rates.size):
        total += rates[k]
    cells = leader.cells
    while True:
        step += geometric(total, rng)
        if step > limit:
            arm, cell, v, step = 0, 0, math.nan, limit + 1
            break
        arm = ringing_arm(rates, total, rng)
        row = tilts.rows[arm, :, CEILING]
        u, cell = rng.random() * rates[arm] - row[0], 0
        while u >= 0.0 and cell < N_CELLS - 1:
            cell += 1
            u -= cells[MOST, cell - 1] * row[cell]
        q = cells[AT, cell] if cell < N_CELLS - 1 else -math.inf
        v = index_above(policy, state, samples, tilts, arm, cell, q, rng)
        if not math.isnan(v):
            break
    return step - 1, arm, cell, v


@jit
def beats_all(
    policy: BCVTSParams,
    state: History,
    samples: Samples,
    leader: Leader,
    first: int,
    arm: int,
    cell: int,
    v: float,
    rng: np.random.Generator,
) -> bool:
    """Whether the index v of an arm is the largest, with the leader's in this cell; those that tie share."""
    cells, ties, wins = leader.cells, 1, True
    foot = cells[AT, cell] if cell < N_CELLS - 1 else -math.inf
    if cell > 0:
        top = index_below(policy, state, samples, leader, first, cell, rng)
        wins = top < cells[AT, cell - 1] and foot <= top <= v
        ties += top == v
    for turn in range(state.pulls.size):
        k = first if turn == 0 else turn - 1 if turn <= first else turn  # the leader comes first
        if not wins or k == arm or (k == first and cell > 0):
            continue
        other = draw_index(policy, state, samples, k, foot if k == first else v, v, rng)
        wins = other <= v and (k != first or other >= foot)
        ties += other == v
    return wins and (ties == 1 or rng.random() * ties < 1.0)


@shared
def wait_by_clock(
    policy: BCVTSParams,
    state: History,
    run: Run,
    samples: Samples,
    tilts: Tilts,
    rates: Floats,
    first: int,
    rng: np.random.Generator,
) -> None:
    """Pull the leader, and whoever beats it, while the clock rings seldom enough and there is room for rewards."""
    state, run, samples, tilts, rng = borrowed(state), borrowed(run), borrowed(samples), borrowed(tilts), borrowed(rng)
    leader = lead(policy, state, samples, first)
    cells = leader.cells
    if not certify_all(policy, state, samples, tilts, rates, leader, first):
        return
    quiet, arm, cell, v, rung, lost = 0, 0, 0, math.nan, True, 0
    while not ended(run.progress) and state.pulls[first] < state.room[first]:
        if not holds(cells):
            if outgrown(leader, state.pulls[first]):
                return
            set_ceilings(cells)
            for k in range(rates.size):
                if k != first:
                    set_rate(tilts, cells, rates, k)
            if not worth_waiting(policy, state, tilts, rates, first):
                return
            rung, lost = True, 0
        if rung:
            quiet, arm, cell, v = next_ring(policy, state, samples, tilts, rates, leader, left(run.progress), rng)
            quiet, rung = quiet + lost, False
        if quiet > 0:
            block = upcoming(run, first)
            limit = min(quiet, left(run.progress), state.room[first] - state.pulls[first])
            calm = pulls_below(policy, leader, block[:limit])
            quiet -= stretch(run, state, first, -math.inf, math.inf, calm)
            continue
        rung, lost = True, 1  # if nobody wins, the leader is pulled in this step too
        if beats_all(policy, state, samples, leader, first, arm, cell, v, rng):
            lost = 0
            if not pull_into_place(state, run, arm):
                return
            set_tilts(policy, state, samples, tilts, arm, cells[AT], 0)
            set_rate(tilts, cells, rates, arm)
            if not worth_waiting(policy, state, tilts, rates, first):
                return


@shortcut(BCVTSParams)
def play_bcvts(policy: BCVTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play to the horizon."""
    n_arms = state.pulls.size
    play_by_clock(
        policy, state, run, new_samples(n_arms), new_tilts(n_arms, N_CELLS), np.zeros(n_arms), new_distant(n_arms), rng
    )


@shared
def play_by_clock(
    policy: BCVTSParams,
    state: History,
    run: Run,
    samples: Samples,
    tilts: Tilts,
    rates: Floats,
    distant: Distant,
    rng: np.random.Generator,
) -> None:
    """Wait by the clock where that is worth while, plain steps between."""
    run, samples, tilts, distant, rng = (
        borrowed(run),
        borrowed(samples),
        borrowed(tilts),
        borrowed(distant),
        borrowed(rng),
    )
    patience, steps, first = _PATIENCE, 1, -1
    while not ended(run.progress):
        state = with_places(state, first)
        most = max(_PATIENCE, int(sum_of(state.pulls)) // _SHARE)
        if first >= 0:
            before = left(run.progress)
            wait_by_clock(policy, state, run, samples, tilts, rates, first, rng)
            patience = steps = 1 if left(run.progress) < before - 8 else min(2 * patience, most)
            first = -1
        else:
            plain_steps(policy, state, run, samples, distant, steps, rng)
            steps = 1
            if max_of(state.pulls) >= _LEADER_LEAST:
                first = clear_leader(policy, state, samples, distant, rng)
                if first < 0:
                    patience = steps = min(2 * patience, most)


@shared
def clear_leader(
    policy: BCVTSParams, state: History, samples: Samples, distant: Distant, rng: np.random.Generator
) -> int:
    """The arm whose rewards have the largest CVaR; -1 if another one comes near it. Others are watched from afar."""
    values, variances = np.empty(state.pulls.size), np.empty(state.pulls.size)
    for arm in range(values.size):
        b, mean, spread, _ = shortfalls(policy, state, samples, arm)
        values[arm], variances[arm] = b - mean, spread / state.pulls[arm]
    first = argmax_of(values)
    watch(policy, state, samples, distant, first, values, variances, rng)
    for arm in range(values.size):
        if arm != first and not values[first] - values[arm] > _NEAR * math.sqrt(variances[first] + variances[arm]):
            return -1
    return first
