"""Describe policies and names in a form that a storage can keep, and check them."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from dirichlet_bandits.compiler import shielded
from dirichlet_bandits.declared import text
from dirichlet_bandits.errors import ArgumentError, FormatError
from dirichlet_bandits.policies import Policy, state_propensities
from dirichlet_bandits.policies.registry import policy_class
from dirichlet_bandits.policies.written import INNER, PARTS, policy_from_table

_NAME: Final = text()
_FROM: Final = "from"  # where a policy's class is defined; as a Python keyword, it cannot be the name of a parameter
_LIBRARY: Final = "dirichlet_bandits"
_SCRIPT: Final = "__main__"  # what Python calls the module of a script or a notebook, whatever its file is called
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
        given[INNER] = described(policy.policy)
    for key in PARTS & given.keys():
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
    name = described["policy"]
    place = described.get(_FROM, _LIBRARY if name in _BEFORE.split() else None)
    if place != _LIBRARY or policy_class(name) is None:
        own = f"{name} is" if place in (None, _LIBRARY) else f"{name}, of {place}, is"
        raise ArgumentError("policy", f"given: the study's class {own} not one of this library", None)
    try:
        return policy_from_table("policy", _without_places(described))
    except ValueError as error:
        raise FormatError(f"the study's policy cannot be made, perhaps it is of a newer version: {error}") from error


def _without_places(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description without the places of its class and of the class in it, which is always the library's."""
    return {key: _without_places(x) if isinstance(x, dict) else x for key, x in described.items() if key != _FROM}


def checked_name(field: str, name: object) -> str:
    """Check a text that every storage can keep, and return it.

    >>> checked_name("name", "")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'name' must be a text of 1 to 200 printable characters (got '')
    """
    return str(_NAME.accept(field, name))
