"""The compiled loops: one for plain simulations, around which a policy may play its own way, and one for scripts.

A script is for an environment that changes, reports late or works in batches. Before a replication, all rewards that
the arms could give are drawn, and a :class:`Script` says how they are read and when they become known. All that is
specific to an environment is in them, so the loop is compiled once per policy. Pulls are those of any run
(``run.py``), whose rewards are taken from a table instead of a generator. The plain loop is separate because it is
six times as fast for Thompson Sampling: it draws only the rewards that are pulled, and updates the policy at once.

Decisions follow the rules of live studies. Before a decision, the rewards that are due are reported in the order of
their due times, then of their pulls; then the policy learns which rewards are outstanding. An arm that was never tried
comes first; as soon as every arm was tried and two have a reward (all, for a policy that waits for all arms), the
policy chooses among the arms with a reward.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, overload, shared, types
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.run import (
    CANCEL,
    CANCELED,
    RUNNING,
    Outcome,
    Run,
    Setup,
    ended,
    finish,
    pull,
    pull_alone,
    start,
    status,
    upcoming,
)
from dirichlet_bandits.engine.tally import shuffle, unpulled, untried
from dirichlet_bandits.environments.sampler import ArmTable
from dirichlet_bandits.seeding import Stream, start_stream
from dirichlet_bandits.types import Flags, Floats, Ints, Words


def as_round(chosen: Any, single: Ints) -> Any:
    """Return the result of ``select`` as an array; a single arm, as from an index policy, is written to ``single``."""


@overload(as_round)
def _as_round(chosen, single):  # type: ignore[no-untyped-def]
    if not isinstance(chosen, types.Integer):
        return lambda chosen, single: chosen

    def alone(chosen, single):  # type: ignore[no-untyped-def]
        single[0] = chosen
        return single

    return alone


@jit
def next_round(policy: Any, state: Any, rng: np.random.Generator) -> Ints:
    """Return the arms to pull next: those never pulled, in random order, or else what the policy selects."""
    arms = unpulled(state.pulls, rng)
    if arms.size == 0:
        arms = as_round(verbs.select(policy, state, rng), np.empty(1, np.int64))
    return arms


@functools.partial(shared, sources_of=verbs.policy_sources)
def plain(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Run the plain loop: select arms, pull the arms of the round, update the policy with the rewards."""
    state, run, rng = borrowed(state), borrowed(run), borrowed(rng)
    single = np.empty(1, np.int64)
    while not ended(run.progress):
        for arm in as_round(verbs.select(policy, state, rng), single):
            if ended(run.progress):
                break
            reward = pull(run, arm)
            state = verbs.update(policy, state, arm, reward, rng)


verbs.implements(verbs.play)(plain)


@functools.partial(shared, sources_of=verbs.policy_sources)
def opening(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> Any:
    """Pull every arm once, in random order."""
    run = borrowed(run)
    for arm in unpulled(run.pulls, rng):
        reward = pull_alone(run, arm)
        if status(run.progress) != RUNNING:
            break
        state = verbs.update(policy, state, arm, reward, rng)
    return state


@functools.partial(shared, sources_of=verbs.policy_sources)
def play_on(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Let the policy play its own way to the horizon; the caller owns the state, the run and the generator.

    The verb is compiled into this function so that LLVM sees that no references are counted in it.
    """
    verbs.play(policy, borrowed(state), borrowed(run), borrowed(rng))


@functools.cache
def chunk_of(shortcut: bool) -> Callable[..., int]:
    """Return the function, to be compiled, that plays a chunk of replications by a shortcut or by the plain loop."""

    def play_chunk(
        policy: Any,
        setup: Setup,
        table: ArmTable,
        seeds: Words,
        rewards: Stream,
        decisions: Stream,
        control: Ints,
        outcome: Outcome,
    ) -> int:
        n_arms, rng = table.kinds.size, decisions.rng
        for replication in range(seeds.shape[0]):
            run = start(setup, table, seeds[replication], rewards.rng, rewards.words, control)
            start_stream(rng, decisions.words, seeds[replication, n_arms])
            state = opening(policy, verbs.init(policy, n_arms), run, rng)
            if shortcut:
                play_on(policy, state, run, rng)
            else:
                plain(policy, state, run, rng)
            finish(run, outcome, replication)
            if status(run.progress) != RUNNING:
                return status(run.progress)
        return RUNNING

    play_chunk.__name__ = "play_chunk_by_shortcut" if shortcut else "play_chunk_plainly"
    return play_chunk


def runner(params: Any, shortcut: bool) -> Callable[..., int]:
    """Return the compiled chunk of replications for policies with parameters of this type.

    A policy without a shortcut has one function for both ways to play: the plain loop.
    """
    return verbs.specialized(chunk_of(shortcut or not verbs.has_own(verbs.play, params)), params)


class Script(NamedTuple):
    """How the rewards of a replication with K arms and T pulls are read, and when they become known.

    The reward of an arm at time t is in column t, if rewards are read ``by_time``, or else the j-th pull of the arm in
    a segment has that in column ``first + j``, where ``first`` is the first pull of the segment; ``drift[t, arm]`` is
    added. The reward in a column is reported before the first decision that is more than ``delays[arm, column]`` pulls
    later. A reward that would take longer than ``window`` is reported as ``late``, or never if that is NaN.
    """

    by_time: bool
    drift: Floats  # (T, K), or (0, K) where there is none
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
def arms_at(reports: Reports, places: Ints) -> Ints:
    """Return the arms that the policy knows under these numbers."""
    arms = np.empty(places.size, np.int64)
    for i in range(places.size):
        for arm in range(reports.places.size):
            if reports.places[arm] == places[i]:
                arms[i] = arm
    return arms


@jit
def open_batch(script: Script, mail: Mail, reports: Reports, clock: int, batch: int, seen: int) -> tuple[int, int]:
    """Report the rewards that became due after ``seen``, and return the next batch and the time of the last report."""
    while script.batches[batch] <= clock:
        batch += 1
    for due in range(seen + 1, clock + 1):
        receive(mail, due, reports)
    return batch, clock


@jit
def aim(run: Run, script: Script, arm: int, segment: int) -> int:
    """Make the next pull of an arm give its reward at this time, and return the segment of this time."""
    clock, place = run.progress[0].clock, run.buffered[arm]
    if script.by_time:
        ahead = clock - (place.drawn - place.end)  # of the first reward in the buffer
        if 0 <= ahead < place.end:
            place.next = ahead
        else:
            place.next, place.end, place.drawn = 0, 0, clock
    elif clock == script.starts[segment + 1]:
        segment += 1
        for other in range(run.buffered.size):
            run.buffered[other].next, run.buffered[other].end, run.buffered[other].drawn = 0, 0, clock
    if script.drift.shape[0] > 0:
        upcoming(run, arm)[0] += script.drift[clock, arm]
    return segment


@jit
def dispatch(script: Script, mail: Mail, reports: Reports, clock: int, arm: int, column: int, reward: float) -> None:
    """Send a reward on its way, or what is reported in its place if it takes longer than the window."""
    delay = script.delays[arm, column] if script.delays.shape[1] > 0 else 0
    value = reward if delay <= script.window else script.late
    wait_for(reports, clock, arm)
    post(mail, clock, clock + 1 + min(delay, script.window), arm, value)


class ScriptRun(NamedTuple):
    """A script in progress: the rewards in transit, the reports, and where it is."""

    script: Script
    mail: Mail
    reports: Reports
    counts: Ints  # the next batch, the time of the last report, the segment, arms and reports that the policy knows


@functools.partial(shared, sources_of=verbs.policy_sources)
def play_known(
    policy: Any, state: Any, run: Run, game: ScriptRun, rng: np.random.Generator, spare: np.random.Generator
) -> int:
    """Play until another arm has its first reward; return how many arms have one, 0 at the end."""
    state, run, game, rng = borrowed(state), borrowed(run), borrowed(game), borrowed(rng)
    (script, mail, reports, counts), now, control = game, run.progress[0], run.control
    batch, seen, segment, known, read = counts
    n_arms, single = run.pulls.size, np.empty(1, np.int64)
    while not ended(run.progress):
        if control[CANCEL]:
            now.status = CANCELED
            break
        if now.clock >= script.batches[batch]:
            batch, seen = open_batch(script, mail, reports, now.clock, batch, seen)
        chosen = single[:0]
        if known < n_arms:
            chosen = untried(reports.received + reports.outstanding, reports.received, script.fewest)
            # What the policy draws must not depend on delays, so only the first order comes from its own stream.
            shuffle(chosen, rng if now.clock == 0 else spare)
        if chosen.size == 0:
            if known < n_arms and np.count_nonzero(reports.received) > known:
                counts[0], counts[1], counts[2], counts[3], counts[4] = batch, seen, segment, renumber(reports), 0
                return counts[3]
            while read < reports.number[0]:  # not a function: passing the state there and back takes longer
                arm = reports.arms[read]
                verbs.note(policy, state, reports.pulls[read], now.clock)
                state = verbs.update(policy, state, reports.places[arm], reports.rewards[read], rng)
                read += 1
            verbs.note(policy, state, now.clock, now.clock)
            waiting, earliest = outstanding(reports, known)
            state = verbs.prepare(policy, state, waiting, earliest, rng)
            chosen = as_round(verbs.select(policy, state, rng), single)
            if known < n_arms:
                chosen = arms_at(reports, chosen)
        for arm in chosen:
            if ended(run.progress):
                break
            segment = aim(run, script, arm, segment)
            clock, place = now.clock, run.buffered[arm]
            column = place.drawn - place.end + place.next
            now.regret += run.gaps[clock, arm]
            reward = pull(run, arm)
            dispatch(script, mail, reports, clock, arm, column, reward)
    return 0


def play_script(
    policy: Any,
    setup: Setup,
    table: ArmTable,
    script: Script,
    seeds: Words,
    streams: Streams,
    control: Ints,
    outcome: Outcome,
) -> int:
    """Play one replication of a script, write its row, and return what became of it."""
    rng, n_arms = streams.rng, table.kinds.size
    run = start(setup, table, seeds, rng, streams.words, control)
    start_stream(rng, streams.words, seeds[n_arms])
    game = ScriptRun(script, new_mail(setup.horizon), new_reports(n_arms, setup.horizon), np.zeros(5, np.int64))
    known = n_arms
    while known > 0:
        known = play_known(policy, verbs.init(policy, known), run, game, rng, streams.spare)
    finish(run, outcome, 0)
    return status(run.progress)


def script_runner(params: Any) -> Callable[..., int]:
    """Return the compiled loop for policies with parameters of this type."""
    return verbs.specialized(play_script, params)
