"""Policies as text, ``NPTS(upper=1)``, as tables, ``{policy = "NPTS", upper = 1}``, and by short names."""

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, overload

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.detectors import CUSUM, GLR, MeanShift
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import all_policies, policy_class
from dirichlet_bandits.specs import FieldError, Language, choose, chosen, make, one_table, under

INNER: Final = "inner"
"""The key for the parameter "policy" of a policy that wraps another one; the key "policy" names the class."""

PARTS: Final = frozenset({"detector"})
"""Parameters that are objects with parameters of their own."""


class _Policies(Mapping[str, type[Policy]]):
    """The library's policies by name; a family is imported when one of its policies is named."""

    def __getitem__(self, name: str) -> type[Policy]:
        if (found := policy_class(name)) is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(all_policies())

    def __len__(self) -> int:
        return len(all_policies())


POLICY: Final = Language(
    "a policy such as RDS or NPTS(upper=1)",
    _Policies(),
    "a policy",
    {kind.__name__: kind for kind in (GLR, CUSUM, MeanShift)},
)
"""The texts that describe the library's policies."""


def parse_policy(text: str, where: str = "policy") -> Policy:
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
    made: Policy = POLICY.from_text(text, where)
    return made


Policies = Mapping[str, Policy | str] | Sequence[Policy | str] | Policy | str
"""One or several policies of the library, as :func:`as_policies` takes them."""


@overload
def as_policy(policy: Policy | str, where: str = ...) -> Policy: ...


@overload
def as_policy(policy: object, where: str = ...) -> Any: ...


def as_policy(policy: object, where: str = "policy") -> Any:
    """Return a policy, given as such or as a text."""
    return parse_policy(policy, where) if isinstance(policy, str) else policy


def as_policies(given: object, where: str = "policies", classes: Collection[str] = ()) -> dict[str, Any]:
    """Return policies by name, given as a dict, a list or a single one, each as such or as a text.

    A policy without a name is named by its class and by what distinguishes it. Without a dict, a text that is one of
    the names in ``classes`` stays what it is.

    >>> as_policies(["RDS", "UCB1(sigma=1)", "NPTS"], classes=["NPTS"])
    {'RDS': RDS(rho='sqrt-log', level=None), 'UCB1': UCB1(sigma=1), 'NPTS': 'NPTS'}
    >>> as_policies("RDS") == as_policies({"RDS": "RDS()"}) == as_policies(parse_policy("RDS"))
    True
    """
    if isinstance(given, Mapping):
        return {name: as_policy(policy, f"{where}[{name!r}]") for name, policy in given.items()}
    several = {f"{where}[{k}]": x for k, x in enumerate(given)} if isinstance(given, list | tuple) else {where: given}
    made = [x if isinstance(x, str) and x in classes else as_policy(x, place) for place, x in several.items()]
    kept = [policy for policy in made if isinstance(policy, str)]
    others = iter(short_names([policy for policy in made if not isinstance(policy, str)], taken=kept))
    named = {policy if isinstance(policy, str) else next(others): policy for policy in made}
    if len(named) < len(made):
        raise ArgumentError(where, "different from each other, or named by a dict", made)
    return named


def policy_from_table(where: str, table: Mapping[str, Any]) -> Policy:
    """Return the policy of a table: the name of its class, its parameters, and tables of the objects among them.

    Or ``policy`` is a text with the parameters, ``"NPTS(upper=1)"``.

    >>> policy_from_table("it", {"policy": "SlidingWindow", "window": 5, "inner": {"policy": "NPTS", "upper": 1}})
    SlidingWindow(policy=NPTS(upper=1), window=5)
    """
    given = {key: value for key, value in table.items() if key not in ("name", "policy")}
    text = table.get("policy")
    if isinstance(text, str) and "(" in text:
        for key in given:
            raise FieldError(f"'{where}.{key}' is not needed: the policy is written with its parameters")
        return parse_policy(text, f"{where}.policy")
    kind: type[Policy] = chosen(where, "policy", POLICY.known, table)
    for key in PARTS & given.keys():
        part = under(where, one_table, given, key)
        given[key] = choose(f"{where}.{key}", key, POLICY.parts, part or {})
    if kind.wraps:
        found = under(where, one_table, given, INNER)
        if found is None:
            raise FieldError(f"'{where}.{INNER}' is missing: a table with the policy that {kind.__name__} wraps")
        del given[INNER]
        given = {"policy": policy_from_table(f"{where}.{INNER}", found), **given}
    return make(where, kind, given, called=kind.__name__)


def short_names(policies: Sequence[object], taken: Collection[str] = ()) -> list[str]:
    """Return the class name of each policy, with the parameters that differ, or a number, if a class occurs twice.

    Names in ``taken`` are not used again; such a policy is called by its repr. Equal policies get equal names.

    >>> from dirichlet_bandits import RDS, UCB1
    >>> short_names([RDS(), UCB1(sigma=0.5), UCB1(sigma=2.0)])
    ['RDS', 'UCB1(sigma=0.5)', 'UCB1(sigma=2.0)']
    >>> short_names([UCB1(sigma=0.5)], taken=["UCB1"])
    ['UCB1(sigma=0.5)']
    """
    classes = [type(policy).__name__ for policy in policies]
    counts, numbers = Counter(classes), Counter[str]()
    names = []
    for policy, kind in zip(policies, classes, strict=True):
        name = kind
        if counts[kind] > 1 and dataclasses.is_dataclass(policy):
            alike = [other for other, called in zip(policies, classes, strict=True) if called == kind]
            different = _different(alike)
            given = ", ".join(f"{field}={getattr(policy, field)!r}" for field in different)
            name = f"{kind}({given})" if given else kind
        elif counts[kind] > 1:
            numbers[kind] += 1
            name = f"{kind} {numbers[kind]}"
        names.append(repr(policy) if name in taken else name)
    return names


def _different(policies: Sequence[object]) -> list[str]:
    """Return the fields in which policies of one class differ."""
    fields = [field.name for field in dataclasses.fields(policies[0])]  # type: ignore[arg-type]
    return [name for name in fields if len({repr(getattr(policy, name)) for policy in policies}) > 1]
