"""Report compilations: a spinner on a terminal, and a record of the logger ``dirichlet_bandits`` anywhere."""

import atexit
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from numba.core import event

from dirichlet_bandits.display import LOGGER
from dirichlet_bandits.display.progress import busy

_POLL_SECONDS = 0.1
_INTERRUPTED = 130  # the exit status of a command ended by Ctrl-C


class _Announcer(event.Listener):
    """Listens to all compilations, one thread at a time, and reports the outermost function if it is ours."""

    depth = 0
    _end: Callable[[], None] | None = None

    def on_start(self, happening: Any) -> None:
        self.depth += 1
        function, args = happening.data["dispatcher"].py_func, happening.data["args"]
        if self.depth == 1 and str(function.__module__).partition(".")[0] == __name__.partition(".")[0]:
            policy = getattr(args[0], "instance_class", None) if args else None
            name = function.__name__.replace("_", " ") if policy is None else policy.__name__.removesuffix("Params")
            LOGGER.info("compiling %s, once", name)
            self._end = busy(f"compiling {name}, once")

    def on_end(self, happening: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self._end is not None:
            self.stop_spinner()

    def stop_spinner(self) -> None:
        """Stop the spinner, even that of a compilation whose result is no longer needed."""
        end, self._end = self._end, None
        if end is not None:
            end()


_announcer = _Announcer()
event.register("numba:compile", _announcer)
stop_spinner = _announcer.stop_spinner


def compiling() -> bool:
    """Whether any thread is compiling now, which cannot be interrupted."""
    return _announcer.depth > 0


@atexit.register
def _wait() -> None:
    """Let a compilation end before the process does: LLVM must not be shut down while a thread is inside it."""
    if compiling() and sys.stderr is not None and sys.stderr.isatty():
        stop_spinner()
        print("waiting for a compilation to end; Ctrl-C stops it", file=sys.stderr)
    try:
        while compiling():
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        sys.stdout.flush()
        os._exit(_INTERRUPTED)
