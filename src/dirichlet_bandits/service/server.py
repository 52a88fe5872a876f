"""The server under the application: uvicorn, with limits for connections on which nothing comes.

uvicorn lets a connection wait for a request, or for the rest of one, for ever. Enough of them, and no file is left to
open for anybody else.
"""

import asyncio
from typing import Any, ClassVar, Final

import uvicorn
from uvicorn.config import LOGGING_CONFIG
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

SLOWEST_REQUEST: Final = 20.0
"""Seconds within which a request must be whole, from the connection or from its first byte."""

MOST_WAITING: Final = 400
"""Connections on which no request is being answered; one more, and the oldest of them is closed."""

_MOST: Final = 800  # connections of all kinds; more are told 503, and with them a process of 1024 files is not short

_LOGS: Final = {
    **LOGGING_CONFIG,
    "loggers": {**LOGGING_CONFIG["loggers"], "dirichlet_bandits": {"handlers": ["default"], "level": "INFO"}},
}


class Connection(HttpToolsProtocol):
    """A connection that does not wait for ever, and makes room for others."""

    waiting: ClassVar[dict["Connection", None]] = {}  # in the order in which they began to wait; one server a process
    _overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come."""
        super().connection_made(transport)
        self._wait()
        self._expect_request()

    def data_received(self, data: bytes) -> None:
        """Something has come: the rest of it soon."""
        self._expect_request()
        super().data_received(data)

    def on_message_complete(self) -> None:
        """The request is whole: now it is our turn, unless it was refused before its end."""
        super().on_message_complete()
        if not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Their turn, unless they have sent the next request already."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        if self._overdue is None and self in self.waiting:
            self._overdue = self.loop.call_later(SLOWEST_REQUEST, self.transport.abort)

    def _wait(self) -> None:
        self.waiting[self] = None
        if len(self.waiting) > MOST_WAITING:
            oldest = next(iter(self.waiting))
            oldest._stop_waiting()
            oldest.transport.abort()

    def _stop_waiting(self) -> None:
        self.waiting.pop(self, None)
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None


def run(app: Any, host: str, port: int) -> None:
    """Serve until a signal says stop."""
    uvicorn.run(
        app,
        host=host,
        port=port,
        http=Connection,
        ws="none",
        limit_concurrency=_MOST,
        timeout_keep_alive=5,
        server_header=False,
        access_log=False,
        log_config=_LOGS,
    )
