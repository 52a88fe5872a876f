"""Describe policies and names in a form that a storage can keep, and check them."""

import ast
import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dirichlet_bandits.errors import ArgumentError, FormatError, name_of
from dirichlet_bandits.live.interrupts import shielded
from dirichlet_bandits.policies import Policy, state_propensities
from dirichlet_bandits.policies.registry import policy_class

LONGEST_NAME = 200
_FROM: Final = "from"  # where a policy's class is defined; as a Python keyword, it cannot be the name of a parameter
_INNER: Final = "inner"  # the parameter "policy" of a policy around another one; "policy" is the name of the class
_PARTS: Final = frozenset({"detector"})  # parameters that are objects with parameters of their own
_LIBRARY: Final = "dirichlet_bandits"
_SCRIPT: Final = "__main__"  # what Python calls the module of a script or a notebook, whatever its file is called
_EXPECTED: Final = "a policy such as RDS or NPTS(upper=1)"
_BEFORE: Final = (
    "BDS RDS QDS DMED IMED EmpiricalIMED UnimodalIMED MED MaillardSampling NPTS PHE ReBoot MBE GIRO BootstrapTS "
    "OnlineBootstrapTS RBSDA LBSDA LDSSDA SSMC WRSDA BESA ThompsonSampling BinarizedTS UCB1 RUCBLT KLUCB KLUCBPlusPlus "
    "KLUCBSwitch EmpiricalKLUCB BCVTS MCVTS UUCB CVaRUCB"
)
"""The library's policies when places were not stored yet; any other name is that of a user's own class."""


def describe(policy: Policy) -> dict[str, Any]:
    """Return a policy as a dictionary that JSON can hold.

    >>> from dirichlet_bandits import RDS
    >>> describe(RDS())
    {'policy': 'RDS', 'from': 'dirichlet_bandits', 'rho': 'sqrt-log'}

    A policy that wraps another one stores it under the key ``inner``.
    """
    if not isinstance(policy, Policy) or not dataclasses.is_dataclass(policy):
        raise ArgumentError("policy", "a policy of this library, or one of your own as compiled verbs", policy)
    shielded(lambda: state_propensities(policy, policy.init(2)))  # refuses a policy that has none
    return described(policy)


def described(policy: Any) -> dict[str, Any]:
    """Describe a policy that has been checked before; nothing is compiled."""
    given = dataclasses.asdict(policy)
    for field in dataclasses.fields(policy):
        if field.metadata.get("later") and given[field.name] == field.default:
            del given[field.name]  # so that older studies, which lack it, still compare equal
    if policy.wraps:
        del given["policy"]
        given[_INNER] = described(policy.policy)
    for key in _PARTS & given.keys():
        given[key] = {key: type(getattr(policy, key)).__name__, **given[key]}
    as_in_json = {key: list(x) if isinstance(x, tuple) else x for key, x in given.items()}
    name = type(policy).__name__
    place = _LIBRARY if type(policy) is policy_class(name) else type(policy).__module__
    return {"policy": name, _FROM: place, **as_in_json}


def is_described(policy: Any, stored: Mapping[str, Any]) -> bool:
    """Whether a policy matches a description: its class, the module of the class (if stored) and its parameters.

    A class that was in a script or a notebook may have moved to a module, or the other way around.
    """
    here = described(policy)
    place, stored_place = here.pop(_FROM), stored.get(_FROM)
    moved = _SCRIPT in (place, stored_place) and _LIBRARY not in (place, stored_place)
    same = {key: value for key, value in stored.items() if key != _FROM} == here
    return same and (stored_place in (None, place) or moved)


def restore(described: dict[str, Any], given: Policy | None) -> Policy:
    """Return the policy that was described; a class that is not part of this library must be given."""
    if given is not None:
        describe(given)  # refuses a policy that no study can have
        if not is_described(given, described):
            raise ArgumentError("policy", f"that of the study, {described}", given)
        return given
    parameters = dict(described)
    name = parameters.pop("policy")
    place = parameters.pop(_FROM, _LIBRARY if name in _BEFORE.split() else None)
    found = policy_class(name) if place == _LIBRARY else None
    if found is None:
        own = f"{name} is" if place in (None, _LIBRARY) else f"{name}, of {place}, is"
        raise ArgumentError("policy", f"given: the study's class {own} not one of this library", None)
    try:
        if found.wraps:
            parameters["policy"] = restore(parameters.pop(_INNER), None)
        for key in _PARTS & parameters.keys():
            values = dict(parameters[key])
            parameters[key] = _parts()[values.pop(key)](**values)
        return found(**parameters)
    except (TypeError, ValueError, KeyError) as error:
        raise FormatError(f"the study's policy cannot be made, perhaps it is of a newer version: {error}") from error


def parse_policy(text: str) -> Policy:
    """Return a policy that is written like a call: ``RDS``, ``NPTS(upper=1)``; nothing is executed.

    >>> parse_policy("QDS(rho=4, alpha=0.05)")
    QDS(rho=4, alpha=0.05)
    >>> parse_policy("SlidingWindow(NPTS(upper=1), window=100)")
    SlidingWindow(policy=NPTS(upper=1), window=100)
    >>> parse_policy("NTPS")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'policy' must be the name of a policy; did you mean 'NPTS'? (got 'NTPS')
    >>> parse_policy("NPTS")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'policy' must be given with upper: NPTS(upper=...) (got 'NPTS')
    >>> parse_policy("UCB1(sigma=1, sigma=2)")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'policy' must be a policy such as RDS or NPTS(upper=1), with each \
parameter once (got 'UCB1(sigma=1, sigma=2)')
    >>> parse_policy("SlidingWindow(RDS, window=0)")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'SlidingWindow.window' must be an integer from 1 to 10000000 (got 0)
    """
    if len(text) > LONGEST_NAME:
        raise ArgumentError("policy", _EXPECTED, text[:LONGEST_NAME] + "...")
    try:
        made: Policy = _made(ast.parse(text, mode="eval").body, text, nested=False)
        return made
    except (SyntaxError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError("policy", _EXPECTED, text) from None


def _value(node: ast.expr, text: str) -> Any:
    """Return the value of an argument: a literal, or another policy or a detector written like a call."""
    name = node.func if isinstance(node, ast.Call) else node
    if isinstance(name, ast.Name) and (policy_class(name.id) is not None or name.id in _parts()):
        return _made(node, text)
    return ast.literal_eval(node)


def _parts() -> Mapping[str, Any]:
    """Return the classes of objects that are parameters of policies, by name; imported only when needed."""
    from dirichlet_bandits.policies.restarting.detectors import DETECTORS

    return DETECTORS


def _made(call: ast.expr, text: str, nested: bool = True) -> Any:
    """Return the policy, or the part of a policy, that a part of the text describes."""
    name = call.func if isinstance(call, ast.Call) else call
    if not isinstance(name, ast.Name):
        raise ValueError
    positional = [_value(value, text) for value in call.args] if isinstance(call, ast.Call) else []
    keywords = call.keywords if isinstance(call, ast.Call) else []
    named = {str(key.arg): _value(key.value, text) for key in keywords}
    if len(named) < len(keywords):
        raise ArgumentError("policy", f"{_EXPECTED}, with each parameter once", text)
    found = policy_class(name.id) or (_parts().get(name.id) if nested else None)
    if found is None:
        from dirichlet_bandits.policies.catalogue import POLICIES

        raise ArgumentError("policy", name_of("a policy", POLICIES, name.id), text)
    signature = inspect.signature(found)
    given = (
        signature.bind_partial(*positional).arguments | named if len(positional) <= len(signature.parameters) else {}
    )
    needed = [key for key, field in signature.parameters.items() if field.default is field.empty and key not in given]
    if needed and given.keys() <= signature.parameters.keys():
        values = ", ".join(f"{key}=..." for key in needed)
        raise ArgumentError("policy", f"given with {' and '.join(needed)}: {name.id}({values})", text)
    try:
        return found(*positional, **named)
    except ArgumentError as error:  # 'SlidingWindow.window', because studies have a window too
        parameter, expected, got = error.args
        raise ArgumentError(f"{name.id}.{parameter}", expected, got) from None
    except TypeError as error:
        raise ArgumentError("policy", f"{_EXPECTED} ({error})", text) from None


def as_policy(policy: Policy | str) -> Policy:
    """Return a policy, given as such or as a text."""
    return parse_policy(policy) if isinstance(policy, str) else policy


def written_policy(policy: Policy) -> str:
    """Return a policy as text; refuse a custom policy, which no service has."""
    if type(policy) is not policy_class(type(policy).__name__):
        raise ArgumentError("policy", "a policy of this library: the service has no other", policy)
    return repr(policy)


def checked_name(field: str, name: object) -> str:
    """Check a text that every storage can keep, and return it.

    >>> checked_name("name", "")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'name' must be a text of 1 to 200 printable characters (got '')
    """
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name.isspace():
        raise ArgumentError(field, f"a text of 1 to {LONGEST_NAME} printable characters", name)
    return name


def checked_names(field: str, given: object) -> list[str]:
    """Check the names of the first arms, or of segments, which must all differ."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ArgumentError(field, "a list of names", given)
    names = [checked_name(f"{field}[{k}]", name) for k, name in enumerate(given)]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ArgumentError(f"{field}[{k}]", "different from the names before it", name)
    return names
