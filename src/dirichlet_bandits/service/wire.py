"""The client's connection: requests are repeated when it breaks, and refusals become exceptions."""

import json
import ssl
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlencode
from urllib.request import getproxies, proxy_bypass

from dirichlet_bandits import errors
from dirichlet_bandits.storage.events import fresh_locks_in_children

if TYPE_CHECKING:
    import urllib3

PATIENCE: Final = 60.0
"""Seconds for which a service that cannot be reached is tried again."""

_PAUSES: Final = (0.05, 0.1, 0.3, 1.0, 2.0)
_MOST_CONNECTIONS: Final = 100  # more threads wait for each other
_SLOW: Final = 504  # what a proxy returns if the service behind it takes too long
_AWAY: Final = (502, 503, _SLOW)  # while it is down
_LONG: Final = ("plan", "replay")  # too slow once is too slow again, and the first attempt may still be running


class Waits(NamedTuple):
    """How many seconds a client waits: for a connection, per byte that it sends, and for the response."""

    connection: float = 10.0
    byte: float = 1e-4
    response: float = 150.0  # a service waits two minutes for its storage


WAITS: Final = Waits()


class RefusedArgumentError(errors.ArgumentError):
    """An argument that the service refused, with the message of the service."""

    def __init__(self, name: str, message: str) -> None:
        Exception.__init__(self, name, message)
        self.name = name

    def __str__(self) -> str:
        return str(self.args[1])


class Connection:
    """A connection to a service. Every request that goes through it must be safe to send twice."""

    def __init__(self, url: str, key: str | None, patience: float, waits: Waits = WAITS) -> None:
        errors.require("urllib3", "Clients need", "client")
        from urllib3.exceptions import LocationValueError
        from urllib3.util import make_headers, parse_url

        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise errors.ArgumentError("url", "the address of a service, such as 'http://localhost:8000'", url)
        if key is not None and (not isinstance(key, str) or not key.isascii() or key.split() != [key]):
            raise errors.ArgumentError("key", "a key of the service, or None", "something else")  # not shown
        self.url = url.rstrip("/")
        self.patience, self._waits = patience, waits
        try:
            self._address = parse_url(self.url)
            self._manager = connections(self._address)
            self._renew_lock()
        except LocationValueError:
            raise errors.ArgumentError("url", "the address of a service", url) from None
        scheme, auth, _, _, path, _, _ = self._address
        self._root = path or ""
        if scheme == "http" and self._manager.proxy is not None:
            self._root = f"http://{self._address.netloc}{self._root}"  # a proxy needs the whole address
        self._headers = {"Accept-Encoding": "gzip, deflate", "Content-Type": "application/json"}
        if auth is not None:
            self._headers |= make_headers(basic_auth=unquote(auth))
        elif key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        fresh_locks_in_children(self)

    def _renew_lock(self) -> None:
        """Start without connections; those that a forked child inherits belong to its parent."""
        self._inherited = getattr(self, "_pool", None)  # not closed here, because they are the parent's
        self._manager.clear()
        self._pool = self._manager.connection_from_url(self._address.url)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON at a path."""
        return self._json(self.send("GET", path, query))

    def post(self, path: str, body: dict[str, Any], *, again: dict[str, Any] | None = None, **query: Any) -> Any:
        """Post a body and return the JSON response; ``again`` is the body after a lost response, if it differs."""
        return self._json(self.send("POST", path, query, body, body if again is None else again))

    def send(
        self, method: str, path: str, query: dict[str, Any], body: Any = None, again: Any = None
    ) -> "urllib3.BaseHTTPResponse":
        """Send a request, retrying while the service is unreachable; raise a refusal as the library's own exception."""
        from urllib3 import exceptions as broken

        absent = broken.NewConnectionError, broken.ConnectTimeoutError, broken.ProxyError, broken.SSLError
        limit = time.monotonic() + self.patience
        for trial in range(1_000_000):
            cause: Exception | None = None
            said = None
            try:
                answer = self._request(method, path, query, body)
                if answer.status not in _AWAY:
                    break
                said = _problem(answer)
                # A service itself returns 503 after it has waited for its storage, so that is final, unless it is busy.
                if said is not None and "retry-after" not in answer.headers:
                    break
                away = f"cannot be reached: a proxy answered {answer.status}"
                words = away if said is None else f"stayed busy: {said.error}"
            except (*absent, broken.TimeoutError, broken.ProtocolError) as error:
                cause = error
                away = "cannot be reached" if isinstance(error, absent) else "broke off"
                words = f"{away}: {error.__cause__ or error.args[-1]}"
            too_slow = isinstance(cause, broken.ReadTimeoutError) or (cause is None and answer.status == _SLOW)
            if time.monotonic() > limit or (too_slow and path in _LONG):
                written = "" if method == "GET" or said is not None else "; it may have been written"
                raise errors.StorageError(f"{self.url} {words}{written}") from cause
            body = again
            time.sleep(_PAUSES[min(trial, len(_PAUSES) - 1)])
        if 200 <= answer.status < 300:
            return answer
        raise self._refusal(answer)

    def _request(self, method: str, path: str, query: dict[str, Any], body: Any) -> "urllib3.BaseHTTPResponse":
        from urllib3 import Timeout

        fields = {key: str(value).lower() if value is True else value for key, value in query.items()}
        asked = urlencode(fields, doseq=True)
        content = b"" if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        sending = self._waits.connection + self._waits.byte * len(content)  # urllib3 has one time for both
        timeout = Timeout(connect=sending, read=self._waits.response)
        # The address is that of the service, though the connection may be to a proxy.
        options: Any = {"redirect": False, "assert_same_host": False, "timeout": timeout}
        return self._pool.urlopen(method, f"{self._root}/api/{path}?{asked}", content or None, self._headers, **options)

    def _json(self, answer: "urllib3.BaseHTTPResponse") -> Any:
        try:
            return json.loads(answer.data)
        except ValueError:
            raise self._no_service(answer) from None

    def _refusal(self, answer: "urllib3.BaseHTTPResponse") -> errors.DirichletBanditsError:
        said = _problem(answer)
        if said is None:
            return self._no_service(answer)
        if said.kind == "ArgumentError":
            return RefusedArgumentError(said.field, said.error)
        found = getattr(errors, said.kind, errors.DirichletBanditsError)
        known = isinstance(found, type) and issubclass(found, errors.DirichletBanditsError)
        kind = found if known and found is not errors.PolicyError else errors.DirichletBanditsError
        return kind(said.error)

    def _no_service(self, answer: "urllib3.BaseHTTPResponse") -> errors.FormatError:
        kind = answer.headers.get("content-type", "nothing")
        return errors.FormatError(
            f"{self.url} is not a service of dirichlet-bandits: it answered {answer.status}, {kind}"
        )


def connections(address: "urllib3.util.Url") -> "urllib3.PoolManager":
    """Return what makes connections to a service, through the proxy that the environment names, if any."""
    import urllib3

    scheme, host = str(address.scheme), str(address.host)
    options: dict[str, Any] = {"maxsize": _MOST_CONNECTIONS, "block": True, "retries": urllib3.Retry(False)}
    if scheme == "https":
        options["ssl_context"] = ssl.create_default_context()  # made once: it reads hundreds of certificates
    proxies = getproxies()
    of = scheme if scheme in proxies else "all"
    proxy = proxies.get(of)
    if not proxy or proxy_bypass(str(address.netloc)) or proxy_bypass(host.strip("[]")):
        return urllib3.PoolManager(**options)
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        expected = "an address that begins with http:// or https://"
        raise errors.ArgumentError(f"{of}_proxy", expected, proxy.partition("://")[0])
    auth = urllib3.util.parse_url(proxy).auth
    headers = None if auth is None else urllib3.make_headers(proxy_basic_auth=unquote(auth))
    return urllib3.ProxyManager(proxy, proxy_headers=headers, **options)


class _Problem(NamedTuple):
    """A refusal in the service's own words."""

    error: str
    field: str
    kind: str


def _problem(answer: "urllib3.BaseHTTPResponse") -> _Problem | None:
    """Return the refusal in a response; None if the response does not come from the service."""
    try:
        said = json.loads(answer.data)
        return _Problem(str(said["error"]), str(said["field"]), str(said["kind"]))
    except (ValueError, KeyError, TypeError):
        return None
