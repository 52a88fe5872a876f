"""The loop for worlds that change, answer late or work in batches: one compiled function plays the script of any world.

A world writes a :class:`Script` for each replication: all rewards that the arms could give, what each pull costs, and
when its reward becomes known. Whatever is special about a world is in its script, so the loop is compiled once for each
policy.

Decisions follow the rules of live studies. Before a decision, the rewards that are due are reported in the order of
their due times, then of their pulls; then the policy learns which rewards are outstanding. An arm that was never tried
comes first; as soon as every arm was tried and two have a reward (all, for a policy that waits for all arms), the
policy chooses among the arms with a reward.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.engine.run import BAD_REWARD, CANCEL, CANCELLED, DONE, RUNNING, Outcome, Setup
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.numerics.arrays import copy_into
from dirichlet_bandits.seeding import start_stream
from dirichlet_bandits.types import Flags, Floats, Ints, Words


class Script(NamedTuple):
    """One replication of a world with K arms and T pulls, written in advance.

    The j-th pull of an arm within a segment gives ``rewards[arm, first + j]``, where ``first`` is the first pull of the
    segment, plus ``drift[t, arm]`` at time t if there is a drift. It costs ``gaps[t, arm]``. Its reward is reported
    before the first decision that is more than ``delays[arm, first + j]`` pulls later. A reward that would take longer
    than ``window`` is reported as ``late``, or never if that is NaN.
    """

    rewards: Floats  # (K, T)
    drift: Floats  # (T, K), or (0, K) where there is none
    gaps: Floats  # (T, K)
    starts: Ints  # the first pull of each segment, then T
    delays: Ints  # (K, T), or (K, 0) where rewards are reported at once
    window: int
    late: float
    batches: Ints  # the first pull of each batch, then T
    fewest: int  # arms that must have a reward before the policy is asked


class Mail(NamedTuple):
    """Rewards on their way: for each time a list of the pulls whose rewards are due then, in the order of the pulls."""

    first: Ints
    last: Ints
    following: Ints
    arms: Ints
    values: Floats


class Reports(NamedTuple):
    """Rewards that have been reported, in order, and what is known of each arm."""

    arms: Ints
    rewards: Floats
    pulls: Ints  # which pull, counted from 0, gave the reward
    number: Ints  # of reports: one number
    received: Ints  # per arm
    outstanding: Ints  # per arm
    places: Ints  # the number under which the policy knows an arm; -1 for one without a reward
    earliest: Ints  # per arm: the first pull whose reward is outstanding, NEVER if there is none
    latest: Ints  # per arm: the last pull
    later: Ints  # the next pull of the same arm, NEVER if there is none
    answered: Flags  # whether the reward of a pull was reported or given up


@jit
def new_reports(n_arms: int, horizon: int) -> Reports:
    """Nothing has been pulled."""
    return Reports(
        np.empty(horizon, np.int64),
        np.empty(horizon),
        np.empty(horizon, np.int64),
        np.zeros(1, np.int64),
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms, np.int64),
        np.full(n_arms, -1),
        np.full(n_arms, verbs.NEVER),
        np.full(n_arms, -1),
        np.full(horizon, verbs.NEVER),
        np.zeros(horizon, np.bool_),
    )


@jit
def wait_for(reports: Reports, pull: int, arm: int) -> None:
    """Take note that the reward of a pull is outstanding."""
    reports.outstanding[arm] += 1
    if reports.latest[arm] >= 0:
        reports.later[reports.latest[arm]] = pull
    reports.latest[arm] = pull
    reports.earliest[arm] = min(reports.earliest[arm], pull)


@jit
def answer(reports: Reports, pull: int, arm: int) -> None:
    """Take note that the reward of a pull is no longer outstanding."""
    reports.outstanding[arm] -= 1
    reports.answered[pull] = True
    while reports.earliest[arm] < verbs.NEVER and reports.answered[reports.earliest[arm]]:
        reports.earliest[arm] = reports.later[reports.earliest[arm]]


@jit
def new_mail(horizon: int) -> Mail:
    """Nothing is on its way."""
    return Mail(
        np.full(horizon + 1, -1),
        np.full(horizon + 1, -1),
        np.full(horizon, -1),
        np.empty(horizon, np.int64),
        np.empty(horizon),
    )


@jit
def post(mail: Mail, pull: int, due: int, arm: int, value: float) -> None:
    """Send the reward of a pull; NaN means that it is given up then. After the horizon nobody reads it."""
    if due >= mail.first.size:
        return
    mail.arms[pull], mail.values[pull] = arm, value
    if mail.first[due] < 0:
        mail.first[due] = pull
    else:
        mail.following[mail.last[due]] = pull
    mail.last[due] = pull


@jit
def receive(mail: Mail, due: int, reports: Reports) -> None:
    """Report the rewards that are due at this time."""
    pull = mail.first[due]
    while pull >= 0:
        arm = mail.arms[pull]
        answer(reports, pull, arm)
        if not math.isnan(mail.values[pull]):
            n = reports.number[0]
            reports.arms[n], reports.rewards[n], reports.pulls[n] = arm, mail.values[pull], pull
            reports.number[0] = n + 1
            reports.received[arm] += 1
        pull = mail.following[pull]


@jit
def untried(reports: Reports, fewest: int, rng: np.random.Generator) -> Ints:
    """The arms that come before the policy is asked, in random order: those with the fewest tries; perhaps none.

    The policy is asked when every arm was tried and at least ``fewest`` have a reward.
    """
    n_arms = reports.received.size
    arms, n, known, least = np.empty(n_arms, np.int64), 0, 0, 2**62
    for arm in range(n_arms):
        least = min(least, reports.received[arm] + reports.outstanding[arm])
        known += reports.received[arm] > 0
    if least > 0 and known >= fewest:
        return arms[:0]
    for arm in range(n_arms):
        if reports.received[arm] + reports.outstanding[arm] == least:
            arms[n] = arm
            n += 1
    shuffle(arms[:n], rng)
    return arms[:n]


@jit
def renumber(reports: Reports) -> int:
    """Number the arms that have a reward as the policy sees them; how many."""
    n = 0
    for arm in range(reports.places.size):
        reports.places[arm] = -1
        if reports.received[arm] > 0:
            reports.places[arm] = n
            n += 1
    return n


@jit
def n_received(reports: Reports) -> int:
    """How many arms have a reward."""
    n = 0
    for arm in range(reports.received.size):
        n += reports.received[arm] > 0
    return n


@jit
def arm_at(reports: Reports, place: int) -> int:
    """The arm that the policy knows under this number."""
    for arm in range(reports.places.size):
        if reports.places[arm] == place:
            return arm
    return -1


@jit
def outstanding(reports: Reports, n_known: int) -> tuple[Ints, Ints]:
    """The number of outstanding rewards and the first pull among them, for each arm that the policy knows."""
    if n_known == reports.places.size:
        return reports.outstanding, reports.earliest
    waiting, earliest = np.empty(n_known, np.int64), np.empty(n_known, np.int64)
    for arm in range(reports.places.size):
        place = reports.places[arm]
        if place >= 0:
            waiting[place], earliest[place] = reports.outstanding[arm], reports.earliest[arm]
    return waiting, earliest


@jit
def delay_of(script: Script, arm: int, entry: int) -> int:
    """How many pulls later than at once the reward is reported."""
    return script.delays[arm, entry] if script.delays.shape[1] > 0 else 0


def play_script(
    policy: Any,
    setup: Setup,
    script: Script,
    seed: Words,
    rng: np.random.Generator,
    words: Words,
    spare: np.random.Generator,
    control: Ints,
    outcome: Outcome,
) -> int:
    """Play one replication of a world, write its row, and return what became of it."""
    start_stream(rng, words, seed)
    n_arms, horizon = script.rewards.shape
    mail = new_mail(horizon)
    reports = new_reports(n_arms, horizon)
    used = np.zeros(n_arms, np.int64)  # pulls of each arm in this segment
    state, n_known, read = verbs.init(policy, n_arms), 0, 0
    single = np.empty(1, np.int64)
    clock, segment, batch, slot, received = 0, 0, 0, 0, 0
    total, regret = 0.0, 0.0
    pulls, recorded = np.zeros(n_arms, np.int64), np.empty(setup.times.size)
    while clock < horizon:
        if control[CANCEL]:
            return CANCELLED
        if clock >= script.batches[batch]:
            while script.batches[batch] <= clock:
                batch += 1
            while received < clock:
                received += 1
                receive(mail, received, reports)
        chosen = single[:0]
        if n_known < n_arms:
            # What the policy draws must not depend on delays: only the first order comes from its own stream.
            chosen = untried(reports, script.fewest, rng if clock == 0 else spare)
        asked = chosen.size == 0
        if asked:
            if n_known < n_arms and n_received(reports) > n_known:
                n_known, read = renumber(reports), 0
                state = verbs.init(policy, n_known)
            while read < reports.number[0]:
                verbs.note(policy, state, reports.pulls[read], clock)
                state = verbs.update(policy, state, reports.places[reports.arms[read]], reports.rewards[read], rng)
                read += 1
            verbs.note(policy, state, clock, clock)
            waiting, earliest = outstanding(reports, n_known)
            state = verbs.prepare(policy, state, waiting, earliest, rng)
            chosen = as_round(verbs.select(policy, state, rng), single)
        for member in chosen:
            if clock == horizon:
                break
            if clock == script.starts[segment + 1]:
                segment += 1
                used[:] = 0
            arm = arm_at(reports, member) if asked and n_known < n_arms else member
            entry = script.starts[segment] + used[arm]
            reward = script.rewards[arm, entry]
            if script.drift.shape[0] > 0:
                reward += script.drift[clock, arm]
            if not setup.low <= reward <= setup.high:
                outcome.offence[0], outcome.offence[1] = arm, reward
                return BAD_REWARD
            used[arm] += 1
            pulls[arm] += 1
            wait_for(reports, clock, arm)
            delay = delay_of(script, arm, entry)
            value = reward if delay <= script.window else script.late
            post(mail, clock, clock + 1 + min(delay, script.window), arm, value)
            total += reward
            regret += script.gaps[clock, arm]
            clock += 1
            if clock == setup.times[slot]:
                recorded[slot] = regret
                slot = min(slot + 1, setup.times.size - 1)
    copy_into(outcome.regret[0], recorded)
    copy_into(outcome.pulls[0], pulls)
    outcome.reward[0] = total
    control[DONE] += 1
    return RUNNING


def script_runner(params: Any) -> Callable[..., int]:
    """Return the compiled loop for policies with such parameters."""
    return verbs.specialised(play_script, params)
