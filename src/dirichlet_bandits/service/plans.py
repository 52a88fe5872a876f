"""Simulate plans for callers of the service: one at a time, of limited size, and for a limited time.

The games are compiled code that runs without Python's lock, so other threads continue to answer asks and tells.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Final

import numpy as np
from fastapi import Depends, Request

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.experiments import planning
from dirichlet_bandits.experiments.plan_question import MOST_CASES, PlanQuestion
from dirichlet_bandits.service.problems import BusyError
from dirichlet_bandits.types import Ints

MOST_TRIALS: Final = PlanQuestion.fields["horizon"].check.served or 0
SECONDS: Final = 30.0
"""How long studies are simulated; a plan whose time runs out is based on those that are complete."""

_POLL_SECONDS: Final = 0.2
_ONE_AT_A_TIME: Final = threading.Lock()  # a plan takes seconds of a processor that decisions need, too


async def _flag(request: Request) -> AsyncIterator[Ints]:
    """Yield a flag for compiled code, which becomes 1 when the client has closed the connection.

    The body must have been read before, because looking for the end of the connection drops it.
    """
    stop = np.zeros(1, np.int64)

    async def watch() -> None:
        while not await request.is_disconnected():
            await asyncio.sleep(_POLL_SECONDS)
        stop[0] = 1

    watching = asyncio.create_task(watch())
    try:
        yield stop
    finally:
        watching.cancel()


stopping = asynccontextmanager(_flag)
Stop = Annotated[Ints, Depends(_flag)]


def simulated(asked: PlanQuestion, stop: Ints | None = None) -> planning.StudyPlan:
    """Return the plan for a question; refuse it while another one is being simulated.

    If another thread sets ``stop[0]``, the simulation ends as if its time had run out.
    """
    prepared = planning.prepare(asked)
    if len(prepared.cases) > MOST_CASES:
        expected = f"at most {MOST_CASES} pairs of a policy and a floor, including the equal split"
        raise ArgumentError("policies", expected, len(prepared.cases))
    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise BusyError("another plan is being simulated: try again in a few seconds")
    try:
        # Compiling takes longer than simulating, but only once, so it does not count.
        planning.play(prepared._replace(horizon=len(prepared.bandit), replications=2), progress=False)
        return planning.play(prepared, progress=False, seconds=SECONDS, stop=stop)
    except TimeoutError:
        expected = f"fewer, because two studies of each policy took more than {SECONDS:g} seconds"
        raise ArgumentError("horizon", expected, prepared.horizon) from None
    finally:
        _ONE_AT_A_TIME.release()
