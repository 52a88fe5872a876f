"""Work that no signal handler can break into: Ctrl-C must not end in the midst of compiled code."""

import contextvars
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final, TypeVar

_STEP: Final = 1000
T = TypeVar("T")


def undisturbed(work: Callable[[], T]) -> T:
    """The answer of ``work``, done in a thread of its own if this is the main one, where Python runs signal handlers.

    What a handler raises, KeyboardInterrupt for one, may come up at any step of the main thread. On the way in or
    out of compiled code it can end the process. Here it finds the main thread waiting, and leaves at once; the work
    comes to its end alone, and its caller must throw away whatever it was changing.

    >>> undisturbed(lambda: threading.current_thread() is threading.main_thread())
    False
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=contextvars.copy_context().run, args=(run,)).start()
    return answer.result()


def walk(items: Sequence[T], look: Callable[[T], object], progress: Callable[[int, int], object] | None = None) -> None:
    """Look at one after the other, undisturbed; an interrupt may come between any thousand of them and the next.

    ``progress(done, total)`` is called now and then.
    """

    def look_at(some: Sequence[T]) -> None:
        for item in some:
            look(item)

    for first in range(0, len(items), _STEP):
        undisturbed(partial(look_at, items[first : first + _STEP]))
        if progress is not None:
            progress(min(first + _STEP, len(items)), len(items))
