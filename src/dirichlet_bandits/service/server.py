"""The server under the application: uvicorn, with its own limits.

These do not include how slowly a request may arrive and how large its headers may be: ``docs/service.md`` has the
settings of a proxy for them. The guard limits bodies.
"""

from typing import Any, Final

import uvicorn
from uvicorn.config import LOGGING_CONFIG

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
