"""API keys and what each of them may do. A file keeps names, scopes and hashes, never a key.

The file has one line per key: ``scope sha256 name``. Keys are 256 random bits, so a plain hash of them cannot be
reversed by guessing, and checking needs nothing more than comparisons that always take the same time.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from dirichlet_bandits.errors import ArgumentError, ConflictError, FormatError, NotFoundError, one_of
from dirichlet_bandits.files import changing, whole_file

READ: Final = "read"
WRITE: Final = "write"
SCOPES: Final = (READ, WRITE)
_HEADER: Final = "# dirichlet-bandits keys: scope, SHA-256 of the key, name\n"


class Key(NamedTuple):
    """What is stored about a key: its name, its scope, and its hash."""

    name: str
    scope: str
    hash: str


NO_KEY: Final = Key("", WRITE, "")
"""The rights of every client of an open service."""


def new_key(name: str, scope: str) -> tuple[str, Key]:
    """Create a secret, to be shown once, and the record to keep of it.

    >>> secret, key = new_key("field app", "write")
    >>> check_key(secret, [key]) == key, check_key("guess", [key])
    (True, None)
    """
    if scope not in SCOPES:
        raise ArgumentError("scope", one_of(SCOPES), scope)
    if not name.strip() or not name.isprintable() or name != name.strip():
        raise ArgumentError("name", "a text of printable characters without spaces around it", name)
    secret = "db_" + secrets.token_urlsafe(32)
    return secret, Key(name, scope, _hash(secret))


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
        if scope not in SCOPES or len(hash) != 64 or not set(hash) <= set("0123456789abcdef") or not name:
            raise FormatError(f"{str(path)!r}, line {number}: expected 'read' or 'write', a SHA-256 in hex and a name")
        keys.append(Key(name, scope, hash))
    return keys


def add_key(path: Path, name: str, scope: str) -> str:
    """Add a new key to a file, which is created if needed, and return the secret."""
    with changing(path):
        keys = read_keys(path) if path.exists() else []
        if name in (key.name for key in keys):
            raise ConflictError(f"{str(path)!r} has a key {name!r}: remove it first")
        secret, key = new_key(name, scope)
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

    # A service that starts now never sees half a file.
    with whole_file(path) as draft, open(draft, "x", encoding="utf-8", opener=for_us_alone) as file:
        file.write(_HEADER)
        file.writelines(f"{key.scope} {key.hash} {key.name}\n" for key in keys)
