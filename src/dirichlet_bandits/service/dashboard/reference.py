"""The API reference, readable without a network, with examples to copy."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from dirichlet_bandits.service.dashboard.examples import CURL, PYTHON, SHELL, START
from dirichlet_bandits.service.dashboard.rendering import page

routes = APIRouter(include_in_schema=False)


@routes.get("/docs")
async def docs(request: Request) -> Response:
    """Show every route with its fields, responses and examples."""
    description = request.app.openapi()
    examples: dict[str, Any] = {"shell": SHELL, "start": START, "curl": CURL, "python": PYTHON}
    return page(request, "docs.html", description=description, **examples)
