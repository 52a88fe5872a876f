"""Render templates to pages: everything is escaped, and numbers and times are written for people."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from dirichlet_bandits.display.numbers import MINUS, aligned, belief, exact, listed, percent, short
from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError
from dirichlet_bandits.live.direction import MINIMIZE
from dirichlet_bandits.service.keys import MANAGE, WRITE, Key
from dirichlet_bandits.service.problems import words_of

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
    "stamp": "{:%Y-%m-%d %H:%M} UTC".format,
    "key": key_name,
    "count": "{:,}".format,
}


# Put refusals into the words of the forms: labels instead of the names of parameters, no Python


def whole_number(field: str, text: str) -> int:
    """Return a whole number of at most 18 digits."""
    if not (text.strip().isascii() and text.strip().isdecimal() and len(text.strip()) < 19):
        raise ArgumentError(field, "a whole number", text)
    return int(text)


def real_number(field: str, text: str) -> float:
    """Return a number typed with a point or a comma; refuse one whose point or comma may also separate thousands.

    >>> real_number("reward", "3120,5"), real_number("reward", "-0,125"), real_number("reward", "1e3")
    (3120.5, -0.125, 1000.0)
    >>> real_number("reward", "3,120")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'reward' must be 3120 or 3.1200: the comma may mean either (got '3,120')
    >>> real_number("reward", "3.120")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'reward' must be 3120 or 3.1200: the point may mean either (got '3.120')
    """
    typed = text.strip()
    if found := re.fullmatch(r"[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*", typed):
        sign = found[1]
        either = f"{typed.replace(sign, '')} or {typed.replace(sign, '.', 1)}0"
        raise ArgumentError(field, f"{either}: the {'comma' if sign == ',' else 'point'} may mean either", text)
    try:
        return float(typed.replace(",", ".") if typed.count(",") == 1 and "." not in typed else typed)
    except ValueError:
        raise ArgumentError(field, "a number", text) from None


def floor(text: str) -> float | dict[str, float]:
    """Return a floor of every arm, or floors of some.

    >>> floor("0,1"), floor("red = 0.2; blue=0.1")
    (0.1, {'red': 0.2, 'blue': 0.1})
    """
    if "=" not in text:
        return real_number("floor", text)
    pairs = (part.rpartition("=") for part in text.split(";") if part.strip())
    return {arm.strip(): real_number("floor", share) for arm, _, share in pairs}


def floor_typed(floor: float | dict[str, float]) -> str:
    """Return a floor as one would type it.

    >>> floor_typed({"red": 0.2, "blue": 0.1}), floor_typed(0.1)
    ('red = 0.2; blue = 0.1', '0.1')
    """
    return "; ".join(f"{arm} = {share:g}" for arm, share in floor.items()) if isinstance(floor, dict) else f"{floor:g}"


LABELS: Final = {
    "name": "The name",
    "new": "The new name",
    "arms": "The list of arms",
    "n": "The number of trials",
    "id": "The trial",
    "lower": "The lowest possible value",
    "upper": "The highest possible value",
    "floor": "The floor",
    "floors": "The list of floors",
    "baseline": "The number of successes among 100 trials",
    "lift": "The number of further successes",
    "late": "What a missing answer counts as",
    "segments": "The list of segments",
    "confirm": "What you type to confirm",
    "frame": "The file",
    "history": "The past data",
    "file": "The file",
}
_LONGEST: Final = 300
_INDEXED: Final = re.compile(r"'(\w+)\[(\d+)\]'")
_PYTHON: Final = re.compile(r" \(load_if_exists=True[^)]*\)")


def for_people(error: DirichletBanditsError) -> str:
    """Return the message of a refusal as a sentence for the reader of a page.

    >>> from dirichlet_bandits.errors import ConflictError
    >>> for_people(ArgumentError("arms[1]", "a name of its own", "red"))
    "Arm 2 must be a name of its own (got 'red')."
    >>> for_people(ArgumentError("reward", "a number", "much"))
    "The reward must be a number (got 'much')."
    >>> for_people(ConflictError("there is a study 'page' (load_if_exists=True opens it)"))
    "There is a study 'page'."
    """
    text = _PYTHON.sub("", words_of(error))
    if isinstance(error, ArgumentError):
        if found := _INDEXED.match(text):  # the rows of a form and the lines of a file count from 1
            text = f"{found[1].removesuffix('s')} {int(found[2]) + 1}{text[found.end() :]}"
        elif text.startswith(f"'{error.name}'"):
            label = LABELS.get(error.name, f"The {error.name.replace('_', ' ')}")
            text = label + text.removeprefix(f"'{error.name}'")
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "…"
    text = text.replace(" (got '')", "").replace(", or None", "")
    return sentence(text)


def sentence(text: str) -> str:
    """Return a message as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "…")) else ".")
