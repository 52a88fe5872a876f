"""One replication in progress: rewards from each arm's own stream, counted, checked and recorded.

Everything is in one flat NamedTuple of a few arrays. Numba counts references whenever compiled code takes an
array out of a tuple, and a tuple inside a tuple costs as much as all its arrays, so a flat and small one is fast.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline, shared
from dirichlet_bandits.environments.sampler import ArmTable, fill
from dirichlet_bandits.numerics.arrays import copy_into
from dirichlet_bandits.seeding import start_stream
from dirichlet_bandits.types import Floats, Ints, Records, Words

RUNNING, CANCELED, BAD_REWARD, STARVED = range(4)  # what became of a replication
DONE, CANCEL = range(2)  # words of a control, an array that processes share: replications done, whether to stop

PROGRESS = np.dtype(
    [
        ("clock", np.int64),  # pulls so far
        ("horizon", np.int64),
        ("slot", np.int64),  # which of the recording times comes next
        ("status", np.int64),
        ("total", np.float64),  # sum of the rewards
        ("regret", np.float64),  # so far, if gaps change
        ("low", np.float64),  # rewards must lie between these
        ("high", np.float64),
        ("offence", np.float64),  # the reward that does not, and its arm
        ("offender", np.int64),
    ]
)
BUFFERED = np.dtype([("next", np.int64), ("end", np.int64), ("drawn", np.int64)])  # per arm: a row of the buffer
BLOCK = 256  # rewards drawn at most at once for one arm
_FIRST_BLOCK = 8


class Setup(NamedTuple):
    """What all replications share: when to stop and record, what pulls cost, and which rewards are allowed.

    ``gaps`` has a row for each time, or a single one if they never change.
    """

    horizon: int
    times: Ints
    gaps: Floats
    low: float
    high: float


class Run(NamedTuple):
    """The rewards and records of one replication; the j-th reward of an arm is the same for every policy."""

    rng: np.random.Generator
    words: Words
    streams: Words
    samplers: Ints
    rows: Floats
    first: Ints
    last: Ints
    data: Floats
    buffer: Floats
    buffered: Records
    times: Ints
    gaps: Floats
    control: Ints
    progress: Records
    pulls: Ints
    regret: Floats


@shared
def start(setup: Setup, table: ArmTable, seeds: Words, rng: np.random.Generator, words: Words, control: Ints) -> Run:
    """Return a replication before its first pull, with every arm at the beginning of its stream."""
    n_arms = table.kinds.size
    streams = np.empty((n_arms, words.size), np.uint64)
    for arm in range(n_arms):
        start_stream(rng, words, seeds[arm])
        copy_into(streams[arm], words)
    progress = np.zeros(1, PROGRESS)
    progress[0].horizon, progress[0].low, progress[0].high = setup.horizon, setup.low, setup.high
    return Run(
        rng,
        words,
        streams,
        table.kinds,
        table.rows,
        table.first,
        table.last,
        table.data,
        np.empty((n_arms, BLOCK)),
        np.zeros(n_arms, BUFFERED),
        setup.times,
        setup.gaps,
        control,
        progress,
        np.zeros(n_arms, np.int64),
        np.empty(setup.times.size),
    )


@jit
def ended(progress: Records) -> bool:
    """Whether the horizon has been reached, or something went wrong; ``progress`` is that of the run.

    This and the next functions do not take the run itself, because each function that does takes long to compile.
    """
    now = progress[0]
    return now.clock >= now.horizon or now.status != RUNNING


@jit
def status(progress: Records) -> int:
    """Return what became of the replication: RUNNING if all is well."""
    return progress[0].status


@jit
def left(progress: Records) -> int:
    """Return the number of pulls left before the horizon."""
    return progress[0].horizon - progress[0].clock


@jit_inline
def pull(run: Run, arm: int) -> float:
    """Draw the arm's next reward, check it, count it, and record the regret when it is due."""
    place = run.buffered[arm]
    if place.next == place.end:
        refill(run, arm)
    reward = run.buffer[arm, place.next]
    place.next += 1
    now = run.progress[0]
    if now.low <= reward <= now.high:
        now.total += reward
        run.pulls[arm] += 1
        now.clock += 1
        if now.clock == run.times[now.slot]:
            record(run)
    else:
        now.status = STARVED if math.isnan(reward) else BAD_REWARD
        now.offender, now.offence = arm, reward
    return reward


@shared
def pull_alone(run: Run, arm: int) -> float:
    """Do what :func:`pull` does, called by address: outside hot loops, where that is faster to compile."""
    return pull(run, arm)


@jit
def upcoming(run: Run, arm: int) -> Floats:
    """Return a view of the arm's next rewards, as far as they have been drawn; this does not pull them."""
    if run.buffered[arm].next == run.buffered[arm].end:
        refill(run, arm)
    return run.buffer[arm, run.buffered[arm].next : run.buffered[arm].end]


@jit_inline
def take(run: Run, arm: int, n: int, total: float) -> None:
    """Count the first n of the :func:`upcoming` rewards, whose sum is ``total``, as pulled and allowed."""
    now = run.progress[0]
    run.buffered[arm].next += n
    now.total += total
    end = now.clock + n
    while run.times[now.slot] <= end and now.clock < end:
        step = run.times[now.slot] - now.clock
        run.pulls[arm] += step
        now.clock += step
        record(run)
        if now.slot == run.times.size - 1 and now.clock == run.times[now.slot]:
            break
    run.pulls[arm] += end - now.clock
    now.clock = end


@shared
def record(run: Run) -> None:
    """Record the regret."""
    now = run.progress[0]
    regret = 0.0
    for arm in range(run.pulls.size):
        regret += run.gaps[0, arm] * run.pulls[arm]
    run.regret[now.slot] = regret if run.gaps.shape[0] == 1 else now.regret
    now.slot = min(now.slot + 1, run.times.size - 1)


@shared
def refill(run: Run, arm: int) -> None:
    """Draw the arm's next block of rewards, or NaN when the data of a foreign distribution are exhausted."""
    place = run.buffered[arm]
    n = min(max(place.drawn, _FIRST_BLOCK), BLOCK)
    block = run.buffer[arm, :n]
    if run.samplers[arm] == 0:  # a foreign distribution
        left = run.data[run.first[arm] + place.drawn : run.last[arm]]
        n = max(min(n, left.size), 1)
        if left.size == 0:
            block[0] = np.nan
        else:
            copy_into(block, left[:n])
    else:
        copy_into(run.words, run.streams[arm])
        fill(run.samplers[arm], run.rows[arm], run.data[run.first[arm] : run.last[arm]], run.rng, block)
        copy_into(run.streams[arm], run.words)
    place.next = 0
    place.end = n
    place.drawn += n
    if run.control[CANCEL]:
        run.progress[0].status = CANCELED


class Outcome(NamedTuple):
    """The output of a chunk, one row per replication; ``offence`` is the arm and the reward that broke a bound."""

    regret: Floats
    pulls: Ints
    reward: Floats
    offence: Floats

    def part(self, where: Any) -> "Outcome":
        """Return a view of some of the rows."""
        return Outcome(self.regret[where], self.pulls[where], self.reward[where], np.zeros(2))


@shared
def finish(run: Run, outcome: Outcome, replication: int) -> None:
    """Write the replication's row, or the reward out of bounds that ended it."""
    now = run.progress[0]
    if now.status != RUNNING:
        outcome.offence[0], outcome.offence[1] = now.offender, now.offence
        return
    copy_into(outcome.regret[replication], run.regret)
    copy_into(outcome.pulls[replication], run.pulls)
    outcome.reward[replication] = now.total
    run.control[DONE] += 1
