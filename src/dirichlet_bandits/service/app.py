"""The application: routes for programs, pages for people, and the guard in front of both."""

import importlib.metadata
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from dirichlet_bandits.service import api, dashboard, problems
from dirichlet_bandits.service.background_compiler import BackgroundCompiler
from dirichlet_bandits.service.guard import Guard
from dirichlet_bandits.service.keys import Key
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.service.sessions import Sessions
from dirichlet_bandits.service.watching import Watcher
from dirichlet_bandits.service.webhook import Webhook
from dirichlet_bandits.storage import Storage, open_storage

MOST_CHANGING: Final = 40
"""Requests that change a study and are answered at the same time; more wait."""

DESCRIPTION = "Ask which arm to try, tell its reward later. One route for each method of a study."


def create_app(
    storage: str | Storage,
    keys: Sequence[Key] | None,
    *,
    precompile: bool = False,
    webhook: Webhook | None = None,
    sessions: Sessions | None = None,
    address: str | None = None,
) -> FastAPI:
    """Create the service for a storage. With ``keys=None`` it is open: it needs no key, on this machine only.

    It runs on any ASGI server; ``dirichlet-bandits serve`` uses uvicorn. With ``precompile``, it compiles the policies
    of its studies in the background when it starts. With a ``webhook``, it reports winners, drift, silence and failed
    replays there. ``sessions`` has links that were made before the service starts. ``address`` is that under which
    clients reach the service, for links; without it, the address of the request that makes a link is used.
    """

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        if precompile:
            app.state.background_compiler.start()
        if app.state.watcher is not None:
            app.state.watcher.start()
        yield
        if app.state.watcher is not None:
            app.state.watcher.stop()

    version = importlib.metadata.version("dirichlet-bandits")
    app = FastAPI(
        title="dirichlet-bandits",
        version=version,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=life,
        redirect_slashes=False,  # it would redirect to whatever host the request names
    )
    app.state.studies = OpenStudies(open_storage(storage, create=True))
    app.state.background_compiler = BackgroundCompiler(app.state.studies.storage)
    app.state.keys = keys
    app.state.sessions = sessions or Sessions()
    app.state.address = address
    app.state.watcher = None if webhook is None else Watcher(app.state.studies.storage, webhook)
    app.state.changing = ThreadPoolExecutor(MOST_CHANGING, "changes")
    api.install(app)
    for router in dashboard.routers:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=Path(dashboard.__file__).parent / "static"))
    problems.install(app)
    app.add_exception_handler(dashboard.NotLoggedIn, dashboard.to_login)
    app.add_middleware(Guard, keys=keys, sessions=app.state.sessions)
    return app
