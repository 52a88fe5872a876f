"""API keys and what each of them may do. A file keeps names, scopes and hashes, never a key.

The file has one line per key: ``scope sha256 name``. A scope is a role for all studies, such as ``write``, or roles for
the studies that it names, as in the query of a URL: ``maize*=write&wheat=read``, where ``*`` is any text.

Keys are 256 random bits, so a plain hash of them cannot be reversed by guessing, and checking needs nothing more than
comparisons that always take the same time.
"""

import hashlib
import hmac
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from dirichlet_bandits.errors import ArgumentError, ConflictError, FormatError, NotFoundError, one_of
from dirichlet_bandits.files import changing, whole_file

READ: Final = "read"
WRITE: Final = "write"
MANAGE: Final = "manage"
ROLES: Final = (READ, WRITE, MANAGE)
"""Each role includes those before it: look; ask, tell and correct; create, change, rename, archive and delete."""

_ANY: Final = "*"
_HEADER: Final = "# dirichlet-bandits keys: scope, SHA-256 of the key, name\n"


class Key(NamedTuple):
    """What is stored about a key: its name, its scope, and its hash."""

    name: str
    scope: str
    hash: str

    @property
    def limited(self) -> bool:
        """Whether the key is for some studies only."""
        return self.scope not in ROLES

    @property
    def rights(self) -> str:
        """The scope as people read it.

        >>> Key("a", "maize%20*=write&wheat=read", "").rights
        'maize *=write, wheat=read'
        """
        return (
            ", ".join(f"{pattern}={role}" for pattern, role in read_scope(self.scope)) if self.limited else self.scope
        )

    def role(self, study: str) -> str | None:
        """Return the highest role that the key has for a study; None if it has none.

        >>> key = Key("a", "maize*=write&maize=manage", "")
        >>> key.role("maize"), key.role("maize 2"), key.role("wheat")
        ('manage', 'write', None)
        """
        if not self.limited:
            return self.scope
        found = [role for pattern, role in _patterns(self.scope) if pattern.fullmatch(study)]
        return max(found, key=ROLES.index, default=None)

    def may(self, needed: str, study: str | None = None) -> bool:
        """Whether the key has at least this role for a study, or for any if none is given."""
        roles = [role for _, role in read_scope(self.scope)] if study is None else [self.role(study)]
        return any(role is not None and ROLES.index(role) >= ROLES.index(needed) for role in roles)


NO_KEY: Final = Key("", MANAGE, "")
"""The rights of every client of an open service."""


@lru_cache(maxsize=1024)
def read_scope(scope: str) -> tuple[tuple[str, str], ...]:
    """Return patterns of study names with a role for each; a role by itself is for all studies."""
    return ((_ANY, scope),) if scope in ROLES else tuple(parse_qsl(scope, strict_parsing=True))


@lru_cache(maxsize=1024)
def _patterns(scope: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    words = ((".*".join(map(re.escape, pattern.split(_ANY))), role) for pattern, role in read_scope(scope))
    return tuple((re.compile(pattern, re.DOTALL), role) for pattern, role in words)


def _is_scope(scope: str) -> bool:
    try:
        return all(role in ROLES for _, role in read_scope(scope))
    except ValueError:
        return False


def new_key(name: str, scope: str, studies: Sequence[str] = ()) -> tuple[str, Key]:
    """Create a secret, to be shown once, and the record to keep of it.

    With ``studies``, the key is for these alone: each is a name, in which ``*`` is any text, and may end in ``=`` and a
    role of its own.

    >>> secret, key = new_key("field app", "write", ["maize*", "wheat=read"])
    >>> check_key(secret, [key]) == key, check_key("guess", [key]), key.rights
    (True, None, 'maize*=write, wheat=read')
    """
    if scope not in ROLES:
        raise ArgumentError("scope", one_of(ROLES), scope)
    if not name.strip() or not name.isprintable() or name != name.strip():
        raise ArgumentError("name", "a text of printable characters without spaces around it", name)
    if studies:
        scope = urlencode([_limit(study, scope) for study in studies], safe=_ANY, quote_via=quote)
    secret = "db_" + secrets.token_urlsafe(32)
    return secret, Key(name, scope, _hash(secret))


def _limit(study: str, role: str) -> tuple[str, str]:
    """Return the pattern and the role of ``PATTERN`` or ``PATTERN=ROLE``."""
    before, _, after = study.rpartition("=")
    pattern, role = (before, after) if after in ROLES and before else (study, role)
    if not pattern.strip() or not pattern.isprintable():
        raise ArgumentError("study", "the name of a study, in which * is any text", study)
    return pattern, role


def check_key(secret: str, keys: Sequence[Key]) -> Key | None:
    """Return what is stored about a key; None if it is unknown. Every wrong key takes the same time."""
    given, found = _hash(secret), None
    for key in keys:
        if hmac.compare_digest(given, key.hash):
            found = key
    return found


def read_keys(path: Path) -> list[Key]:
    """Read the keys of a file, which must exist and hold at least one."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"no file of keys at {str(path)!r}; 'dirichlet-bandits keys add' makes one") from None
    except UnicodeDecodeError:
        raise FormatError(f"{str(path)!r} is not a file of keys") from None
    keys = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        scope, hash, name = [*line.split(maxsplit=2), "", "", ""][:3]
        if not _is_scope(scope) or len(hash) != 64 or not set(hash) <= set("0123456789abcdef") or not name:
            raise FormatError(f"{str(path)!r}, line {number}: expected {one_of(ROLES)}, a SHA-256 in hex and a name")
        keys.append(Key(name, scope, hash))
    return keys


def add_key(path: Path, name: str, scope: str, studies: Sequence[str] = ()) -> str:
    """Add a new key to a file, which is created if needed, and return the secret."""
    with changing(path):
        keys = read_keys(path) if path.exists() else []
        if name in (key.name for key in keys):
            raise ConflictError(f"{str(path)!r} has a key {name!r}: remove it first")
        secret, key = new_key(name, scope, studies)
        _write(path, [*keys, key])
    return secret


def remove_key(path: Path, name: str) -> None:
    """Remove a key from a file."""
    with changing(path):
        keys = read_keys(path)
        if name not in (key.name for key in keys):
            raise NotFoundError(f"no key {name!r} in {str(path)!r}")
        _write(path, [key for key in keys if key.name != name])


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _write(path: Path, keys: list[Key]) -> None:
    def for_us_alone(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    # A service that starts now, or after a power cut, never sees half a file.
    with whole_file(path) as draft, open(draft, "x", encoding="utf-8", opener=for_us_alone) as file:
        file.write(_HEADER)
        file.writelines(f"{key.scope} {key.hash} {key.name}\n" for key in keys)
        file.flush()
        os.fsync(file.fileno())


# Sign in without typing a key: links that work once and expire soon, and the sessions that they open


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
