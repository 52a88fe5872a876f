"""Turn the library's exceptions into HTTP responses: JSON for programs, a page for people."""

import html
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from dirichlet_bandits import errors

STATUS: Final[dict[type[errors.DirichletBanditsError], int]] = {
    errors.ArgumentError: 422,
    errors.RewardError: 422,
    errors.NotFoundError: 404,
    errors.ConflictError: 409,
    errors.AccessError: 403,
    errors.StorageError: 503,
}
LOG: Final = logging.getLogger("uvicorn.error")  # where the server's own words go
RETRY_AFTER: Final = 5
"""Seconds after which a caller of a busy service should try again."""

_LONGEST_SHOWN: Final = 80
_KINDS: Final = {401: "AccessError", 403: "AccessError", 404: "NotFoundError"}


class BusyError(errors.StorageError):
    """The service is busy with another request of this kind; nothing was written. Clients see a StorageError."""


def problem(status: int, error: str, field: str | None = None, kind: str | None = None) -> HTTPException:
    """Return a refusal to raise."""
    detail: Any = {"error": error, "field": field, "kind": kind or _KINDS.get(status, "DirichletBanditsError")}
    return HTTPException(status, detail, {"WWW-Authenticate": "Bearer"} if status == 401 else None)


def headers_of(error: Exception) -> dict[str, str] | None:
    """Return the headers of the response to an exception."""
    return {"Retry-After": str(RETRY_AFTER)} if isinstance(error, BusyError) else None


def status_of(error: Exception) -> int:
    """Return the HTTP status for an exception."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def words_of(error: Exception) -> str:
    """Return an exception's message for the caller; details of the storage, such as its URL, appear only in the log."""
    if status_of(error) < 500 or isinstance(error, BusyError):
        return str(error)
    LOG.error("%s: %s", type(error).__name__, error)
    if isinstance(error, errors.FormatError):  # of a study, unless it names the storage
        return "the storage is damaged; see the service's log" if "://" in str(error) else str(error)
    written = "it may have been written" if "may have been written" in str(error) else "nothing was written"
    return f"the storage cannot be used, {written}; see the service's log for the reason"


def answer(scope: Scope, refusal: HTTPException) -> Response:
    """Return the refusal as a response that the caller can read."""
    detail: Any = refusal.detail
    if not isinstance(detail, dict):
        detail = problem(refusal.status_code, str(detail)).detail
    if scope["path"].startswith("/api/"):
        return JSONResponse(detail, refusal.status_code, refusal.headers)
    text = html.escape(str(detail["error"]))
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        '<link rel="icon" href="/static/icon.svg"><link rel="stylesheet" href="/static/colors.css">'
        '<link rel="stylesheet" href="/static/style.css">'
        f"<title>Refused</title><main><h1>{refusal.status_code}</h1>"
        f'<p role="alert">{text}</p><p><a href="/">Back to the studies</a></p></main></html>'
    )
    return HTMLResponse(page, refusal.status_code, refusal.headers)


def install(app: FastAPI) -> None:
    """Register these handlers with the app."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return answer(request.scope, error)

    async def ours(request: Request, error: Exception) -> Response:
        status = status_of(error)
        field = error.name if isinstance(error, errors.ArgumentError) else None
        kind = errors.StorageError if isinstance(error, BusyError) else type(error)
        refusal = problem(status, words_of(error), field, kind.__name__)
        refusal.headers = headers_of(error)
        return answer(request.scope, refusal)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        field, words = _invalid(error.errors())
        return answer(request.scope, problem(422, f"{field or 'body'}: {words}", field, "ArgumentError"))

    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=400)  # nobody receives it: the client left before its request was complete

    async def failed(request: Request, error: Exception) -> Response:
        return answer(request.scope, problem(500, "the service failed; its log says why"))

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(errors.DirichletBanditsError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, failed)


def _invalid(found: Sequence[Mapping[str, Any]]) -> tuple[str | None, str]:
    """Return the first wrong field and what is wrong with it.

    A value that can be of several kinds has one error per kind, below its field: these are joined.

    >>> _invalid([{"loc": ("body", "n"), "msg": "Field required"}])
    ('n', 'Field required')
    >>> _invalid([{"loc": ("body", "n"), "msg": "Input should be less than or equal to 1000", "input": 5000}])
    ('n', 'Input should be less than or equal to 1000 (got 5000)')
    >>> number = {"loc": ("body", "floor", "float"), "msg": "Input should be a valid number"}
    >>> _invalid([number, {"loc": ("body", "floor", "dict[str,float]"), "msg": "Input should be a valid dictionary"}])
    ('floor', 'Input should be a valid number or a valid dictionary')
    """
    place, words = found[0]["loc"], found[0]["msg"]
    kinds = [error for error in found if error["loc"][:2] == place[:2]]
    if len(kinds) == 1 or len(place) < 3 or isinstance(place[2], int):
        return _field(place), words + _got(found[0].get("input"))
    others = dict.fromkeys(error["msg"].removeprefix("Input should be ") for error in kinds[1:])
    return _field(place[:2]), " or ".join([words, *(text for text in others if not words.endswith(text))])


def _got(value: object) -> str:
    """Return what came, if it is short enough to be read."""
    written = repr(value) if isinstance(value, bool | int | float | str) else ""
    return f" (got {written})" if 0 < len(written) <= _LONGEST_SHOWN else ""


def _field(location: tuple[int | str, ...]) -> str | None:
    """Return the place of a wrong value as people write it.

    >>> _field(("body", "rewards", 3))
    'rewards[3]'
    """
    name = ""
    for part in location[1:]:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return name or None
