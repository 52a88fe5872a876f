"""The verbs of policies: compiled functions whose version is chosen by the type of a policy's parameters.

A policy is written once. Its parameters and its state are NamedTuples; the verbs are compiled functions of
them, called in a loop by the simulation and one at a time by a live study:

    init(policy, n_arms) -> state
    select(policy, state, rng) -> the arm to pull, or an array: the arms of a round
    update(policy, state, arm, reward, rng) -> state

``select`` does not change the state, because a live study may ask several times before a reward arrives. ``update``
gets a generator because some policies toss a coin for each reward. The state has a field ``pulls``; arms that have
never been pulled are pulled first, so ``select`` sees at least one reward of each.

Most policies do not write ``select``: an index policy defines only the index of an arm, and a round-based policy only
which arm wins a duel; ``policies/index.py`` and ``policies/rounds.py`` do the rest.

    index(policy, state, arm, total, best_mean, rng) -> number, the largest is pulled
    duel(policy, state, challenger, leader, rng) -> whether the challenger wins

A policy may also advance a whole simulation by itself (``play``), under the assumptions that it declares to
:func:`shortcut`; without it, or with a bandit that does not guarantee them, the plain loop runs.
"""

import functools
import hashlib
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

import numpy as np

from dirichlet_bandits.compiler import INNER_OPTIONS, jit, named_entry_point, overload
from dirichlet_bandits.sources import source_stamp


class Version(NamedTuple):
    """A compiled version of a verb, and what is declared about it; see :func:`implements`."""

    compiled: Any
    random: bool = True
    in_place: bool = False
    forwards: bool = False


_VERSIONS: dict[Callable[..., Any], dict[type | None, Version]] = {}  # by verb and parameters; None has the default
_SPECIALIZED: dict[tuple[Any, ...], Callable[..., Any]] = {}
_MAKING = threading.RLock()


def verb(stub: Callable[..., Any], inline: bool = False) -> Callable[..., Any]:
    """Decorate a stub to make it a verb, whose compiled version is chosen by the type of its first argument.

    With ``inline``, it becomes part of its caller; use this for a verb that is called in one place, with many arrays.
    """
    versions = _VERSIONS[stub] = {}

    def find(*kinds: Any) -> Any:
        version = versions.get(getattr(kinds[0], "instance_class", None)) or versions.get(None)
        return None if version is None else version.compiled.py_func

    # The function itself replaces the stub: a wrapper that calls it would be compiled with all that it calls.
    options: Any = {**INNER_OPTIONS, "forceinline": inline}
    overload(stub, strict=False, jit_options=options)(find)
    return stub


def policy_sources(kinds: Any) -> list[str]:
    """Return the files of a policy's verbs, given argument types of which the first is that of its parameters."""
    return _sources(*_policy_types(kinds[0]))


def _policy_types(kind: Any) -> list[type]:
    """Return the class of a NamedTuple's type, and those of the NamedTuples in it."""
    if not hasattr(kind, "instance_class"):
        return []
    return [kind.instance_class, *(inner for part in kind for inner in _policy_types(part))]


def param_types(params: Any) -> tuple[type, ...]:
    """Return the class of a policy's parameters and, if it wraps another policy, those of that policy's parameters."""
    inner = [part for part in params if isinstance(part, tuple) and hasattr(part, "_fields")]
    return (type(params), *(kind for part in inner for kind in param_types(part)))


inlined_verb = functools.partial(verb, inline=True)

NEVER: Final = cast(int, np.int64(2**62))  # NumPy's int, because Numba recompiles for literals
"""A decision that is never made, and a round that no run reaches."""


@verb
def init(policy: Any, n_arms: int) -> Any:
    """Return the state before the first reward."""


@verb
def select(policy: Any, state: Any, rng: Any) -> Any:
    """Return the arm to pull, or the arms of a round in the order of their pulls."""


@inlined_verb
def update(policy: Any, state: Any, arm: int, reward: float, rng: Any) -> Any:
    """Return the state after one more reward."""


@inlined_verb
def note(policy: Any, state: Any, decision: int, now: int) -> Any:
    """Take note that the next reward is that of an earlier decision, and that ``now`` decisions have been made.

    Only policies that forget with time, and so need the age of a reward, have their own version. Where it is never
    called, rewards arrive in the order of the decisions.
    """


@inlined_verb
def prepare(policy: Any, state: Any, waiting: Any, earliest: Any, rng: Any) -> Any:
    """Return the state for the next decision, given the rewards that are outstanding.

    ``waiting`` is the number of outstanding rewards of each arm, and ``earliest`` the first decision whose reward is
    outstanding (``NEVER`` if there is none). It is called after all rewards that have arrived. Where it is never
    called, each reward arrives before the next decision.
    """


@inlined_verb
def index(policy: Any, state: Any, arm: int, total: int, best_mean: float, rng: Any) -> Any:
    """Return the index of an arm after ``total`` pulls, where ``best_mean`` is the largest mean."""


@inlined_verb
def duel(policy: Any, state: Any, challenger: int, leader: int, rng: Any) -> Any:
    """Whether the challenger wins its duel against the leader."""


@inlined_verb
def play(policy: Any, state: Any, run: Any, rng: Any) -> Any:
    """Pull until the run is over; the default is the plain loop."""


def implements(
    stub: Callable[..., Any],
    *policy_types: type,
    random: bool = True,
    in_place: bool = False,
    forwards: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function to compile it and register it as the given verb for these parameter types.

    Without a type, it becomes the default for every policy that has none of its own. ``random=False`` declares that an
    ``update`` draws no random numbers, so that live studies need not start a stream for each reward, and
    ``in_place=True`` that it returns the same arrays if ``engine.history.has_room``. ``forwards=True`` declares that
    the function only calls the same verb of the policy in the field ``inner``, so that whatever is declared about that
    policy also holds for the one around it.
    """
    if stub not in _VERSIONS:
        known = ", ".join(known.__name__ for known in _VERSIONS)
        raise TypeError(f"{stub.__name__!r} is not a verb of policies: {known}")

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        late = [kind.__name__ for kind in policy_types if any(kind in used for used in _SPECIALIZED)]
        if late:
            raise TypeError(f"{', '.join(late)} is compiled already: register {stub.__name__!r} before it is used")
        dispatcher = function if hasattr(function, "py_func") else jit(function)
        version = Version(dispatcher, random, in_place, forwards)
        _VERSIONS[stub].update(dict.fromkeys(policy_types or (None,), version))
        return dispatcher

    return register


def shortcut(*policy_types: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function that should ``play`` for these policies where nothing changes and rewards come at once."""
    return implements(play, *policy_types)


def _version(stub: Callable[..., Any], params: Any) -> Version | None:
    """Return the version of a verb that decides for a policy: its own, that of the policy in it, or the default."""
    version = _VERSIONS[stub].get(type(params)) or _VERSIONS[stub].get(None)
    return _version(stub, params.inner) if version is not None and version.forwards else version


def has_own(stub: Callable[..., Any], params: Any) -> bool:
    """Whether a policy, given by its parameters, has its own version of a verb instead of the default."""
    return _version(stub, params) is not _VERSIONS[stub].get(None)


def follows_time(params: Any) -> bool:
    """Whether the state of a policy depends on when decisions were made, or on rewards that are outstanding."""
    return has_own(note, params) or has_own(prepare, params)


def updates_randomly(params: Any) -> bool:
    """Whether a policy's version of ``update`` may draw random numbers."""
    version = _version(update, params)
    return version is not None and version.random


def updates_in_place(params: Any) -> bool:
    """Whether a policy's version of ``update`` returns the same arrays, if ``engine.history.has_room``."""
    version = _version(update, params)
    return version is not None and version.in_place


def stamp(params: Any) -> str:
    """Return a hash of all sources of the compiled verbs of a policy with these parameters."""
    return source_stamp(*_sources(*param_types(params)))


def _sources(*policy_types: type) -> list[str]:
    """Return the files of a policy's verbs, and of the defaults of the verbs above, which all policies have.

    A verb of another file is imported by the files of the policies that have it, and no other policy may depend on it:
    whether its file is imported differs between processes.
    """
    found = [versions[kind] for versions in _VERSIONS.values() for kind in policy_types if kind in versions]
    found += [
        versions[None] for stub, versions in _VERSIONS.items() if stub.__module__ == __name__ and None in versions
    ]
    return sorted({version.compiled.py_func.__code__.co_filename for version in found})


def specialized(function: Callable[..., Any], params: Any) -> Callable[..., Any]:
    """Return a separate entry point for policies with parameters of this type, its first argument.

    The machine code is kept on disk if a later process can import their type.
    """
    kinds = param_types(params)
    key = function, *kinds
    if key not in _SPECIALIZED:
        with _MAKING:  # once, and not by several threads at the same time
            if key not in _SPECIALIZED:
                plain = getattr(function, "py_func", function)
                _SPECIALIZED[key] = named_entry_point(plain, _suffix(kinds), *kinds, sources=_sources(*kinds))
    return _SPECIALIZED[key]


def _suffix(kinds: tuple[type, ...]) -> str:
    """Return a name for these types; those of wrapped policies are hashed, because file names must stay short."""
    outer, *inner = (f"{kind.__module__}_{kind.__qualname__}" for kind in kinds)
    return outer if not inner else f"{outer}_{hashlib.sha256('_'.join(inner).encode()).hexdigest()[:16]}"
