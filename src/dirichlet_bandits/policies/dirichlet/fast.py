"""Duels of BDS, RDS and QDS without one draw per reward.

A duel is decided by one uniform variable u: the challenger wins if u lies below its probability of winning p. Usually,
rough bounds on p are enough to decide. With many rewards, four power sums give such bounds (``numerics/expansion.py``).
Only if u lies between the bounds is p itself computed, from a contour (``numerics/contour.py``). For example, if p lies
between 0.030 and 0.031, then u = 0.4 loses and u = 0.02 wins, and only one u in a thousand requires p.

The bonus depends on the mean shortfall of the rewards from the leader's mean, which takes one pass over the rewards.
The power sums bound the shortfall as well. The uncertainty of the bonus is added to the width of the bounds on p.

If large rewards are rare, the bounds are wide. We decide whether they are too wide before we compare u with anything.
If they are, the duel is decided by draws instead. (Letting u decide where it can, and drawing where it cannot, would be
another distribution.)

Dirichlet Sampling by clocks: the distribution of the plain loop, at a cost that hardly depends on settled arms.

While a challenger loses, its rewards do not change. Only the leader's mean m changes, and it does so slowly. So an
upper bound on the challenger's probability of winning, the ceiling, holds for many rounds, and the round in which the
challenger may win next can be drawn at once. Until then, the challenger costs nothing. When that round comes, the
challenger wins with the probability of a win divided by the ceiling, so over all rounds it wins as often as in the
plain loop. For example, with a ceiling of 0.001, a challenger is examined once in a thousand rounds on average. The
argument in detail:

1. For m in [low, high], the probability is at most p(threshold = low, bonus(high)), because it falls in the threshold
   and rises in the bonus, and every bonus rises with m. This bound is the ceiling of a certificate
   (``engine/clocks.py``).
2. Before each round, a certificate ends if m has left its interval, whether or not its clock is about to ring.
3. All arms that are due are tried against the same leader before any arm is pulled. An arm whose clock rings wins with
   probability p(m)/ceiling, and an arm without a certificate with probability p(m).
4. If no arm wins, the leader is pulled, and again in the next rounds, until a clock rings or m leaves an interval.
5. A pull changes the rewards of an arm, so its certificate ends.

A certificate costs more than a duel, and it ends soon while the leader's mean still moves or if its arm wins often. So
an arm gets a certificate only after lost duels of about the same cost. If the certificate ends before it has saved its
cost, the next one takes twice as many duels; otherwise, the next one comes at once. These decisions depend only on past
rounds, never on when a discarded clock would have rung.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, jit_inline, shared
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.clocks import NEVER, Clocks, certified, new_clocks, silence, void, wind
from dirichlet_bandits.engine.history import History, reserve, rewards, store
from dirichlet_bandits.engine.repeated_pulls import pull_while
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.costs import (
    CEILING_ERROR,
    CERTIFICATE_COST,
    CERTIFICATE_ROOM,
    CERTIFICATE_SETUP,
    CERTIFICATE_WIDENING,
    DUEL_OVERHEAD,
    EXPANSION_LEAST,
    EXPANSION_WIDEST,
    OFTEN,
    RUNG_DUEL_COST,
)
from dirichlet_bandits.numerics.expansion import expanded_crossing
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies.dirichlet.probability import FEW, log_win_probability, merged
from dirichlet_bandits.policies.dirichlet.rule import BDSParams, QDSParams, RDSParams, bonus, bonus_of, reweighted
from dirichlet_bandits.policies.dirichlet.sums import SAMPLE, offset_sums, shortfall_bounds, take_shortfall
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.types import Floats, Ints, Records

NOTES = np.dtype(
    [
        ("since", np.int64),  # the round from which the certificate holds
        ("width", np.float64),  # half the width of the next certificate; 0 before the first
        ("credit", np.float64),  # cost of the lost duels since the last certificate, or what that one has spared
        ("price", np.float64),  # the credit for which the arm gets a certificate, relative to its cost
    ],
    align=True,
)


class Challengers(NamedTuple):
    """What is known about each arm as a challenger."""

    samples: Any  # records of ``sums.SAMPLE``
    notes: Any  # records of ``NOTES``
    contours: Records  # ``CONTOUR``
    clocks: Clocks
    winners: Ints  # of the last round


@shared
def new_challengers(n_arms: int) -> Challengers:
    """Return the records of arms before their first duel."""
    notes = np.zeros(n_arms, NOTES)
    for arm in range(n_arms):
        notes[arm].price = 2.0
    winners = np.empty(n_arms, np.int64)
    return Challengers(np.zeros(n_arms, SAMPLE), notes, contour.make(n_arms), new_clocks(n_arms), winners)


@shared
def rough_win(
    policy: Any, sample: Any, x: Floats, lowest: float, highest: float, low: float, high: float
) -> tuple[float, float]:
    """Return the probability of reaching the mean ``low`` with the bonus at the mean ``high``, and an error bound.

    The sum of all values but the bonus has a log-concave density and the variance S_2, so the density is at most
    1/sqrt(S_2). This limits how fast the probability can change with the bonus.
    """
    s1, s2, s3, s4, largest = offset_sums(policy, sample, x, lowest, highest, low)
    least, most = shortfall_bounds(sample, high)
    b, b_high = bonus(policy, x.size, highest, least, high), bonus(policy, x.size, highest, most, high)
    a, slack = 0.5 * (b + b_high) - low, 0.5 * (b_high - b)
    p, error = expanded_crossing(s1 + a, s2 + a * a, s3 + a * a * a, s4 + a * a * a * a, max(largest, a), sample.held)
    return p, error + slack / math.sqrt(s2)


@shared
def duel_by_draws(policy: Any, state: History, arm: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the arm wins, using one gamma variable per distinct value if there are few of them."""
    state, rng = borrowed(state), borrowed(rng)
    m, x = state.means[leader], rewards(state, arm)
    values, weights = merged(*reweighted(policy, x))
    if values.size > FEW:  # not merged
        return verbs.duel(policy, state, arm, leader, rng)
    total = (bonus_of(policy, state, arm, m) - m) * rng.standard_exponential()
    for i in range(values.size):
        total += (values[i] - m) * rng.standard_gamma(weights[i])
    return total >= 0.0


@shared
def log_win(policy: Any, state: History, challengers: Challengers, arm: int, low: float, high: float) -> float:
    """Return the logarithm of the probability of reaching the mean ``low`` with the bonus at the mean ``high``."""
    state, challengers = borrowed(state), borrowed(challengers)
    x, sample = rewards(state, arm), challengers.samples[arm]
    b = bonus(policy, x.size, state.highs[arm], take_shortfall(sample, x, high), high)
    return log_win_probability(policy, x, b, low, challengers.contours[arm], sample, CLOCK_ERROR)


@jit
def log_ceiling(policy: Any, state: History, challengers: Challengers, arm: int, low: float, high: float) -> float:
    """Return the logarithm of a bound on the arm's probability of winning, for leader's means in an interval."""
    x, sample = rewards(state, arm), challengers.samples[arm]
    if x.size >= EXPANSION_LEAST:
        p, error = rough_win(policy, sample, x, state.lows[arm], state.highs[arm], low, high)
        if error < CEILING_ERROR * p:
            return math.log(p + error)
    return log_win(policy, state, challengers, arm, low, high)


@shared
def lies_below(policy: Any, state: History, challengers: Challengers, arm: int, m: float, u: float) -> bool:
    """Whether u lies below the arm's probability of winning against a leader's mean m."""
    state, challengers = borrowed(state), borrowed(challengers)
    x, sample = rewards(state, arm), challengers.samples[arm]
    if x.size >= EXPANSION_LEAST:
        take_shortfall(sample, x, m)
        p, error = rough_win(policy, sample, x, state.lows[arm], state.highs[arm], m, m)
        if abs(u - p) >= error:
            return u < p
    return u < math.exp(log_win(policy, state, challengers, arm, m, m))


@jit_inline
def duel_by_probability(
    policy: Any,
    state: History,
    challengers: Challengers,
    arm: int,
    leader: int,
    ceiling: float,
    rng: np.random.Generator,
) -> bool:
    """Whether an arm whose mean is below the leader's wins, given that its clock rang if the ceiling is below 1."""
    m, p, error = state.means[leader], 0.0, math.inf
    if state.pulls[arm] >= EXPANSION_LEAST:
        x, lowest, highest = rewards(state, arm), state.lows[arm], state.highs[arm]
        p, error = rough_win(policy, challengers.samples[arm], x, lowest, highest, m, m)
        if ceiling == 1.0 and error > EXPANSION_WIDEST:
            return duel_by_draws(policy, state, arm, leader, rng)
    elif ceiling == 1.0:
        return verbs.duel(policy, state, arm, leader, rng)
    u = rng.random() * ceiling  # at a ring the challenger wins with its probability's share of the ceiling
    return u < p if abs(u - p) >= error else lies_below(policy, state, challengers, arm, m, u)


class Position(NamedTuple):
    """The state of a game between two rounds."""

    leader: int
    now: int  # number of the next round
    contested: bool  # other arms have been pulled as often as the leader


@jit
def duel_cost(n: int) -> float:
    """Return the cost of a duel of an arm with n rewards and without a certificate."""
    return min(n, EXPANSION_LEAST) + DUEL_OVERHEAD


@jit
def certificate_cost(n: int) -> float:
    """Return the cost of a certificate for n rewards; with few rewards, contours are soon rebuilt."""
    return CERTIFICATE_COST + CERTIFICATE_SETUP / n


@jit_inline
def seek_certificate(
    policy: Any, state: History, challengers: Challengers, arm: int, leader: int, now: int, rng: np.random.Generator
) -> None:
    """Give an arm a certificate from round ``now`` on, if its clock would ring rarely enough."""
    state, challengers, rng = borrowed(state), borrowed(challengers), borrowed(rng)
    clocks, note, n = challengers.clocks, challengers.notes[arm], state.pulls[arm]
    note.credit = 0.0
    m, gap = state.means[leader], state.means[leader] - state.means[arm]
    step = 0.25 * (state.highs[leader] - state.lows[leader]) / state.pulls[leader]  # of the leader's mean, in a round
    least = 3.0 * step * math.sqrt(certificate_cost(n) / duel_cost(n))  # with less the mean would leave it too soon
    if least > 0.5 * gap:
        return
    note.price *= 2.0
    if note.width == 0.0:  # a first guess: log p falls about as fast as for Gaussian rewards
        spread = 0.25 * (state.highs[arm] - state.lows[arm]) + gap
        note.width = CERTIFICATE_ROOM * spread * spread / (2.0 * n * gap)
    reach = min(max(note.width, least), 0.5 * gap)
    if not m - reach > state.means[arm]:
        return
    ceiling = log_ceiling(policy, state, challengers, arm, m - reach, m + reach)  # step 1
    if math.exp(ceiling) * RUNG_DUEL_COST < OFTEN * duel_cost(n):
        clocks.low[arm], clocks.high[arm], clocks.ceiling[arm] = m - reach, m + reach, ceiling
        note.since = now
        wind(clocks, arm, now - 1, rng)
    else:
        note.width = reach / CERTIFICATE_WIDENING


@jit
def end_certificate(challengers: Challengers, arm: int, n: int, now: int) -> None:
    """End the certificate of an arm with n rewards before round ``now``, and record what it has saved."""
    note = challengers.notes[arm]
    note.credit = 0.0
    if certified(challengers.clocks, arm):
        note.credit = (now - note.since) * duel_cost(n)
        if note.credit >= certificate_cost(n):
            note.price = 1.0
    void(challengers.clocks, arm)


@jit_inline
def wins(
    policy: Any, state: History, challengers: Challengers, arm: int, leader: int, now: int, rng: np.random.Generator
) -> bool:
    """Whether an arm that is due in round ``now`` wins."""
    clocks, note = challengers.clocks, challengers.notes[arm]
    if state.pulls[arm] == state.pulls[leader]:  # does not duel in this round
        if certified(clocks, arm):
            wind(clocks, arm, now, rng)
        return False
    if state.means[arm] >= state.means[leader]:  # has no certificate: its interval would not hold
        return True
    if not certified(clocks, arm) and note.credit >= note.price * certificate_cost(state.pulls[arm]):
        seek_certificate(policy, state, challengers, arm, leader, now, rng)
        if clocks.ring[arm] > now:
            return False
    timed = certified(clocks, arm)
    ceiling = math.exp(clocks.ceiling[arm]) if timed else 1.0
    won = duel_by_probability(policy, state, challengers, arm, leader, ceiling, rng)  # step 3
    if not timed:
        note.credit += duel_cost(state.pulls[arm])
    elif not won:
        wind(clocks, arm, now, rng)
        note.width /= CERTIFICATE_WIDENING
    return won


@jit_inline
def hold_round(
    policy: Any, state: History, challengers: Challengers, leader: int, now: int, rng: np.random.Generator
) -> tuple[int, int, float, float]:
    """Try all arms that are due, and record the winners.

    Return how many arms have won, when a clock rings next, and the interval in which all certificates hold.
    """
    clocks, m = challengers.clocks, state.means[leader]
    n_winners, next_ring, low, high = 0, NEVER, -math.inf, math.inf
    for arm in range(state.pulls.size):
        if not clocks.low[arm] <= m <= clocks.high[arm]:  # step 2
            end_certificate(challengers, arm, state.pulls[arm], now)
            challengers.notes[arm].width *= CERTIFICATE_WIDENING
        if clocks.ring[arm] <= now and wins(policy, state, challengers, arm, leader, now, rng):
            challengers.winners[n_winners] = arm
            n_winners += 1
        next_ring = min(next_ring, clocks.ring[arm])
        low, high = max(low, clocks.low[arm]), min(high, clocks.high[arm])
    return n_winners, next_ring, low, high


@jit
def new_leader(state: History, challengers: Challengers, old: int, now: int, rng: np.random.Generator) -> int:
    """Return the leader before round ``now``; if it has changed, the old leader becomes a challenger."""
    leader = leader_of(state.pulls, state.means, rng)
    if leader != old:
        void(challengers.clocks, old)
        end_certificate(challengers, leader, state.pulls[leader], now)
        silence(challengers.clocks, leader)
    return leader


@shortcut(BDSParams, RDSParams, QDSParams)
def play_duels(policy: Any, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play until the run is over."""
    challengers, position = new_challengers(state.pulls.size), Position(0, 0, True)
    silence(challengers.clocks, 0)
    while not ended(run.progress):
        position, n_pulled = play_rounds(policy, state, run, challengers, position, rng)
        for arm in challengers.winners[:n_pulled]:
            state = reserve(state, arm, 1)


@partial(shared, sources_of=verbs.policy_sources)
def play_rounds(
    policy: Any, state: History, run: Run, challengers: Challengers, position: Position, rng: np.random.Generator
) -> tuple[Position, int]:
    """Play until the run is over or an arm has no more room; also return how many arms the last round pulled."""
    state, run, challengers, rng = borrowed(state), borrowed(run), borrowed(challengers), borrowed(rng)
    pulls, room = state.pulls, state.room
    winners = challengers.winners
    leader, now, contested = position
    n_winners, full = 0, False
    while not full and not ended(run.progress):
        if contested:
            leader = new_leader(state, challengers, leader, now, rng)
        n_winners, next_ring, low, high = hold_round(policy, state, challengers, leader, now, rng)
        now += 1
        if n_winners == 0:
            winners[0], n_winners = leader, 1
            if next_ring > now:  # step 4
                limit = min(next_ring - now + 1, room[leader] - pulls[leader])
                now += pull_while(run, state, leader, low, high, limit) - 1
                contested, full = False, pulls[leader] == room[leader]
                continue
        shuffle(winners[:n_winners], rng)
        for i in range(n_winners):
            arm = winners[i]
            reward = pull(run, arm)
            if ended(run.progress):
                break
            store(state, arm, reward, reward)  # with that, what `update` does for these policies
            if arm != leader:
                end_certificate(challengers, arm, pulls[arm], now)  # step 5
            contested = arm != leader and (contested or pulls[arm] >= pulls[leader])
            full = full or pulls[arm] == room[arm]
    return Position(leader, now, contested), n_winners
