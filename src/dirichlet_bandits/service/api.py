"""Routes for programs, one per operation of a study and per call of a service, all derived from their declarations.

Keys are checked in ``guard.py``, before a body is read.
"""

import inspect
import json
from asyncio import get_running_loop
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Final

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from dirichlet_bandits.declared import LONGEST_NAME, Nothing
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.operation import MANAGE, OPERATIONS, READ, WRITE, Operation
from dirichlet_bandits.live.readings import RepeatDecisions
from dirichlet_bandits.service import plans
from dirichlet_bandits.service.calls import CALLS, ExportTrials, Health, PlanStudies, in_query, path_of, read_query
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.service.problems import problem
from dirichlet_bandits.types import Ints

Endpoint = Callable[..., Coroutine[Any, Any, Response]]
_BEARER: Final = {"type": "http", "scheme": "bearer", "description": "A key made with 'dirichlet-bandits keys add'."}
_NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
_OF_STUDY: Final = "Identity of the study; another study of its name gives 409."
_REFUSALS: Final = {
    400: "The body cannot be read",
    401: "The key is missing or unknown",
    403: "The key may not do this, or the request comes from another site",
    404: "No such study, arm or trial",
    409: "The request contradicts what is stored",
    413: "The request is too large",
    422: "A field is missing or invalid",
    503: "The storage cannot be reached, or another plan is being simulated",
}
_PROBLEM: Final = {
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "field": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "kind": {"type": "string", "description": "The library's exception"},
    },
    "required": ["error", "field", "kind"],
}
_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_FILES: Final = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def install(app: FastAPI) -> None:
    """Register all routes; those of the most frequent operations come first, where they are found first."""
    special: dict[type[Operation[Any]], Endpoint] = {PlanStudies: _plan, Health: _health}
    for kind in sorted({**OPERATIONS, **CALLS}.values(), key=lambda kind: kind.role != WRITE):
        app.add_api_route(
            f"/api/{path_of(kind)}",
            special.get(kind) or partial(_answer, kind),
            methods=["GET" if in_query(kind) else "POST"],
            name=kind.name,
            description=inspect.cleandoc(kind.__doc__ or ""),
            status_code=kind.status,
            response_class=Response,
            responses=_responses(kind),
            openapi_extra=_requests(kind),
        )
    made = app.openapi
    app.openapi = lambda: {**made(), "components": {"securitySchemes": {"key": _BEARER}}}  # type: ignore[method-assign]


async def _answer(kind: type[Operation[Any]], request: Request) -> Response:
    """Carry out an operation in a thread; a plain executor takes a third of the time of the one that FastAPI uses.

    Requests that only read may take long, so they have threads of their own.
    """
    studies: OpenStudies = request.app.state.studies.seen_by(request.state.key, kind.role)
    act = partial(_carried_out, kind, studies, request, b"" if in_query(kind) else await request.body())
    if kind.role == READ:
        return await run_in_threadpool(act)
    threads: ThreadPoolExecutor = request.app.state.changing
    # The context has the name of the caller's key, which is stored with the change.
    return await get_running_loop().run_in_executor(threads, copy_context().run, act)


def _carried_out(kind: type[Operation[Any]], studies: OpenStudies, request: Request, body: bytes) -> Response:
    name, asked = "", request.query_params
    of_study = kind.of_study
    if of_study or (of_study is None and "study" in asked):
        name = checked_name("study", asked.get("study", Nothing()))
    operation, token = _asked(kind, request, body)
    studies = studies.expecting(asked.get("identity"))
    found = studies.do(operation, name, token)
    if isinstance(operation, RepeatDecisions) and not found.same and request.app.state.watcher is not None:
        request.app.state.watcher.report(studies.study(name), found)
    if isinstance(operation, ExportTrials):
        return download(found, operation.format)
    return _said(kind, found)


async def _plan(request: Request) -> Response:
    request.app.state.studies.seen_by(request.state.key, MANAGE)
    body = await request.body()

    def act(stop: Ints) -> Response:
        asked, _ = _asked(PlanStudies, request, body)
        assert isinstance(asked, PlanStudies)
        return _said(PlanStudies, plans.simulated(asked, stop))

    async with plans.stopping(request) as stop:  # which takes what the client sends from now on
        return await run_in_threadpool(act, stop)


async def _health(request: Request) -> Response:
    return _said(Health, Health().carry_out(request.app.state.studies, "", None))


def _said(kind: type[Operation[Any]], answer: Any) -> Response:
    return Response(_JSON.encode(kind.answer_as_json(answer)), kind.status, media_type="application/json")


def download(content: bytes, format: str) -> Response:
    """Return a log as a file to keep."""
    headers = {"Content-Disposition": f'attachment; filename="log.{format}"'}
    return Response(content, media_type=_FILES[format], headers=headers)


# What is asked


def _asked(kind: type[Operation[Any]], request: Request, body: bytes) -> tuple[Operation[Any], str | None]:
    """Return the operation that a request asks for, and its token."""
    if in_query(kind):
        query = request.query_params
        texts = {key: query.getlist(key) for key in query if key not in ("study", "identity")}
        return read_query(kind, texts), None
    given = _loaded(request, body)
    token = given.pop("token", None) if kind.has_token and isinstance(given, dict) else None
    return kind.of_json(given), None if token is None else checked_name("token", token)


def _loaded(request: Request, content: bytes) -> Any:
    """Parse a body; without a JSON content type, which a form of another site cannot send, it is refused."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not (kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))):
        raise ArgumentError("body", "JSON, with the content type application/json", kind)
    try:
        return json.loads(content, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ArgumentError("body", "JSON", f"{error.msg} at {error.pos}") from None
    except (ValueError, RecursionError):
        raise problem(400, "the body cannot be read") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with each field once: other readers of the same text might use another one of the two."""
    read = dict(pairs)
    if len(read) < len(pairs):
        ((field, times),) = Counter(key for key, _ in pairs).most_common(1)
        raise problem(422, f"{field}: must be given once (got it {times} times)", field, "ArgumentError")
    return read


# What the description says


def _requests(kind: type[Operation[Any]]) -> dict[str, Any]:
    """Return the description of a request: its query, and the schema of its body."""
    of_study, query = kind.of_study, []
    if of_study is not False:
        query.append({"name": "study", "required": bool(of_study), "schema": _NAME, "description": "Its name."})
        query.append({"name": "identity", "required": False, "schema": {"type": "string"}, "description": _OF_STUDY})
    schema = kind.schema()
    if in_query(kind):
        for name, field in kind.fields.items():
            said = {key: x for key, x in schema["properties"][name].items() if key in ("default", "examples")}
            one = {"name": name, "required": field.required, "schema": {**field.check.schema, **said}}
            query.append({**one, "description": schema["properties"][name]["description"]})
    found: dict[str, Any] = {"security": [] if kind is Health else [{"key": []}]}
    found["parameters"] = [{"in": "query", **one} for one in query]
    if kind.has_token:
        words = "The caller's own name for the call: repeating it changes nothing."
        schema["properties"]["token"] = {"anyOf": [_NAME, {"type": "null"}], "description": words}
    if not in_query(kind):
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return found


def _responses(kind: type[Operation[Any]]) -> dict[int | str, dict[str, Any]]:
    content: dict[str, Any] = {"application/json": {"schema": kind.answer_schema()}}
    if kind is ExportTrials:
        content = {media.partition(";")[0]: {} for media in _FILES.values()}
    found: dict[int | str, dict[str, Any]] = {kind.status: {"description": "The answer", "content": content}}
    for status, words in _REFUSALS.items() if kind is not Health else ():
        found[status] = {"description": words, "content": {"application/json": {"schema": _PROBLEM}}}
    return found
