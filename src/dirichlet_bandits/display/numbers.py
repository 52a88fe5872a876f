"""Numbers and durations as people read them, in text, HTML, LaTeX and plots, and sentences with them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

MINUS: Final = "\N{MINUS SIGN}"
GAP: Final = "\N{NARROW NO-BREAK SPACE}"
_HUGE: Final = 1e12  # from here on, and below 1e-4, numbers have exponents


def number(x: float, digits: int = 4, *, padded: bool = False, comma: str = "", minus: str = "-") -> str:
    """Return a number with so many digits, or all digits before the point; an empty text for NaN.

    ``padded`` keeps zeros at the end, for measurements, and ``comma`` separates thousands.

    >>> number(12345.6), number(0.5), number(-0.01234567, minus=MINUS), number(2e-9), number(math.nan)
    ('12346', '0.5', '−0.01235', '2e-09', '')
    >>> number(12345.6, 3, comma=","), number(0.5, 3, padded=True), number(-0.0, padded=True), number(999.6, 3)
    ('12,346', '0.500', '0', '1000')
    """
    if math.isnan(x):
        return ""
    if math.isinf(x):
        text = f"{x:g}".replace("inf", "∞")
    elif x and not 1e-4 <= abs(x) < _HUGE:
        text = f"{x:.{digits}g}"
    else:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(x)))) if x else 0
        text = f"{x + 0.0:,.{decimals}f}".replace(",", comma)  # 0, not -0
        if "." in text and not padded:
            text = text.rstrip("0").rstrip(".")
    return text.replace("-", minus, 1) if x < 0.0 else text


def measured(x: float) -> str:
    """Return a number with three digits, zeros included, as the report and its plots show it.

    >>> measured(0.5), measured(-12.345), measured(1234567).replace(GAP, " "), measured(math.inf)
    ('0.500', '−12.3', '1 234 567', '∞')
    """
    return number(x, 3, padded=True, comma=GAP, minus=MINUS)


def cell(value: object) -> str:
    """Return a cell of a table as text: ``yes`` for True, and nothing for False, None and numbers that are not finite.

    >>> [cell(value) for value in ("RDS", 3, 0.123456, math.inf, True, None)]
    ['RDS', '3', '0.1235', '', 'yes', '']
    """
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return number(value) if math.isfinite(value) else ""
    return "" if value is None else str(value)


def interval(low: float, high: float) -> str:
    """Return the ends of an interval.

    >>> interval(-math.inf, 1234.56)
    '[-∞, 1235]'
    """
    return f"[{number(low)}, {number(high)}]"


def with_error(value: float, error: float) -> str:
    """Return a number with its standard error, to two digits of the error.

    >>> with_error(132.04, 17.7), with_error(0.5, 0.0123), with_error(0.0, 0.0)
    ('132 ± 18', '0.500 ± 0.012', '0 ± 0')
    """
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0.0 else 0
    return f"{value:,.{digits}f} ± {error:,.{digits}f}"


def in_percent(share: float) -> str:
    """Return a confidence or another level in percent, with all its digits.

    >>> in_percent(0.95), in_percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:g}%"


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


def short(value: float | None) -> str:
    """Return a number with three digits, or all digits before the point; an empty text if there is no number.

    >>> [short(x) for x in (3120.52, 1234567.0, 1.5e12, -0.000123456, 12.0, float("nan"), None)]
    ['3,121', '1,234,567', '1.5e+12', '−0.000123', '12', '', '']
    """
    return "" if value is None or math.isinf(value) else number(value, 3, comma=",", minus=MINUS)


def aligned(value: float | None, decimals: int | None) -> str:
    """Return a number with this many decimals, like its neighbors in a table; without decimals, a short one.

    >>> aligned(0.22, 3), aligned(-1234.5678, 1), aligned(-0.0001, 2), aligned(0.22, None)
    ('0.220', '−1,234.6', '0.00', '0.22')
    """
    if value is None or not math.isfinite(value) or decimals is None:
        return short(value)
    text = f"{value:,.{decimals}f}"
    return text.replace("-", MINUS if text.strip("-0.,") else "")


def exact(value: float) -> str:
    """Return a reward as it is stored, with all digits.

    >>> exact(3120.0), exact(-0.1)
    ('3,120', '−0.1')
    """
    text = repr(float(value))
    plain = f"{float(value):,}" if "e" not in text else text
    return plain.removesuffix(".0").replace("-", MINUS, 1) if value < 0 else plain.removesuffix(".0")


def listed(value: float) -> str:
    """Return a reward for a list, with at most six digits; the page of its trial has all of them.

    >>> listed(3765.041159411377), listed(-0.25), listed(1e-9)
    ('3,765.04', '−0.25', '1e-09')
    """
    return exact(float(f"{value:.6g}"))


def duration(seconds: float) -> str:
    """Return a duration as text.

    >>> duration(0.3), duration(75), duration(4000), duration(7199), duration(math.nan)
    ('0.3 s', '1 min 15 s', '1 h 7 min', '2 h 0 min', 'unknown')
    """
    if math.isnan(seconds):
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min"


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
