"""Shield work from interrupts: no signal handler can raise in the middle of it, so Ctrl-C never ends compiled code.

An exception that a signal handler raises may come up between any two steps of the main thread, also inside Python's own
``Thread.start`` or ``Future.result``, and leave their locks behind. So the main thread does nothing here but calls that
cannot be broken in two: it takes an idle thread from a list, or starts a bare one, and uses bare locks. A thread that
is taken and then given no work, because an exception came in between, waits forever and does no harm.
"""

import atexit
import contextvars
import os
import threading
import time
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable
from typing import Any, Final, TypeVar

from dirichlet_bandits.compiler.announcements import compiling, stop_spinner

_PATIENCE_SECONDS: Final = 60.0
_COMPILING_SECONDS: Final = 0.5  # nothing is lost: the cache holds only whole functions, and the next process continues
_POLL_SECONDS: Final = 0.1
T = TypeVar("T")

_working: set[LockType] = set()
_idle: list["_Worker"] = []


class _Worker:
    """A thread that is kept for further work, because starting a thread takes longer than most decisions."""

    def __init__(self) -> None:
        self._work: list[Callable[[], None]] = []
        self._given = allocate_lock()
        self._given.acquire()
        start_new_thread(self._serve, ())

    def give(self, work: Callable[[], None]) -> None:
        """Let the thread run this function, which must not raise; the worker is idle again when it is done."""
        self._work.append(work)
        self._given.release()

    def _serve(self) -> None:
        while True:
            self._given.acquire()
            self._work.pop()()


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads: it must not wait for them
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_working.clear)


def shielded(work: Callable[..., T], *args: Any) -> T:
    """Return ``work(*args)``, run in another thread if this is the main thread, where Python runs signal handlers.

    An exception of a handler, such as KeyboardInterrupt, may come up at any step of the main thread. While something is
    compiled, or on the way in or out of compiled code, it can end the process or spoil it (``compiler/borrowed.py``
    describes calls for which it cannot). Here the main thread only waits, so the exception leaves at once. The work
    continues to its end, and the caller must discard whatever it was changing.

    >>> main = threading.get_ident()
    >>> shielded(threading.get_ident) == main
    False
    """
    if threading.get_ident() != threading.main_thread().ident:
        return work(*args)
    answers: list[Any] = []
    failures: list[BaseException] = []
    context = contextvars.copy_context()
    ended = allocate_lock()
    ended.acquire()

    def run() -> None:
        _working.add(ended)
        try:
            answers.append(context.run(work, *args))
        except BaseException as error:
            failures.append(error)
        finally:
            _working.discard(ended)
            _idle.append(worker)
            ended.release()

    worker = _idle.pop() if _idle else _Worker()
    worker.give(run)
    ended.acquire()
    if failures:
        raise failures[0]
    answer: T = answers[0]
    return answer


@atexit.register
def _wait() -> None:
    """Wait for interrupted work before the interpreter exits, unless it is compiling, which takes long."""
    began = time.monotonic()
    for ended in list(_working):
        while not ended.acquire(timeout=_POLL_SECONDS):
            is_compiling = compiling()
            if time.monotonic() - began > (_COMPILING_SECONDS if is_compiling else _PATIENCE_SECONDS):
                stop_spinner()
                return
