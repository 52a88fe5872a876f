"""The loop for worlds that change, report late or work in batches: one compiled function plays any world's script.

A world writes a :class:`Script` for each replication: all rewards that the arms could give, what each pull costs, and
when its reward becomes known. Everything specific to a world is in its script, so the loop is compiled once per policy.

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
from dirichlet_bandits.engine.run import BAD_REWARD, CANCEL, CANCELED, DONE, RUNNING, Outcome, Setup
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.numerics.arrays import copy_into
from dirichlet_bandits.seeding import start_stream
from dirichlet_bandits.types import Flags, Floats, Ints, Records, Words


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
    fewest: int  # arms that must have a reward before the policy decides


class Streams(NamedTuple):
    """Generators of a replication: the policy's, with a view of its state, and one for all other randomness."""

    rng: np.random.Generator
    words: Words
    spare: np.random.Generator


class Mail(NamedTuple):
    """Rewards in transit: for each time, a list of the pulls whose rewards are due then, in the order of the pulls."""

    first: Ints
    last: Ints
    following: Ints
    arms: Ints
    values: Floats


class Reports(NamedTuple):
    """Rewards that have been reported, in order, and what is known about each arm."""

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


PROGRESS = np.dtype(
    [
        ("clock", np.int64),  # pulls so far
        ("segment", np.int64),
        ("batch", np.int64),  # the next one
        ("received", np.int64),  # all that was due by this time has been reported
        ("known", np.int64),  # arms that the policy knows
        ("read", np.int64),  # reports that it has seen
        ("slot", np.int64),  # which of the recording times comes next
        ("regret", np.float64),
        ("total", np.float64),  # sum of the rewards
    ]
)


class ScriptTally(NamedTuple):
    """How far a replication has come, and what it has counted and recorded."""

    progress: Records  # one record
    used: Ints  # pulls of each arm in this segment
    pulls: Ints
    regret: Floats  # at the recording times


@jit
def new_mail(horizon: int) -> Mail:
    """Return a mailbox without rewards in transit."""
    return Mail(
        np.full(horizon + 1, -1),
        np.full(horizon + 1, -1),
        np.full(horizon, -1),
        np.empty(horizon, np.int64),
        np.empty(horizon),
    )


@jit
def new_reports(n_arms: int, horizon: int) -> Reports:
    """Return empty reports."""
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
def outstanding(reports: Reports, n_known: int) -> tuple[Ints, Ints]:
    """Return the number of outstanding rewards and the first pull among them, for each arm that the policy knows."""
    if n_known == reports.places.size:
        return reports.outstanding, reports.earliest
    waiting, earliest = np.empty(n_known, np.int64), np.empty(n_known, np.int64)
    for arm in range(reports.places.size):
        place = reports.places[arm]
        if place >= 0:
            waiting[place], earliest[place] = reports.outstanding[arm], reports.earliest[arm]
    return waiting, earliest


@jit
def new_script_tally(n_arms: int, n_times: int) -> ScriptTally:
    """Return a tally without pulls."""
    return ScriptTally(np.zeros(1, PROGRESS), np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64), np.empty(n_times))


@jit
def post(mail: Mail, pull: int, due: int, arm: int, value: float) -> None:
    """Send the reward of a pull; NaN means that it is given up then. Rewards due after the horizon are dropped."""
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
    """Return the arms to try before the policy decides: those with the fewest tries, in random order, or none.

    The policy decides when every arm was tried and at least ``fewest`` have a reward.
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
    """Number the arms that have a reward as the policy sees them, and return how many there are."""
    n = 0
    for arm in range(reports.places.size):
        reports.places[arm] = -1
        if reports.received[arm] > 0:
            reports.places[arm] = n
            n += 1
    return n


@jit
def n_received(reports: Reports) -> int:
    """Return how many arms have a reward."""
    n = 0
    for arm in range(reports.received.size):
        n += reports.received[arm] > 0
    return n


@jit
def arms_at(reports: Reports, places: Ints) -> Ints:
    """Return the arms that the policy knows under these numbers."""
    arms = np.empty(places.size, np.int64)
    for i in range(places.size):
        for arm in range(reports.places.size):
            if reports.places[arm] == places[i]:
                arms[i] = arm
    return arms


@jit
def open_batch(script: Script, mail: Mail, reports: Reports, now: Any) -> None:
    """Report all rewards that are due when a batch begins."""
    while script.batches[now.batch] <= now.clock:
        now.batch += 1
    while now.received < now.clock:
        now.received += 1
        receive(mail, now.received, reports)


@jit
def next_entry(script: Script, tally: ScriptTally, arm: int) -> int:
    """Return the column of the script from which the next pull of an arm takes its reward."""
    now = tally.progress[0]
    if now.clock == script.starts[now.segment + 1]:
        now.segment += 1
        tally.used[:] = 0
    return script.starts[now.segment] + tally.used[arm]


@jit
def reward_at(script: Script, clock: int, arm: int, entry: int) -> float:
    """Return the reward in this column of the script, plus the drift at this time."""
    reward = script.rewards[arm, entry]
    return reward + script.drift[clock, arm] if script.drift.shape[0] > 0 else reward


@jit
def dispatch(script: Script, mail: Mail, reports: Reports, clock: int, arm: int, entry: int, reward: float) -> None:
    """Send a reward on its way, or what is reported in its place if it takes longer than the window."""
    delay = script.delays[arm, entry] if script.delays.shape[1] > 0 else 0
    value = reward if delay <= script.window else script.late
    wait_for(reports, clock, arm)
    post(mail, clock, clock + 1 + min(delay, script.window), arm, value)


@jit
def count_pull(script: Script, times: Ints, tally: ScriptTally, arm: int, reward: float) -> None:
    """Count a pull and what it cost, and record the regret when it is due."""
    now = tally.progress[0]
    tally.used[arm] += 1
    tally.pulls[arm] += 1
    now.total += reward
    now.regret += script.gaps[now.clock, arm]
    now.clock += 1
    if now.clock == times[now.slot]:
        tally.regret[now.slot] = now.regret
        now.slot = min(now.slot + 1, times.size - 1)


def play_script(
    policy: Any,
    setup: Setup,
    script: Script,
    seed: Words,
    streams: Streams,
    control: Ints,
    outcome: Outcome,
) -> int:
    """Play one replication of a world, write its row, and return what became of it."""
    rng = streams.rng
    start_stream(rng, streams.words, seed)
    n_arms, horizon = script.rewards.shape
    mail, reports, tally = new_mail(horizon), new_reports(n_arms, horizon), new_script_tally(n_arms, setup.times.size)
    state, now, single = verbs.init(policy, n_arms), tally.progress[0], np.empty(1, np.int64)
    while now.clock < horizon:
        if control[CANCEL]:
            return CANCELED
        if now.clock >= script.batches[now.batch]:
            open_batch(script, mail, reports, now)
        chosen = single[:0]
        if now.known < n_arms:
            # What the policy draws must not depend on delays, so only the first order comes from its own stream.
            chosen = untried(reports, script.fewest, rng if now.clock == 0 else streams.spare)
        if chosen.size == 0:
            if now.known < n_arms and n_received(reports) > now.known:
                now.known, now.read = renumber(reports), 0
                state = verbs.init(policy, now.known)
            while now.read < reports.number[0]:  # not a function: passing the state there and back takes longer
                arm = reports.arms[now.read]
                verbs.note(policy, state, reports.pulls[now.read], now.clock)
                state = verbs.update(policy, state, reports.places[arm], reports.rewards[now.read], rng)
                now.read += 1
            verbs.note(policy, state, now.clock, now.clock)
            waiting, earliest = outstanding(reports, now.known)
            state = verbs.prepare(policy, state, waiting, earliest, rng)
            chosen = as_round(verbs.select(policy, state, rng), single)
            if now.known < n_arms:
                chosen = arms_at(reports, chosen)
        for arm in chosen:
            if now.clock == horizon:
                break
            entry = next_entry(script, tally, arm)
            reward = reward_at(script, now.clock, arm, entry)
            if not setup.low <= reward <= setup.high:
                outcome.offence[0], outcome.offence[1] = arm, reward
                return BAD_REWARD
            dispatch(script, mail, reports, now.clock, arm, entry, reward)
            count_pull(script, setup.times, tally, arm, reward)
    copy_into(outcome.regret[0], tally.regret)
    copy_into(outcome.pulls[0], tally.pulls)
    outcome.reward[0] = now.total
    control[DONE] += 1
    return RUNNING


def script_runner(params: Any) -> Callable[..., int]:
    """Return the compiled loop for policies with parameters of this type."""
    return verbs.specialized(play_script, params)
