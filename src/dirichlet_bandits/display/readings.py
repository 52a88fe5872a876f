"""Words for what people read in a summary besides the means: percentages, earnings, and arms that change."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

_WHOLE: Final = 1000.0
"""Totals from here on are shown without decimals."""


def percent(share: float) -> str:
    """Return a probability in percent; only impossible and certain events show 0% and 100%.

    >>> [percent(share) for share in (0.0, 0.00001, 0.12345, 0.99999, 1.0, math.nan)]
    ['0%', '<0.1%', '12.3%', '>99.9%', '100%', '']
    """
    if math.isnan(share):
        return ""
    if 0.0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1.0:
        return ">99.9%"
    return f"{100.0 * share:.1f}%" if 0.0 < share < 1.0 else f"{100.0 * share:.0f}%"


def belief(share: float) -> str:
    """Return a posterior probability in percent: never 0% or 100%, which it reaches only by rounding.

    >>> belief(1.0), belief(0.0), belief(0.5)
    ('>99.9%', '<0.1%', '50.0%')
    """
    return percent(min(max(share, math.ulp(0.0)), math.nextafter(1.0, 0.0)))


def lift_percent(lift: float) -> str:
    """Return a relative lift, given in percent, with its sign.

    >>> lift_percent(12.345), lift_percent(-0.5), lift_percent(0.0), lift_percent(math.nan)
    ('+12.3%', '-0.5%', '0%', '')
    """
    if math.isnan(lift):
        return ""
    return f"{lift:+,.1f}%" if lift else "0%"


def earnings(attrs: Mapping[str, Any]) -> str:
    """Compare the rewards, or costs, of a study with those of an equal split, by the attributes of its summary.

    >>> earnings({"earned": 257.0, "equal_split": 219.6, "direction": "maximize"})
    'earned 257; with an equal split about 219.6 (17% more than that)'
    >>> earnings({"earned": 5000.0, "equal_split": 6000.4, "direction": "minimize"})
    'total cost 5,000; with an equal split about 6,000 (17% less than that)'
    """
    what = "earned" if attrs["direction"] == "maximize" else "total cost"
    total, split = attrs["earned"], attrs["equal_split"]
    words = f"{what} {_total(total)}; with an equal split about {_total(split)}"
    change = total / split - 1.0 if split > 0.0 else 0.0
    if f"{abs(change):.0%}" == "0%":
        return words
    return f"{words} ({abs(change):.0%} {'more' if change > 0.0 else 'less'} than that)"


def _total(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.4g}"


def drift_words(arms: Sequence[str]) -> str:
    """Return the warning that a summary shows for arms that drift.

    >>> drift_words(["a", "b"])
    'the rewards of a, b do not look like one distribution: intervals and winners may be wrong'
    """
    return f"the rewards of {', '.join(arms)} do not look like one distribution: intervals and winners may be wrong"
