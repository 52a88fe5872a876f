"""Run units on threads of this process or on any ``concurrent.futures`` executor, such as a Dask cluster."""

import os
import pickle
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import (
    FIRST_EXCEPTION,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager, contextmanager, nullcontext
from queue import SimpleQueue
from typing import Any

from dirichlet_bandits.compiler import compiling, stop_spinner
from dirichlet_bandits.display import LOGGER
from dirichlet_bandits.display.progress import Bars
from dirichlet_bandits.errors import ArgumentError, LostWorkerError, RewardError, missing_extra
from dirichlet_bandits.results.layout import Chunk
from dirichlet_bandits.simulation.collect import Collector
from dirichlet_bandits.simulation.plan import Plan
from dirichlet_bandits.simulation.units import Unit
from dirichlet_bandits.validation import whole_number

_POLL_SECONDS = 0.1
_GRACE_SECONDS = 0.3  # for units that run while another is compiled
_TRIES = 3  # of a unit that a lost connection or worker took along


def run_all(units: Sequence[Unit], executor: Executor, collector: Collector, shown: Bars) -> bool:
    """Run the units and collect what they return; return False if Ctrl-C cut it short.

    A policy that refuses a reward stops, and the others continue.
    """
    waiting: dict[Future[Chunk | None], Unit] = {}
    losses: Counter[int] = Counter()

    def collect(future: Future[Chunk | None]) -> None:
        unit = waiting[future]
        try:
            chunk = future.result()
        except RewardError as error:
            collector.refuse(unit.name, error)
            for other in [other for other, its in waiting.items() if its.name == unit.name and other != future]:
                waiting[other].cancel()
                if other.cancel():
                    del waiting[other]
        except Exception as error:
            losses[id(unit)] += 1
            if not _is_loss(error) or losses[id(unit)] == _TRIES:
                raise
            LOGGER.warning(
                "%s, replications %d to %d: tried again after %r", unit.name, unit.first, unit.last - 1, error
            )
            waiting[executor.submit(unit.run)] = unit
        else:
            unit.complete()
            if chunk is not None:
                collector.keep(unit, chunk)
        del waiting[future]

    try:
        for unit in units:
            waiting[executor.submit(unit.run)] = unit
        while waiting:
            for future in wait(waiting, timeout=_POLL_SECONDS, return_when=FIRST_EXCEPTION).done:
                collect(future)
            counts: Counter[str] = Counter()
            for unit in units:
                counts[unit.name] += unit.done
            for name, count in counts.items():
                shown.show(name, count)
    except KeyboardInterrupt:
        _abandon(waiting)
        if isinstance(executor, Threads | ThreadPoolExecutor):  # their units heard of it, and stop soon
            _await_threads(waiting)
        for future in wait(waiting, timeout=0).done:
            if not future.cancelled() and future.exception() is None and (chunk := future.result()) is not None:
                collector.keep(waiting[future], chunk)
        return False
    except BaseException as error:
        _abandon(waiting)
        if isinstance(error, BrokenExecutor) or _is_loss(error):
            stored = units[0].store is not None
            advice = "run again to continue from the store" if stored else "a store would keep finished chunks"
            raise LostWorkerError(f"workers were lost ({type(error).__name__}: {error}); {advice}") from error
        raise
    return True


def _await_threads(waiting: Collection[Future[Chunk | None]]) -> None:
    """Wait for units to stop, but not for a compilation, which cannot be stopped and continues by itself."""
    left = wait(waiting, timeout=_GRACE_SECONDS).not_done
    while left and not compiling():
        left = wait(left, timeout=_POLL_SECONDS).not_done
    if left:
        stop_spinner()


@contextmanager
def _threads(number: int) -> Iterator[Executor]:
    pool = Threads(number)
    try:
        yield pool
    finally:
        pool.shutdown(wait=not compiling(), cancel_futures=True)


def _is_loss(error: BaseException) -> bool:
    """Whether another try may help: a store or a worker could not be reached, or a worker died."""
    return isinstance(error, OSError | CancelledError) or type(error).__name__ == "KilledWorker"  # the latter is Dask's


def _abandon(waiting: dict[Future[Chunk | None], Unit]) -> None:
    """Ask all running units to stop, and cancel those that have not started."""
    for future, unit in waiting.items():
        unit.cancel()
        future.cancel()


class Workers:
    """What runs the units: threads of this process, or an executor given by the user."""

    def __init__(self, executor: Executor | None, workers: int | None) -> None:
        if executor is not None and not isinstance(executor, Executor):
            raise ArgumentError("executor", "a concurrent.futures.Executor", executor)
        if executor is not None and workers is not None:
            raise ArgumentError("workers", "omitted with an executor, which has its own workers", workers)
        self.executor = executor
        self.threads: int | None = None
        """The number of threads; None if an executor runs the units."""
        if executor is None:
            self.threads = cores() if workers is None else whole_number("workers", workers, at_least=1)

    def pool(self) -> AbstractContextManager[Executor]:
        """Return the pool to submit units to; the user's executor stays open."""
        return _threads(self.threads or 1) if self.executor is None else nullcontext(self.executor)

    def check_picklable(self, plan: Plan) -> None:
        """Raise an error that names the policy or distribution that cannot be sent to the executor's workers."""
        if self.executor is None or isinstance(self.executor, ThreadPoolExecutor):
            return
        # Dask and loky use cloudpickle for what pickle cannot send; a plain pool does not.
        richer = None if isinstance(self.executor, ProcessPoolExecutor) else sys.modules.get("cloudpickle")
        dumps = pickle.dumps if richer is None else richer.dumps
        parts: dict[str, object] = {f"policies[{name!r}]": policy for name, policy in plan.policies.items()}
        parts |= plan.bandit.laws(plan.horizon)
        parts |= {"objective": plan.bandit.objective, "bandit": plan.bandit, "delay": plan.feedback.delays}
        for name, part in parts.items():
            try:
                dumps(part)
            except Exception as error:
                raise ArgumentError(name, f"picklable, to be sent to workers ({error})", part) from error


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Return an executor on the Dask cluster whose scheduler listens at this address (extra ``dask``).

    In Python, ``client.get_executor()`` of a Dask client does the same.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise missing_extra("Dask clusters need", "dask") from error
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise ArgumentError("address", f"that of a Dask scheduler, like tcp://host:8786 ({error})", address) from error
    with client:
        yield client.get_executor()


class Threads(Executor):
    """A ``ThreadPoolExecutor`` for calls without arguments, whose daemon threads cannot delay the end of Python.

    A compilation cannot be stopped, and Python would wait for it when it exits.

    >>> with Threads(2) as pool:
    ...     sorted(future.result() for future in [pool.submit(lambda i=i: i * i) for i in range(4)])
    [0, 1, 4, 9]
    """

    def __init__(self, number: int) -> None:
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(number)]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[[], Any], /) -> Future[Any]:  # type: ignore[override]
        """Call the function in one of the threads, after those submitted before it."""
        future: Future[Any] = Future()
        self._waiting.put((future, function))
        return future

    def _work(self) -> None:
        while (call := self._waiting.get()) is not None:
            future, function = call
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:
                    future.set_exception(error)
            del call, future, function  # an idle thread keeps no result alive

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads when all calls are done, or after their current calls; optionally wait for them."""
        while cancel_futures and not self._waiting.empty():
            call = self._waiting.get()
            if call is not None:
                call[0].cancel()
        for _ in self._threads:
            self._waiting.put(None)
        if wait:
            for thread in self._threads:
                thread.join()
