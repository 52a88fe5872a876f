"""Threads that Python does not wait for when it exits, because a compilation cannot be stopped."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any


class Threads(Executor):
    """A ``ThreadPoolExecutor`` for calls without arguments that uses daemon threads.

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
