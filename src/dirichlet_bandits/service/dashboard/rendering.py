"""Render templates to pages: everything is escaped, and numbers and times are written for people."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from dirichlet_bandits.display.numbers import MINUS, aligned, belief, exact, listed, percent, short
from dirichlet_bandits.live.direction import MINIMIZE
from dirichlet_bandits.service.keys import MANAGE, WRITE, Key

THEME: Final = "dirichlet_bandits_theme"
THEMES: Final = {"auto": "◐", "light": "☀", "dark": "☾"}
_CURRENCIES: Final = ("$", "€", "£", "¥")
_PERIODS: Final = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"))


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Render a page, with the elements that all pages share."""
    key, state = request.state.key, request.app.state
    theme = request.cookies.get(THEME)
    if "study" in values:
        values["what"] = "cost" if values["study"].direction == MINIMIZE else "reward"
        values["in_unit"] = values["study"].settings.in_unit
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


def in_unit(text: str, unit: str | None) -> str:
    """Return a number with its unit; the sign of a currency comes first.

    >>> in_unit("3,120", "kg/ha"), in_unit("−5", "$"), in_unit("0.25", None)
    ('3,120 kg/ha', '−$5', '0.25')
    """
    if unit is None:
        return text
    if unit in _CURRENCIES:
        return f"{MINUS}{unit}{text[1:]}" if text.startswith(MINUS) else unit + text
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
