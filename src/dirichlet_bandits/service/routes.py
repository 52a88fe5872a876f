"""Routes of studies: a study that was replaced is loaded again, and requests that change a study are fast.

FastAPI describes all routes in the same way. But on every request it resolves dependencies and validates the response
in a thread of its own, which took longer than deciding and storing. A request that changes a study costs one validation
of the body, one thread and one response; the thread comes from a plain executor, at a third of AnyIO's cost.
"""

import json
import typing
from asyncio import get_running_loop
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Annotated, Any, Final

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from dirichlet_bandits.errors import ReplacedError
from dirichlet_bandits.live.description import LONGEST_NAME
from dirichlet_bandits.service.bodies import Name
from dirichlet_bandits.service.keys import MANAGE, READ, WRITE, Key
from dirichlet_bandits.service.open_studies import OpenStudies, may_only
from dirichlet_bandits.service.problems import problem

_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)
_IDENTITY: Final[TypeAdapter[str | None]] = TypeAdapter(
    Annotated[str, Field(max_length=LONGEST_NAME)] | None  # empty for studies that have none
)
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


async def may_write(request: Request) -> None:
    """Refuse a key that may only read."""
    check_role(request, WRITE)


async def may_manage(request: Request) -> None:
    """Refuse a key that may not manage any study."""
    check_role(request, MANAGE)


def check_role(request: Request, needed: str) -> None:
    """Refuse a key that has this role in no study."""
    key: Key = request.state.key
    if not key.may(needed):
        raise problem(403, may_only(WRITE if key.may(WRITE) else READ))


class StudyRoute(APIRoute):
    """A route that is tried again with the study as it is stored now, if the open study has been replaced.

    If it depends on :func:`may_write` or :func:`may_manage`, its function may take only a ``body``, the open
    ``studies``, and the ``name`` of one.
    """

    def get_route_handler(self) -> Handler:
        """Return the handler of a request; a first attempt on a study that was replaced has changed nothing."""
        given = [depends.dependency for depends in self.dependencies]
        needed = MANAGE if may_manage in given else WRITE if may_write in given else READ
        answer = self._changing_handler(needed) if needed != READ else super().get_route_handler()

        async def answer_again(request: Request) -> Response:
            request = _Strict(request.scope, request.receive)
            try:
                return await answer(request)
            except ReplacedError as error:
                studies: OpenStudies = request.app.state.studies
                if error.study is None or not await run_in_threadpool(studies.refresh, error.study):
                    raise
            return await answer(request)

        return answer_again

    def _changing_handler(self, needed: str) -> Handler:
        hints = typing.get_type_hints(self.endpoint)
        model: type[BaseModel] = hints["body"]
        named = "name" in hints
        status = self.status_code or 200

        async def handle(request: Request) -> Response:
            check_role(request, needed)
            studies: OpenStudies = request.app.state.studies.seen_by(request.state.key, needed)
            given: dict[str, Any] = {"studies": studies}
            if named:
                asked = request.query_params
                given["name"] = _valid(_NAME.validate_python, asked.get("study"), "query", "study")
                identity = _valid(_IDENTITY.validate_python, asked.get("identity"), "query", "identity")
                given["studies"] = studies.expecting(identity)
            given["body"] = _valid(model.model_validate, _loaded(request, await request.body()), "body")
            threads: ThreadPoolExecutor = request.app.state.changing
            # The context has the name of the caller's key, which is stored with the change.
            act = partial(copy_context().run, self.endpoint, **given)
            answer: BaseModel = await get_running_loop().run_in_executor(threads, act)
            return Response(answer.model_dump_json(), status, media_type="application/json")

        return handle


class _Strict(Request):
    """A request whose JSON has each field once: other readers of the same text might use another one of the two."""

    async def json(self) -> Any:
        return _read_json(await self.body())


def _read_json(content: bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        read = dict(pairs)
        if len(read) < len(pairs):
            ((field, times),) = Counter(key for key, _ in pairs).most_common(1)
            field = field.encode(errors="backslashreplace").decode()  # half a character cannot be sent back
            raise problem(422, f"{field}: must be given once (got it {times} times)", field, "ArgumentError")
        return read

    return json.loads(content, object_pairs_hook=once)


def _valid(validate: Callable[[Any], Any], given: Any, *place: str) -> Any:
    """Return the value, or raise an error that names the wrong place, as FastAPI does."""
    try:
        return validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        raise RequestValidationError([{**one, "loc": (*place, *one["loc"])} for one in found]) from None


def _loaded(request: Request, content: bytes) -> Any:
    """Parse a body; one without a JSON content type, which a form of another site cannot send, stays text."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not (kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))):
        return content
    try:
        return _read_json(content)
    except json.JSONDecodeError as error:
        wrong = {"type": "json_invalid", "loc": ("body", error.pos), "msg": f"JSON decode error: {error.msg}"}
        raise RequestValidationError([wrong]) from None
    except (ValueError, RecursionError):
        raise problem(400, "the body cannot be read") from None
