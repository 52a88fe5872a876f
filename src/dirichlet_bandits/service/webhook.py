"""Messages to an address that the operator declares: signed, and sent again until they arrive.

A message is a POST with a JSON body. The header ``X-Bandits-Signature`` is ``sha256=`` and the HMAC-SHA256, in hex, of
the header ``X-Bandits-Time``, a point and the body, under the secret that the receiver shares. ``id`` is the same
whenever a message is sent again, also after a restart.
"""

import hashlib
import hmac
import json
import socket
import threading
import time
from contextlib import suppress
from typing import Any, Final, NamedTuple

from dirichlet_bandits.errors import ArgumentError

SHORTEST_SECRET: Final = 16
"""Characters of a secret: it must not be guessed."""

SLOWEST: Final = 10.0
"""Seconds within which a receiver must have taken a message and answered."""


class Webhook(NamedTuple):
    """Where messages go: the address, the secret, and after how many seconds a study counts as silent, if ever."""

    url: str
    secret: str
    silence: float | None = None


class Notice(NamedTuple):
    """A message about a study. ``about`` names what happened, such as ``winner: blue``; it is sent until it arrives."""

    kind: str
    study: str
    identity: str
    about: str
    message: str
    details: dict[str, Any]

    @property
    def id(self) -> str:
        """The same for the same message, whichever process sends it."""
        of = self.identity or self.study  # older studies have no identity
        return hashlib.sha256(json.dumps([of, self.about]).encode()).hexdigest()[:32]


def checked_webhook(url: str, secret: str | None, silence: float | None) -> Webhook:
    """Return a webhook with a valid address and secret.

    >>> checked_webhook("ftp://example.org", "0123456789abcdef", None)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'webhook' must be an address that begins with https:// or http:// \
(got 'ftp://example.org')
    """
    if not url.startswith(("https://", "http://")) or not url.partition("://")[2].strip("/"):
        raise ArgumentError("webhook", "an address that begins with https:// or http://", url)
    if secret is None or len(secret) < SHORTEST_SECRET:
        given = secret and f"{len(secret)} characters"  # the secret itself is not shown
        raise ArgumentError("webhook_secret", f"a text of at least {SHORTEST_SECRET} characters", given)
    return Webhook(url, secret, silence)


def signature(secret: str, at: str, body: bytes) -> str:
    """Return the signature of a message, which the receiver computes again and compares.

    >>> signature("0123456789abcdef", "1700000000", b"{}")[:15]
    'sha256=e4f8e2ec'
    """
    return "sha256=" + hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()


class Receiver:
    """The connection to the receiver. Redirects are not followed: only the declared address is ever used."""

    def __init__(self, webhook: Webhook) -> None:
        from urllib3.exceptions import LocationValueError
        from urllib3.util import parse_url

        from dirichlet_bandits.service.wire import connections

        self._webhook = webhook
        try:
            self._address = parse_url(webhook.url)
            connections(self._address)
        except LocationValueError:
            raise ArgumentError("webhook", "an address", webhook.url) from None
        self.host = str(self._address.host)  # for the log: the rest of the address may be secret

    def send(self, notice: Notice) -> str | None:
        """Send a message once; return None if the receiver accepted it, or what went wrong."""
        from urllib3 import Timeout
        from urllib3.exceptions import HTTPError

        from dirichlet_bandits.service.wire import connections

        said = {
            "id": notice.id,
            "kind": notice.kind,
            "study": notice.study,
            "message": notice.message,
            **notice.details,
        }
        body, at = json.dumps(said, ensure_ascii=False).encode(), str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "dirichlet-bandits",
            "X-Bandits-Time": at,
            "X-Bandits-Signature": signature(self._webhook.secret, at, body),
        }
        try:
            with connections(self._address) as manager:
                pool = manager.connection_from_url(self._webhook.url)
                pool.ConnectionCls = _limited(pool.ConnectionCls)
                answer = manager.request(
                    "POST",
                    self._webhook.url,
                    body=body,
                    headers=headers,
                    redirect=False,
                    timeout=Timeout(total=SLOWEST),
                    preload_content=False,
                )
                answer.close()  # what else it says does not matter
        except HTTPError as error:
            return type(error).__name__
        return None if 200 <= answer.status < 300 else f"it answered {answer.status}"


def _limited(kind: Any) -> Any:
    """Return a urllib3 connection class that is shut down after some seconds, whatever the other side does.

    By itself, urllib3 limits only the pauses between two bytes.
    """

    class Limited(kind):  # type: ignore[misc]
        def connect(self) -> None:
            self._timer = threading.Timer(SLOWEST, self._shut_down)
            self._timer.daemon = True
            self._timer.start()
            super().connect()

        def _shut_down(self) -> None:
            with suppress(OSError, TypeError):  # it has just been closed
                socket.socket.shutdown(self.sock, socket.SHUT_RDWR)  # below TLS, which another thread uses

        def close(self) -> None:
            super().close()
            if hasattr(self, "_timer"):
                self._timer.cancel()

    return Limited
