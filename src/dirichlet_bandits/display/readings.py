"""Words for what people read in a summary besides the means: earnings, and arms that change."""

from collections.abc import Mapping, Sequence
from typing import Any

from dirichlet_bandits.display.numbers import number


def earnings(attrs: Mapping[str, Any]) -> str:
    """Compare the rewards, or costs, of a study with those of an equal split, by the attributes of its summary.

    >>> earnings({"earned": 257.0, "equal_split": 219.6, "direction": "maximize"})
    'earned 257; with an equal split about 219.6 (17% more than that)'
    >>> earnings({"earned": 5000.0, "equal_split": 6000.4, "direction": "minimize"})
    'total cost 5,000; with an equal split about 6,000 (17% less than that)'
    """
    what = "earned" if attrs["direction"] == "maximize" else "total cost"
    total, split = attrs["earned"], attrs["equal_split"]
    words = f"{what} {number(total, comma=',')}; with an equal split about {number(split, comma=',')}"
    change = total / split - 1.0 if split > 0.0 else 0.0
    if f"{abs(change):.0%}" == "0%":
        return words
    return f"{words} ({abs(change):.0%} {'more' if change > 0.0 else 'less'} than that)"


def drift_words(arms: Sequence[str]) -> str:
    """Return the warning that a summary shows for arms that drift.

    >>> drift_words(["a", "b"])
    'the rewards of a, b do not look like one distribution: intervals and winners may be wrong'
    """
    return f"the rewards of {', '.join(arms)} do not look like one distribution: intervals and winners may be wrong"
