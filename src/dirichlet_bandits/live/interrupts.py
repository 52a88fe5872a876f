"""Shield work from interrupts: no signal handler can raise in the middle of it, so Ctrl-C never ends compiled code.

An exception that a signal handler raises may come up between any two steps of the main thread, also inside Python's own
``Thread.start`` or ``Future.result``, and leave their locks behind. So the main thread does nothing here but two calls
that cannot be broken in two: it starts a bare thread, and waits for a bare lock.
"""

import atexit
import contextvars
import threading
import time
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from dirichlet_bandits.compiler import compiling, stop_spinner

_STEP: Final = 1000
_PATIENCE_SECONDS: Final = 60.0
_COMPILING_SECONDS: Final = 0.5  # nothing is lost: the cache holds whole functions only, and the next process goes on
_POLL_SECONDS: Final = 0.1
T = TypeVar("T")

_working: set[LockType] = set()


def shielded(work: Callable[[], T]) -> T:
    """Return ``work()``, run in a thread of its own if this is the main thread, where Python runs signal handlers.

    An exception of a handler, such as KeyboardInterrupt, may come up at any step of the main thread. On the way in or
    out of compiled code it can end the process. Here the main thread only waits, so the exception leaves at once. The
    work continues to its end, and the caller must discard whatever it was changing.

    >>> main = threading.get_ident()
    >>> shielded(threading.get_ident) == main
    False
    """
    if threading.get_ident() != threading.main_thread().ident:
        return work()
    answers: list[Any] = []
    failures: list[BaseException] = []
    context = contextvars.copy_context()
    ended = allocate_lock()
    ended.acquire()

    def run() -> None:
        _working.add(ended)
        try:
            answers.append(context.run(work))
        except BaseException as error:
            failures.append(error)
        finally:
            _working.discard(ended)
            ended.release()

    start_new_thread(run, ())
    ended.acquire()
    if failures:
        raise failures[0]
    answer: T = answers[0]
    return answer


@atexit.register
def _wait() -> None:
    """Let interrupted work end before the interpreter does, unless it is compiling, which takes long."""
    began = time.monotonic()
    for ended in list(_working):
        while not ended.acquire(timeout=_POLL_SECONDS):
            is_compiling = compiling()
            if time.monotonic() - began > (_COMPILING_SECONDS if is_compiling else _PATIENCE_SECONDS):
                stop_spinner()
                return


def walk(items: Sequence[T], look: Callable[[T], object], progress: Callable[[int, int], object] | None = None) -> None:
    """Call ``look`` for each item, shielded from interrupts, which may come only after every thousandth item.

    ``progress(done, total)`` is called then, too.
    """

    def look_at(some: Sequence[T]) -> None:
        for item in some:
            look(item)

    for first in range(0, len(items), _STEP):
        shielded(partial(look_at, items[first : first + _STEP]))
        if progress is not None:
            progress(min(first + _STEP, len(items)), len(items))
