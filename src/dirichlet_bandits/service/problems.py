"""Turn the library's exceptions into HTTP responses: JSON for programs, a page for people."""

import html
import logging
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

_KINDS: Final = {401: "AccessError", 403: "AccessError", 404: "NotFoundError"}


class BusyError(errors.StorageError):
    """The service is busy with another request of this kind; nothing was written. Clients see a StorageError."""


def problem(status: int, error: str, field: str | None = None, kind: str | None = None) -> HTTPException:
    """Return a refusal to raise."""
    said = {"error": error, "field": field, "kind": kind or _KINDS.get(status, "DirichletBanditsError")}
    # Without halves of characters, which cannot be sent.
    detail: Any = {
        key: text if text is None else text.encode(errors="backslashreplace").decode() for key, text in said.items()
    }
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
    """Register a handler of all errors with the app."""

    async def refuse(request: Request, error: Exception) -> Response:
        if isinstance(error, ClientDisconnect):
            return Response(status_code=400)  # nobody receives it: the client left before its request was complete
        if isinstance(error, HTTPException):
            return answer(request.scope, error)
        if isinstance(error, errors.DirichletBanditsError):
            field = error.name if isinstance(error, errors.ArgumentError) else None
            kind = errors.StorageError if isinstance(error, BusyError) else type(error)
            refusal = problem(status_of(error), words_of(error), field, kind.__name__)
            refusal.headers = headers_of(error)
        elif isinstance(error, RequestValidationError):
            wrong = error.errors()[0]
            field = str(wrong["loc"][-1])
            refusal = problem(422, f"{field}: {wrong['msg']}", field, "ArgumentError")
        else:
            refusal = problem(500, "the service failed; its log says why")
        return answer(request.scope, refusal)

    for kind in (HTTPException, errors.DirichletBanditsError, RequestValidationError, ClientDisconnect, Exception):
        app.add_exception_handler(kind, refuse)
