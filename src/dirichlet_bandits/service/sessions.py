"""Sign in without typing a key: links that work once and expire soon, and the sessions that they open.

The service knows only hashes of keys, so a link cannot contain a key. It contains a random code, which is exchanged
for a random session. Both are kept in memory, as hashes: after a restart, links no longer work, and sessions have to
sign in again. The code is in the fragment of the address, after ``#``, which browsers do not send, so no server and no
proxy can log it.
"""

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from dirichlet_bandits.service.keys import Key

LINK_LIFETIME: Final = 600.0
"""Seconds for which a link works."""

SESSION_LIFETIME: Final = 30 * 86400
"""Seconds for which a session stays signed in."""

MOST: Final = 1000
"""Links, and sessions, that are kept for each key; beyond that, its oldest are forgotten, and never another key's."""

ENTRANCE: Final = "/enter"


class _Held(NamedTuple):
    key: Key
    until: float


class Sessions:
    """Links and sessions of one process; threads may share it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._links: dict[str, _Held] = {}
        self._sessions: dict[str, _Held] = {}

    def invite(self, key: Key) -> str:
        """Return the code of a new link, which signs in once with the rights of this key.

        >>> key = Key("field app", "write", "")
        >>> sessions = Sessions()
        >>> code = sessions.invite(key)
        >>> session = sessions.enter(code)
        >>> sessions.key_of(session).name, sessions.enter(code)
        ('field app', None)
        """
        return self._keep(self._links, key, LINK_LIFETIME)

    def enter(self, code: str) -> str | None:
        """Exchange the code of a link for a session; None if it is unknown, was used before, or has expired."""
        with self._lock:
            held = self._links.pop(_hash(code), None)
        if held is None or held.until < self._clock():
            return None
        return self._keep(self._sessions, held.key, SESSION_LIFETIME)

    def key_of(self, session: str) -> Key | None:
        """Return the key of a session; None if there is no such session."""
        with self._lock:
            held = self._sessions.get(_hash(session))
        return None if held is None or held.until < self._clock() else held.key

    def leave(self, session: str) -> None:
        """End a session, if there is one."""
        with self._lock:
            self._sessions.pop(_hash(session), None)

    def _keep(self, place: dict[str, _Held], key: Key, lifetime: float) -> str:
        secret = secrets.token_urlsafe(24)
        with self._lock:
            place[_hash(secret)] = _Held(key, self._clock() + lifetime)
            same = [code for code, held in place.items() if held.key == key]
            for code in same[:-MOST]:
                del place[code]
        return secret


def link(address: str, code: str) -> str:
    """Return the link that signs in with a code.

    >>> link("http://192.0.2.7:8000/", "abc")
    'http://192.0.2.7:8000/enter#abc'
    """
    return f"{address.rstrip('/')}{ENTRANCE}#{code}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
