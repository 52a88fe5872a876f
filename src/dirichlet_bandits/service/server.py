"""The server under the application: uvicorn, with limits for idle connections and for the size of request headers.

uvicorn lets a connection wait forever for a request, or for the rest of one. Enough such connections use up all file
descriptors. With httptools, it also accepts headers of any size, and all other clients wait while it parses them.
"""

import asyncio
import json
from typing import Any, ClassVar, Final

import httptools
import uvicorn
from uvicorn.config import LOGGING_CONFIG
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

SLOWEST_REQUEST: Final = 20.0
"""Seconds within which a request must be whole, from the connection or from its first byte."""

MOST_WAITING: Final = 400
"""Connections on which no request is being answered; one more, and the oldest of them is closed."""

LARGEST_HEAD: Final = 64 * 1024
"""Bytes of a request line with its headers, or of the trailers after a body; a little more may pass."""

MOST_HEADERS: Final = 100
"""Header lines of a request, trailers included."""

_PIECE: Final = 16 * 1024  # how much the parser gets at once; the size is checked in between
_TOO_LARGE: Final = json.dumps(
    {
        "error": f"the headers must be at most {MOST_HEADERS} lines and {LARGEST_HEAD} bytes",
        "field": None,
        "kind": "DirichletBanditsError",
    }
).encode()
_REFUSAL: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_TOO_LARGE), _TOO_LARGE)
)

_MOST: Final = 800  # connections of all kinds; more get 503, and a process limited to 1024 files still has enough

_LOGS: Final = {
    **LOGGING_CONFIG,
    "loggers": {**LOGGING_CONFIG["loggers"], "dirichlet_bandits": {"handlers": ["default"], "level": "INFO"}},
}


class _Joining:
    """A transport that sends everything written in one step of the event loop together: a response's head and body."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._written: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._written:
            self._transport.write(b"".join(self._written))
            self._written.clear()


class Connection(HttpToolsProtocol):
    """A connection that does not wait forever, and makes room for others."""

    waiting: ClassVar[dict["Connection", None]] = {}  # in the order in which they began to wait; one server per process
    _overdue: asyncio.TimerHandle | None = None
    _unfinished = 0  # bytes since the last complete head or piece of a body
    _lines = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of a new connection."""
        super().connection_made(_Joining(transport, self.loop))  # type: ignore[arg-type]
        self._wait()
        self._expect_request()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes; the rest of the request must follow soon."""
        self._expect_request()
        for first in range(0, len(data), _PIECE):
            if self.transport.is_closing():
                return
            piece = data[first : first + _PIECE]
            self._unfinished += len(piece)  # the callbacks below reset it
            super().data_received(piece)
            if self._unfinished > LARGEST_HEAD:
                self._refuse()

    def on_message_begin(self) -> None:
        """Reset the counts of bytes and lines when a request begins."""
        self._unfinished = self._lines = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count one more header line."""
        self._lines += 1
        if self._lines > MOST_HEADERS:
            self._refuse()
            raise httptools.HttpParserError  # the parser stops
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Reset the byte count once the head is complete."""
        self._unfinished = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of the body, whose size the guard limits."""
        self._unfinished = 0
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Report what is wrong with a request, unless that has been reported."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def on_message_complete(self) -> None:
        """Stop the time limit of a complete request, unless it was refused before its end."""
        super().on_message_complete()
        if not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless the client has already sent it."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit of a closed connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _refuse(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(_REFUSAL)
            self.transport.close()

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
    """Serve until a signal stops the server."""
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
