"""Whoever compiles is told: a spinner on a terminal, a record of the logger ``dirichlet_bandits`` anywhere.

Numba says by itself when it begins and ends to compile a function, and says nothing when it finds one in its cache.
"""

import atexit
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from numba.core import event

from dirichlet_bandits.logs import LOGGER
from dirichlet_bandits.progress import busy

_POLL_SECONDS = 0.1
_INTERRUPTED = 130  # the exit status of a command ended by Ctrl-C
_PACKAGE = __name__.partition(".")[0]


class _Announcer(event.Listener):
    """Hears of every function, and announces those that are not compiled for another one; one thread compiles at a
    time."""

    def __init__(self) -> None:
        self._depth = 0
        self._end: Callable[[], None] | None = None
        self._name = ""
        self._began = 0.0

    def on_start(self, happening: Any) -> None:
        self._depth += 1
        if self._depth == 1 and _package(happening.data["dispatcher"].py_func) == _PACKAGE:
            self._name, self._began = _name(**happening.data), time.monotonic()
            text = f"compiling {self._name}, once"
            LOGGER.info(text)
            self._end = busy(text)

    def on_end(self, happening: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._end is not None:
            LOGGER.debug("compiled %s in %.1f s", self._name, time.monotonic() - self._began)
            self.stop_spinner()

    def stop_spinner(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            end()

    @property
    def compiling(self) -> bool:
        return self._depth > 0


def _package(function: Any) -> str:
    """Where a function comes from; nowhere, if somebody made it with ``exec``."""
    return str(function.__module__).partition(".")[0]


def _name(dispatcher: Any, args: Any, return_type: Any) -> str:
    """The policy that the function is compiled for, or the function itself."""
    policy = getattr(args[0], "instance_class", None) if args else None
    return str(
        dispatcher.py_func.__name__.replace("_", " ") if policy is None else policy.__name__.removesuffix("Params")
    )


_announcer = _Announcer()
event.register("numba:compile", _announcer)


def compiling() -> bool:
    """Whether something is being compiled now, by any thread: it cannot be interrupted, only left alone."""
    return _announcer.compiling


def stop_spinner() -> None:
    """End the spinner of a compilation that nobody waits for any more."""
    _announcer.stop_spinner()


@atexit.register
def _wait() -> None:
    """Let a compilation end before the process does: LLVM must not be taken down while a thread is inside it."""
    if not compiling():
        return
    stop_spinner()
    if sys.stderr is not None and sys.stderr.isatty():
        print("waiting for a compilation to end; Ctrl-C stops it", file=sys.stderr)
    try:
        while compiling():
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)
