"""Connections to PostgreSQL that do not wait forever for a server that has stopped responding.

The server's own ``statement_timeout`` does not help when the server process is stopped, or when a proxy in between
stalls: the network still acknowledges what it is sent, so neither keepalives nor ``tcp_user_timeout`` notice.
"""

import time
from collections.abc import Generator
from typing import Any, Final

import psycopg

GRACE: Final = 5.0
"""Seconds beyond the server's own limit for a statement after which we give up on a connection."""


class PunctualConnection(psycopg.Connection[Any]):
    """A connection on which every wait for the server ends after ``longest`` seconds at the latest."""

    longest: float = 60.0

    def wait(self, gen: Any, *given: Any, **options: Any) -> Any:
        """Wait as psycopg does, but not forever; close a connection that is overdue."""
        try:
            return super().wait(_until(gen, self.longest), *given, **options)
        except _OverdueError:
            self.close()  # nothing more is sent on it, because the reply to an earlier statement may still arrive
            raise


class _OverdueError(psycopg.OperationalError):
    """The server did not respond in time."""


def _until(gen: Generator[Any, Any, Any], seconds: float) -> Generator[Any, Any, Any]:
    """Step a generator of psycopg's, which is resumed several times per second even if nothing has arrived."""
    limit = time.monotonic() + seconds
    ready = None
    while True:
        try:
            wanted = gen.send(ready)
        except StopIteration as end:
            return end.value
        ready = yield wanted
        if not ready and time.monotonic() > limit:
            raise _OverdueError(f"the server has not answered for {seconds:g} s")
