"""The exception tree.

DirichletBanditsError
├── ArgumentError (ValueError)       an argument has a value that makes no sense
├── RewardError (ValueError)         a reward does not match what the policy expects
├── FormatError (ValueError)         a file or folder is corrupt, or not ours
├── UnsoundError (TypeError)         a user's law or environment does not fulfill its contract
│   └── PolicyError                  a user's policy does not
├── LostWorkerError (RuntimeError)   workers of an executor died or cannot be reached
├── NotFoundError (LookupError)      no study, arm or trial has this name or number
├── ConflictError                    the request contradicts what is stored
│   └── ReplacedError                a study was deleted, and another one has its name
├── StorageError (OSError)           a storage or a service cannot be reached, or stayed busy
├── AccessError (PermissionError)    a service refuses the key
└── MissingExtraError (ImportError)  an optional dependency is not installed
"""

import difflib
import importlib.util
from collections.abc import Iterable, Sequence
from typing import Any

# fmt: off
__all__ = [
    "AccessError", "ArgumentError", "ConflictError", "DirichletBanditsError", "FormatError", "LostWorkerError",
    "MissingExtraError", "NotFoundError", "PolicyError", "ReplacedError", "RewardError", "StorageError",
    "UnsoundError",
]
# fmt: on


class DirichletBanditsError(Exception):
    """Base class of every exception that this library raises on purpose."""


class ArgumentError(DirichletBanditsError, ValueError):
    """An argument has a value that makes no sense; the message gives its name, what was expected and what came.

    >>> raise ArgumentError("horizon", "a positive integer", -3)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'horizon' must be a positive integer (got -3)
    """

    def __init__(self, name: str, expected: str, got: object) -> None:
        super().__init__(name, expected, got)
        self.name = name

    def __str__(self) -> str:
        name, expected, got = self.args
        shown = repr(got)
        return f"'{name}' must be {expected} (got {shown if len(shown) <= 1000 else shown[:1000] + '...'})"


class RewardError(DirichletBanditsError, ValueError):
    """A reward does not match what the policy expects."""

    result: Any = None
    """What :func:`simulate` finished with the policies that accept all of their rewards, if there are any."""


class FormatError(DirichletBanditsError, ValueError):
    """A file or folder is corrupt, or was not written by this library."""


class UnsoundError(DirichletBanditsError, TypeError):
    """A law or an environment does not fulfill its contract; ``problems`` lists everything that is wrong with it."""

    kind = ""

    def __init__(self, name: str, problems: Sequence[str], kind: str = "") -> None:
        super().__init__(name, problems, kind or self.kind)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        name, problems, kind = self.args
        return "\n".join([f"{name} is not a sound {kind}:", *(f"- {problem}" for problem in problems)])


class PolicyError(UnsoundError):
    """A policy does not fulfill its contract; ``problems`` lists everything that is wrong with it.

    >>> raise PolicyError("Mine()", ["has no update"])
    Traceback (most recent call last):
    dirichlet_bandits.errors.PolicyError: Mine() is not a sound policy:
    - has no update
    """

    kind = "policy"


class LostWorkerError(DirichletBanditsError, RuntimeError):
    """Workers of an executor died or cannot be reached; the message states what is kept."""


class NotFoundError(DirichletBanditsError, LookupError):
    """No study, arm or trial has this name or number."""


class ConflictError(DirichletBanditsError):
    """The request contradicts what is stored: another reward for a trial, or a study or an arm that already exists."""


class ReplacedError(ConflictError):
    """The study was deleted or renamed, and another study now has its name; load it again."""

    def __init__(self, message: str, study: str | None = None) -> None:
        super().__init__(message)
        self.study = study


class StorageError(DirichletBanditsError, OSError):
    """A storage or a service cannot be reached, or stayed busy.

    Nothing was written unless the message states that it may have been.
    """


class AccessError(DirichletBanditsError, PermissionError):
    """A service refuses the key: there is none, it is unknown, or it may only read."""


class MissingExtraError(DirichletBanditsError, ImportError):
    """An optional dependency is not installed; the message names the extra that provides it."""


def missing_extra(needs: str, extra: str, more: str = "") -> MissingExtraError:
    """Return the error for something that needs an optional dependency, with advice on how to install it.

    >>> raise missing_extra("Dask clusters need", "dask")
    Traceback (most recent call last):
    dirichlet_bandits.errors.MissingExtraError: Dask clusters need the extra 'dask': pip install '.[dask]' in a clone, \
or pip install 'dirichlet-bandits[dask]' from a package index
    """
    advice = f"pip install '.[{extra}]' in a clone, or pip install 'dirichlet-bandits[{extra}]' from a package index"
    return MissingExtraError(f"{needs} the extra {extra!r}: {advice}{more}")


def require(module: str, needs: str, extra: str, more: str = "") -> None:
    """Refuse to go on without a module that comes with an extra."""
    if importlib.util.find_spec(module) is None:
        raise missing_extra(needs, extra, more)


def one_of(choices: Iterable[str]) -> str:
    """Return a phrase for an :class:`ArgumentError`: ``one of 'a', 'b'``."""
    return "one of " + ", ".join(f"'{choice}'" for choice in choices)


def name_of(what: str, choices: Iterable[str], got: object) -> str:
    """Return a phrase for an :class:`ArgumentError` about an unknown name, with the most similar known names.

    >>> name_of("a policy", ["RDS", "NPTS", "UCB1"], "npt")
    "the name of a policy; did you mean 'NPTS'?"
    >>> name_of("a policy", ["WRSDA", "RBSDA", "RDS"], "RSD")  # swapped letters are the most likely mistake
    "the name of a policy; did you mean 'RDS' or 'WRSDA'?"
    >>> name_of("a policy", ["RDS", "NPTS", "UCB1"], "magic")
    'the name of a policy'
    """
    known = {choice.lower(): choice for choice in choices}
    word = str(got).lower()
    near = difflib.get_close_matches(word, known, n=5, cutoff=0.55)
    near = sorted(near, key=lambda name: sorted(name) != sorted(word))[:2]
    return f"the name of {what}" + (
        f"; did you mean {' or '.join(repr(known[name]) for name in near)}?" if near else ""
    )
