"""Short names for policies without a name, for tables, plots and results."""

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence


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
