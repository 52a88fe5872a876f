"""The application: routes for programs, pages for people, and the guard in front of both."""

import importlib.metadata
import logging
import threading
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from uvicorn.config import LOGGING_CONFIG

from dirichlet_bandits.errors import DirichletBanditsError
from dirichlet_bandits.live import load_study
from dirichlet_bandits.live.opening import compile_live
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.service import api, dashboard, problems
from dirichlet_bandits.service.guard import Guard
from dirichlet_bandits.service.keys import Key, Sessions
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.service.webhook import Watcher, Webhook
from dirichlet_bandits.storage import Storage, open_storage

_LOGGER = logging.getLogger(__name__)


class BackgroundCompiler:
    """A thread that compiles the policies of a storage's studies, one after the other."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.waiting: list[str] = []
        """Names of the policies that are not ready yet."""

    def start(self) -> threading.Thread:
        """Start compiling. The thread does not keep the process alive."""
        thread = threading.Thread(target=self._run, name="background-compiler", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            policies = self._policies()
        except DirichletBanditsError as error:  # the next ask raises it too
            _LOGGER.warning("nothing is compiled ahead: %s", error)
            return
        self.waiting = list(policies)
        if policies:
            _LOGGER.info("compiling ahead, where it was not done before: %s", ", ".join(policies))
        for name, policy in policies.items():
            try:
                compile_live(policy)
            except DirichletBanditsError as error:
                _LOGGER.warning("%s is not compiled ahead: %s", name, error)
            finally:
                self.waiting.remove(name)
        if policies:
            _LOGGER.info("compiled: %s", ", ".join(policies))

    def _policies(self) -> dict[str, Policy]:
        """Return one policy per type, leaving out custom policies and studies that are damaged."""
        found: dict[str, Policy] = {}
        for name in self._storage.names():
            try:
                policy = load_study(name, self._storage).policy
            except DirichletBanditsError:
                continue
            found.setdefault(type(policy).__name__, policy)
        return found


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
    app.include_router(dashboard.routes)
    app.mount("/static", StaticFiles(directory=Path(dashboard.__file__).parent / "static"))
    problems.install(app)
    app.add_exception_handler(dashboard.NotLoggedIn, dashboard.to_login)
    app.add_middleware(Guard, keys=keys, sessions=app.state.sessions)
    return app


# The server under the application: uvicorn, with its own limits


MOST_CONNECTIONS: Final = 800
"""More get 503; a process that is limited to 1024 files still has enough of them."""

IDLE: Final = 5
"""Seconds for which a connection is kept between two requests."""

_LOGS: Final = {
    **LOGGING_CONFIG,
    "loggers": {**LOGGING_CONFIG["loggers"], "dirichlet_bandits": {"handlers": ["default"], "level": "INFO"}},
}


def run(app: Any, host: str, port: int) -> None:
    """Serve until a signal stops the server."""
    uvicorn.run(
        app,
        host=host,
        port=port,
        http="httptools",
        ws="none",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE,
        server_header=False,
        access_log=False,
        log_config=_LOGS,
    )
