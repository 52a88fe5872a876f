"""Check every request before anything else handles it: size, origin, host, key.

This is a plain ASGI middleware, because it must act before a body is read, and on every response.
"""

import ipaddress
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dirichlet_bandits.service.keys import NO_KEY, Key, Sessions, check_key
from dirichlet_bandits.service.problems import answer, problem
from dirichlet_bandits.storage.events import acting_as

LARGEST_BODY: Final = 1 << 20
COOKIE: Final = "dirichlet_bandits_key"
HEALTH: Final = "/api/health"
_SAFE: Final = ("GET", "HEAD", "OPTIONS")
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Middleware that refuses bad requests, sets the caller's key in ``request.state.key`` and adds safe headers.

    ``keys=None`` means an open service: every client may write, but only under a name of this machine, so that a
    web page elsewhere cannot reach it through a name of its own (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, keys: Sequence[Key] | None, sessions: Sessions) -> None:
        self.app, self.keys, self.sessions = app, keys, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith("/static/"):
                    headers.setdefault("Cache-Control", "no-cache")  # cached, but revalidated each time
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            state = scope.setdefault("state", {})
            key = state["key"] = self._admit(scope, Headers(scope=scope))
        except HTTPException as refusal:
            await answer(scope, refusal)(scope, receive, send_safely)
            return
        with acting_as("" if key is None else key.name):
            await self.app(scope, _limited(receive), send_safely)

    def _admit(self, scope: Scope, headers: Headers) -> Key | None:
        """Return the caller's key; None if the caller is unknown, which the pages handle."""
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > LARGEST_BODY:
            raise _too_large()
        if len(headers.getlist("host")) > 1:
            raise problem(400, "the request names more than one host")
        if self.keys is None and not is_loopback(host_of(headers.get("host", ""))):
            raise problem(403, "an open service answers only to names of this machine, such as localhost")
        if scope["method"] not in _SAFE and _is_foreign(headers):
            raise problem(403, "the request comes from a page of another site")
        if self.keys is None:
            return NO_KEY
        path: str = scope["path"]
        kind, _, secret = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            found = check_key(secret.strip(), self.keys)
        elif path.startswith("/api/"):
            found = None  # never by the cookie: a program sends its key
        else:
            cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
            found = check_key(cookie, self.keys) or self.sessions.key_of(cookie)
        if found is None and path.startswith("/api/") and path != HEALTH:
            raise problem(401, "a key is needed: Authorization: Bearer KEY" if not kind else "the key is not known")
        return found


def _limited(receive: Receive) -> Receive:
    """Return a channel that passes the same messages, until there are too many bytes."""
    size = 0

    async def limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > LARGEST_BODY:
            raise _too_large()
        return message

    return limited


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser sends this request for a page of another site. Programs send neither header."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return True
    return headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


def host_of(address: str) -> str:
    """Return the name of the host in an address, or in a header without a scheme.

    >>> host_of("localhost:8000"), host_of("https://example.org/a"), host_of("http://[::1")
    ('localhost', 'example.org', '')
    """
    try:
        return urlsplit(address if "//" in address else "//" + address).hostname or ""
    except ValueError:
        return ""


def _too_large() -> HTTPException:
    return problem(413, f"the request is larger than {LARGEST_BODY} bytes")


def is_loopback(host: str) -> bool:
    """Whether a name or address can only mean this machine.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "example.org", "10.0.0.1", "")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
