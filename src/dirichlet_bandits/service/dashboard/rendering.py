"""Render templates to pages: everything is escaped, and numbers and times are written for people."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from dirichlet_bandits.display.readings import belief, percent
from dirichlet_bandits.live.direction import MINIMIZE
from dirichlet_bandits.service.keys import MANAGE, WRITE, Key

THEME: Final = "dirichlet_bandits_theme"
THEMES: Final = {"auto": "◐", "light": "☀", "dark": "☾"}
_MINUS: Final = "\N{MINUS SIGN}"
_CURRENCIES: Final = ("$", "€", "£", "¥")
_PERIODS: Final = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"))


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Render a page, with the elements that all pages share."""
    key, state = request.state.key, request.app.state
    theme = request.cookies.get(THEME)
    if "study" in values:
        values["what"] = "cost" if values["study"].direction == MINIMIZE else "reward"
        values["unit"] = values["study"].reward_unit
        values["in_unit"] = "" if values["unit"] is None else f" ({values['unit']})"
    values |= {
        "known": key is not None,
        "writes": _may(key, WRITE, values),
        "manages": _may(key, MANAGE, values),
        "keyed": state.keys is not None,
        "compiling": [] if key is None or key.limited else list(state.background_compiler.waiting),
    }
    values |= {"theme": theme if theme in THEMES else "auto", "themes": THEMES}
    return HTMLResponse(_templates.get_template(template).render(values), status)


def _may(key: Key | None, needed: str, values: dict[str, Any]) -> bool:
    """Whether the reader has a role for the study of a page, or for any study if the page is not about one."""
    return key is not None and key.may(needed, values["study"].name if "study" in values else None)


def short(value: float | None) -> str:
    """Return a number with three digits, or all digits before the point; an empty text if there is no number.

    >>> [short(x) for x in (3120.52, 1234567.0, 1.5e12, -0.000123456, 12.0, float("nan"), None)]
    ['3,121', '1,234,567', '1.5e+12', '−0.000123', '12', '', '']
    """
    if value is None or not math.isfinite(value):
        return ""
    text = f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.3g}"
    return text.replace("-", _MINUS) if value < 0 else text


def aligned(value: float | None, decimals: int | None) -> str:
    """Return a number with this many decimals, like its neighbors in a table; without decimals, as :func:`short` does.

    >>> aligned(0.22, 3), aligned(-1234.5678, 1), aligned(-0.0001, 2), aligned(0.22, None)
    ('0.220', '−1,234.6', '0.00', '0.22')
    """
    if value is None or not math.isfinite(value) or decimals is None:
        return short(value)
    text = f"{value:,.{decimals}f}"
    return text.replace("-", _MINUS if text.strip("-0.,") else "")


def exact(value: float) -> str:
    """Return a reward as it is stored, with all digits.

    >>> exact(3120.0), exact(-0.1)
    ('3,120', '−0.1')
    """
    text = repr(float(value))
    plain = f"{float(value):,}" if "e" not in text else text
    return plain.removesuffix(".0").replace("-", _MINUS, 1) if value < 0 else plain.removesuffix(".0")


def listed(value: float) -> str:
    """Return a reward for a list, with at most six digits; the page of its trial has all of them.

    >>> listed(3765.041159411377), listed(-0.25), listed(1e-9)
    ('3,765.04', '−0.25', '1e-09')
    """
    return exact(float(f"{value:.6g}"))


def in_unit(text: str, unit: str | None) -> str:
    """Return a number with its unit; the sign of a currency comes first.

    >>> in_unit("3,120", "kg/ha"), in_unit("−5", "$"), in_unit("0.25", None)
    ('3,120 kg/ha', '−$5', '0.25')
    """
    if unit is None:
        return text
    if unit in _CURRENCIES:
        return f"{_MINUS}{unit}{text[1:]}" if text.startswith(_MINUS) else unit + text
    return f"{text} {unit}"


def ago(then: datetime, now: datetime | None = None) -> str:
    """Return how long ago something was, in the largest unit that fits.

    >>> ago(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 3, 5, tzinfo=UTC))
    '2 days ago'
    """
    seconds = ((now or datetime.now(UTC)) - then).total_seconds()
    for size, unit in _PERIODS:
        if seconds >= size:
            count = int(seconds / size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def key_name(actor: str | None) -> str:
    """Return the key that did something, as people read it.

    >>> key_name("field app"), key_name(""), key_name(None)
    ('field app', 'no key', '')
    """
    return "no key" if actor == "" else actor or ""


def _stamp(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M} UTC"


_templates: Final = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {
    "query": urlencode,
    "short": short,
    "exact": exact,
    "listed": listed,
    "aligned": aligned,
    "unit": in_unit,
    "percent": percent,
    "belief": belief,
    "ago": ago,
    "stamp": _stamp,
    "key": key_name,
    "count": "{:,}".format,
}
