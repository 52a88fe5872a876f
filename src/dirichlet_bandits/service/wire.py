"""A client's end of the line: requests that are tried again when the line breaks, refusals as exceptions."""

import importlib.util
import json
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

from dirichlet_bandits import errors

if TYPE_CHECKING:
    import httpx

PATIENCE: Final = 60.0
"""Seconds for which a service that cannot be reached is tried again."""

_PAUSES: Final = (0.05, 0.1, 0.3, 1.0, 2.0)
_SLOWEST: Final = 150.0  # a service waits two minutes for its storage
_MOST_ADDRESSES: Final = 1000  # kept, so as not to parse them again
_AWAY: Final = (502, 503, 504)  # what a proxy says while the service behind it is away


class RefusedArgumentError(errors.ArgumentError):
    """An argument that the service refused, in its words."""

    def __init__(self, name: str, message: str) -> None:
        Exception.__init__(self, name, message)
        self.name = name

    def __str__(self) -> str:
        return str(self.args[1])


class Line:
    """A connection to a service. Every request that goes through it must be safe to send twice."""

    def __init__(self, url: str, key: str | None, patience: float) -> None:
        if importlib.util.find_spec("httpx") is None:
            raise errors.MissingExtraError("Clients need the extra 'client': pip install 'dirichlet-bandits[client]'")
        import httpx

        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise errors.ArgumentError("url", "the address of a service, such as 'http://localhost:8000'", url)
        if key is not None and (not isinstance(key, str) or not key.isascii() or key.split() != [key]):
            raise errors.ArgumentError("key", "a key of the service, or None", "something else")  # not shown
        self.url = url.rstrip("/")
        self.patience = patience
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        timeout = httpx.Timeout(_SLOWEST, connect=10.0)
        try:
            self._http = httpx.Client(base_url=self.url, headers=headers, timeout=timeout)
        except httpx.InvalidURL:
            raise errors.ArgumentError("url", "the address of a service", url) from None
        # What is the same in each request is made once: that takes a third of the time of a short call.
        self._headers = [*self._http.headers.multi_items(), ("Content-Type", "application/json")]
        self._extensions = {"timeout": timeout.as_dict()}
        self._addresses: dict[tuple[str, str], httpx.URL] = {}

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """The JSON at a path."""
        return self._json(self.send("GET", path, query))

    def post(self, path: str, body: dict[str, Any], *, again: dict[str, Any] | None = None, **query: Any) -> Any:
        """The JSON that answers a body; ``again`` is the body after an answer was lost, if it must be another one."""
        return self._json(self.send("POST", path, query, body, body if again is None else again))

    def send(
        self, method: str, path: str, query: dict[str, Any], body: Any = None, again: Any = None
    ) -> "httpx.Response":
        """The answer, tried again while the service is away; a refusal is raised as the library's own exception."""
        import httpx

        limit = time.monotonic() + self.patience
        for trial in range(1_000_000):
            try:
                answer = self._http.send(self._request(method, path, query, body))
                # In its own words a service says 503 after it has waited for its storage: that is an answer.
                if answer.status_code in _AWAY and _problem(answer) is None:
                    raise httpx.ProxyError(f"a proxy answered {answer.status_code}")
                break
            except httpx.TransportError as error:
                if time.monotonic() > limit:
                    away = isinstance(error, httpx.ConnectError | httpx.ProxyError)
                    words = "cannot be reached" if away else "broke off"
                    written = "" if method == "GET" else "; it may have been written"
                    raise errors.StorageError(f"{self.url} {words}: {error}{written}") from error
                body = again
                time.sleep(_PAUSES[min(trial, len(_PAUSES) - 1)])
        if answer.is_success:
            return answer
        raise self._refusal(answer)

    def _request(self, method: str, path: str, query: dict[str, Any], body: Any) -> "httpx.Request":
        import httpx

        asked = urlencode({key: str(value).lower() if value is True else value for key, value in query.items()})
        address = self._addresses.get((path, asked))
        if address is None:
            if len(self._addresses) >= _MOST_ADDRESSES:
                self._addresses.clear()
            address = self._addresses[path, asked] = httpx.URL(f"{self.url}/api/{path}?{asked}")
        content = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        return httpx.Request(method, address, headers=self._headers, content=content, extensions=dict(self._extensions))

    def _json(self, answer: "httpx.Response") -> Any:
        try:
            return answer.json()
        except ValueError:
            raise self._no_service(answer) from None

    def _refusal(self, answer: "httpx.Response") -> errors.DirichletBanditsError:
        said = _problem(answer)
        if said is None:
            return self._no_service(answer)
        if said.kind == "ArgumentError":
            return RefusedArgumentError(said.field, said.error)
        found = getattr(errors, said.kind, errors.DirichletBanditsError)
        known = isinstance(found, type) and issubclass(found, errors.DirichletBanditsError)
        kind = found if known and found is not errors.PolicyError else errors.DirichletBanditsError
        return kind(said.error)

    def _no_service(self, answer: "httpx.Response") -> errors.FormatError:
        kind = answer.headers.get("content-type", "nothing")
        return errors.FormatError(
            f"{self.url} is not a service of dirichlet-bandits: it answered {answer.status_code}, {kind}"
        )


class _Problem(NamedTuple):
    """A refusal in a service's own words."""

    error: str
    field: str
    kind: str


def _problem(answer: "httpx.Response") -> _Problem | None:
    """What the service says; None if it is not the service that speaks."""
    try:
        said = answer.json()
        return _Problem(str(said["error"]), str(said["field"]), str(said["kind"]))
    except (ValueError, KeyError, TypeError):
        return None
