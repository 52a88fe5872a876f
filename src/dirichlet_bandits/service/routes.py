"""Routes that take a JSON body and change a study, without what FastAPI does for routes in general.

FastAPI describes them as it does any other. But it resolves dependencies, and validates the answer in a thread of its
own, on every request, which took longer than to decide and to store. Here a request costs one validation of the
body, one thread and one answer.
"""

import json
import typing
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from dirichlet_bandits.service.bodies import Name
from dirichlet_bandits.service.keys import WRITE
from dirichlet_bandits.service.problems import problem

_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)


class ChangingRoute(APIRoute):
    """A route whose function takes a ``body``, the registry of ``studies``, and maybe the ``name`` of one."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What FastAPI calls for each request."""
        hints = typing.get_type_hints(self.endpoint)
        model: type[BaseModel] = hints["body"]
        named = "name" in hints
        status = self.status_code or 200

        async def handle(request: Request) -> Response:
            if request.state.scope != WRITE:
                raise problem(403, "this key may only read")
            given: dict[str, Any] = {"studies": request.app.state.registry}
            if named:
                given["name"] = _valid(_NAME.validate_python, request.query_params.get("study"), "query", "study")
            given["body"] = _valid(model.model_validate, _loaded(request, await request.body()), "body")
            answer: BaseModel = await run_in_threadpool(partial(self.endpoint, **given))
            return Response(answer.model_dump_json(), status, media_type="application/json")

        return handle


def _valid(validate: Callable[[Any], Any], given: Any, *place: str) -> Any:
    """The value, or a refusal that says where it is wrong, as FastAPI's does."""
    try:
        return validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        raise RequestValidationError([{**one, "loc": (*place, *one["loc"])} for one in found]) from None


def _loaded(request: Request, content: bytes) -> Any:
    """What a body holds; one that is not said to be JSON, as a form of another site cannot say, is a mere text."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not (kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))):
        return content
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        wrong = {"type": "json_invalid", "loc": ("body", error.pos), "msg": f"JSON decode error: {error.msg}"}
        raise RequestValidationError([wrong]) from None
    except (ValueError, RecursionError):
        raise problem(400, "the body cannot be read") from None
