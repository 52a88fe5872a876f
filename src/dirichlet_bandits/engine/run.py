"""One replication under way: rewards from each arm's own stream, counted, checked and recorded.

Everything lives in one flat NamedTuple of few arrays. Numba counts references whenever compiled code takes an
array out of a tuple, and a tuple inside a tuple costs as much as all its arrays; flat and few is fast.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.arms.sampler import ArmTable, fill
from dirichlet_bandits.compiler import jit, jit_inline, shared
from dirichlet_bandits.numerics.arrays import copy_into
from dirichlet_bandits.seeding import start_stream
from dirichlet_bandits.types import Floats, Ints, Words

RUNNING, CANCELLED, BAD_REWARD, STARVED = range(4)  # what became of a replication
DONE, CANCEL = range(2)  # the words of a control: replications done so far; somebody asks to stop

_CLOCK, _HORIZON, _SLOT, _STATUS = range(4)  # rows of Run.marks
_TOTAL, LOW, HIGH, _OFFENDER, _OFFENCE = range(5)  # rows of Run.sums
_HEAD, _FILLED, _DRAWN = range(3)  # rows of Run.stock
BLOCK = 256  # rewards drawn at most in one go for one arm
_FIRST_BLOCK = 8


class Setup(NamedTuple):
    """What all replications share: when to stop and to record, what pulls cost, which rewards are allowed."""

    horizon: int
    times: Ints
    gaps: Floats
    low: float
    high: float


class Run(NamedTuple):
    """The j-th reward of each arm, the same whichever policy asks and whenever it does, and what came of it."""

    rng: np.random.Generator
    words: Words
    streams: Words
    samplers: Ints
    rows: Floats
    first: Ints
    last: Ints
    data: Floats
    buffer: Floats
    stock: Ints
    times: Ints
    gaps: Floats
    control: Ints
    marks: Ints
    sums: Floats
    pulls: Ints
    regret: Floats


@shared
def start(setup: Setup, table: ArmTable, seeds: Words, rng: np.random.Generator, words: Words, control: Ints) -> Run:
    """A replication before its first pull, every arm at the head of its stream."""
    n_arms = table.kinds.size
    streams = np.empty((n_arms, words.size), np.uint64)
    for arm in range(n_arms):
        start_stream(rng, words, seeds[arm])
        copy_into(streams[arm], words)
    marks = np.zeros(4, np.int64)
    marks[_HORIZON] = setup.horizon
    sums = np.zeros(5)
    sums[LOW], sums[HIGH] = setup.low, setup.high
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
        np.zeros((3, n_arms), np.int64),
        setup.times,
        setup.gaps,
        control,
        marks,
        sums,
        np.zeros(n_arms, np.int64),
        np.empty(setup.times.size),
    )


@jit
def ended(marks: Ints) -> bool:
    """Whether the horizon has been reached, or something went wrong; ``marks`` are those of the run.

    This and the next functions do not take the run itself: each function that does takes long to compile.
    """
    return marks[_CLOCK] >= marks[_HORIZON] or marks[_STATUS] != RUNNING


@jit
def status(marks: Ints) -> int:
    """What became of the replication: RUNNING if all is well."""
    return marks[_STATUS]


@jit_inline
def pull(run: Run, arm: int) -> float:
    """Draw the arm's next reward, check it, count it, and record the regret when its time has come."""
    stock = run.stock
    if drained(stock, arm):
        refill(run, arm)
    reward, due = draw(run.buffer, stock, run.times, run.marks, run.sums, run.pulls, arm)
    if due:
        record(run)
    return reward


@shared
def pull_alone(run: Run, arm: int) -> float:
    """What :func:`pull` does, by address: outside of hot loops, where that is quicker to compile."""
    return pull(run, arm)


@jit
def drained(stock: Ints, arm: int) -> bool:
    """Whether all rewards of the arm that have been drawn are used up."""
    return stock[_HEAD, arm] == stock[_FILLED, arm]


@jit_inline
def draw(
    buffer: Floats, stock: Ints, times: Ints, marks: Ints, sums: Floats, pulls: Ints, arm: int
) -> tuple[float, bool]:
    """The arm's next reward, checked and counted, and whether the regret is to be recorded.

    A loop that takes the arrays out of the run once, and hands the run itself to nobody on its usual way, is twice as
    fast as one that calls :func:`pull`, or an inlined function that is given the run: hence its few lines, written out
    in the plain loop, UCB, Thompson Sampling, Dirichlet Sampling and the duels of sub-samples.
    """
    reward = buffer[arm, stock[_HEAD, arm]]
    stock[_HEAD, arm] += 1
    if not sums[LOW] <= reward <= sums[HIGH]:
        marks[_STATUS] = STARVED if math.isnan(reward) else BAD_REWARD
        sums[_OFFENDER], sums[_OFFENCE] = arm, reward
        return reward, False
    sums[_TOTAL] += reward
    pulls[arm] += 1
    clock = marks[_CLOCK] + 1
    marks[_CLOCK] = clock
    return reward, clock == times[marks[_SLOT]]


@jit
def left(marks: Ints) -> int:
    """Pulls left before the horizon."""
    return marks[_HORIZON] - marks[_CLOCK]


@jit
def upcoming(run: Run, arm: int) -> Floats:
    """The arm's next rewards as far as they have been drawn: a window, nothing is pulled yet."""
    stock = run.stock
    if stock[_HEAD, arm] == stock[_FILLED, arm]:
        refill(run, arm)
    return run.buffer[arm, stock[_HEAD, arm] : stock[_FILLED, arm]]


@jit_inline
def take(run: Run, arm: int, n: int, total: float) -> None:
    """Count the first n of the rewards :func:`upcoming`, whose sum is ``total``, as pulled and allowed."""
    marks = run.marks
    run.stock[_HEAD, arm] += n
    run.sums[_TOTAL] += total
    end = marks[_CLOCK] + n
    while run.times[marks[_SLOT]] <= end and marks[_CLOCK] < end:
        step = run.times[marks[_SLOT]] - marks[_CLOCK]
        run.pulls[arm] += step
        marks[_CLOCK] += step
        record(run)
        if marks[_SLOT] == run.times.size - 1 and marks[_CLOCK] == run.times[marks[_SLOT]]:
            break
    run.pulls[arm] += end - marks[_CLOCK]
    marks[_CLOCK] = end


@shared
def record(run: Run) -> None:
    """Write down the regret."""
    slot = run.marks[_SLOT]
    regret = 0.0
    for arm in range(run.pulls.size):
        regret += run.gaps[arm] * run.pulls[arm]
    run.regret[slot] = regret
    run.marks[_SLOT] = min(slot + 1, run.times.size - 1)


@shared
def refill(run: Run, arm: int) -> None:
    """Draw the arm's next block of rewards; NaN when the data of a foreign law are exhausted."""
    done = run.stock[_DRAWN, arm]
    n = min(max(done, _FIRST_BLOCK), BLOCK)
    block = run.buffer[arm, :n]
    if run.samplers[arm] == 0:  # a foreign law
        left = run.data[run.first[arm] + done : run.last[arm]]
        n = max(min(n, left.size), 1)
        if left.size == 0:
            block[0] = np.nan
        else:
            copy_into(block, left[:n])
    else:
        copy_into(run.words, run.streams[arm])
        fill(run.samplers[arm], run.rows[arm], run.data[run.first[arm] : run.last[arm]], run.rng, block)
        copy_into(run.streams[arm], run.words)
    run.stock[_HEAD, arm] = 0
    run.stock[_FILLED, arm] = n
    run.stock[_DRAWN, arm] = done + n
    if run.control[CANCEL]:
        run.marks[_STATUS] = CANCELLED


class Outcome(NamedTuple):
    """Where a chunk of replications writes, a row each; ``offence`` is the arm and the reward that broke a bound."""

    regret: Floats
    pulls: Ints
    reward: Floats
    offence: Floats

    def part(self, where: Any) -> "Outcome":
        """A window on some of the rows."""
        return Outcome(self.regret[where], self.pulls[where], self.reward[where], np.zeros(2))


@shared
def finish(run: Run, outcome: Outcome, replication: int) -> None:
    """Write the replication's row, or the offence that ended it."""
    if run.marks[_STATUS] != RUNNING:
        copy_into(outcome.offence, run.sums[_OFFENDER:])
        return
    copy_into(outcome.regret[replication], run.regret)
    copy_into(outcome.pulls[replication], run.pulls)
    outcome.reward[replication] = run.sums[_TOTAL]
    run.control[DONE] += 1
