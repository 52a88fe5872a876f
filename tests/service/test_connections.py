"""Connections on which nothing comes do not keep others out."""

import asyncio
import resource
import socket
import sqlite3
import subprocess
import time
from contextlib import ExitStack, closing

import httpx
import pytest
import uvicorn

from dirichlet_bandits.service import server
from tests.service.running import Forked

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
HALF = b"POST /api/ask?study=s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"


def rest(line):
    """Whatever comes on a connection until the other side closes it."""
    line.settimeout(60)
    seen = b""
    try:
        while data := line.recv(65536):
            seen += data
    except ConnectionResetError:
        pass
    return seen


@pytest.fixture
def many_files():
    """Enough of them for this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 4096:
        pytest.skip("this process may not open enough files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_half_open_connections_starve_nobody(tmp_path, many_files):
    service = Forked(tmp_path)
    few = ["prlimit", "--pid", str(service.process.pid), "--nofile=1024:1024"]  # as most systems have it
    try:
        with ExitStack() as open_ones:
            subprocess.run(few, check=True)
            lines = []
            for k in range(1100):
                line = open_ones.enter_context(socket.create_connection(("127.0.0.1", service.port)))
                line.sendall(HALF[: k % len(HALF)])
                lines.append(line)
            assert httpx.get(service.url + "/api/health", timeout=60).json()["status"] == "ok"
            assert rest(lines[0]) == b""  # the oldest made room
            with service.connect() as studies:
                assert studies.study_names() == []
    finally:
        service.stop()


@pytest.mark.parametrize("sent", [b"", b"\r\n", HALF, HALF + b"\r\n{}"])
def test_a_request_must_be_whole_in_time(tmp_path, monkeypatch, sent):
    monkeypatch.setattr(server, "SLOWEST_REQUEST", 0.3)
    service = Forked(tmp_path)
    try:
        with socket.create_connection(("127.0.0.1", service.port)) as line, service.connect() as studies:
            line.sendall(sent)
            assert b"HTTP/1.1 200" not in rest(line)
            assert studies.study_names() == []
    finally:
        service.stop()


@pytest.fixture
def one_service(tmp_path):
    running = Forked(tmp_path)
    yield running
    running.stop()


CHUNKED = b"POST /api/ask?study=s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /api/health HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 200_000 + b"\r\n",
        b"GET /api/health HTTP/1.1\r\nHost: x\r\nlong: " + b"x" * 5_000_000 + b"\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nHost: x\r\n" + b"x" * 5_000_000 + b": b\r\n\r\n",
        b"GET /api/health?" + b"x" * 5_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        CHUNKED + b"0\r\n" + b"a: b\r\n" * 200_000 + b"\r\n",
        CHUNKED + b"0\r\nlong: " + b"x" * 5_000_000 + b"\r\n\r\n",
    ],
    ids=["lines", "value", "name", "path", "trailer lines", "trailer value"],
)
def test_headers_are_limited(one_service, sent):
    """Most of them is never read: the connection is closed before."""
    line = socket.create_connection(("127.0.0.1", one_service.port))
    with line, pytest.raises((BrokenPipeError, ConnectionResetError)):
        line.sendall(10 * sent)
    assert httpx.get(one_service.url + "/api/health", timeout=60).json()["status"] == "ok"


@pytest.mark.parametrize(
    "sent", [b"a: b\r\n" * (server.MOST_HEADERS + 1), b"long: " + b"x" * (server.LARGEST_HEAD + 2**14) + b"\r\n"]
)
def test_too_large_headers_are_refused_in_words(one_service, sent):
    with socket.create_connection(("127.0.0.1", one_service.port)) as line:
        line.sendall(b"GET /api/health HTTP/1.1\r\nHost: x\r\n" + sent)
        answer = rest(line)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"the headers must be at most 100 lines and 65536 bytes" in answer


@pytest.mark.parametrize("path", ["/api/studies", "/", "/api/health"])
@pytest.mark.parametrize("hosts", [("a", "b"), ("a", "a")])
def test_two_host_headers_are_refused(one_service, path, hosts):
    head = "".join(f"Host: {host}\r\n" for host in hosts)
    with socket.create_connection(("127.0.0.1", one_service.port)) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
        answer = rest(line)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"more than one host" in answer


def test_large_headers_and_long_bodies_pass(one_service):
    headers = {f"x-{k}": "y" * 1000 for k in range(50)}
    assert httpx.get(one_service.url + "/api/health", headers=headers, timeout=60).status_code == 200
    with one_service.connect() as studies:
        study = studies.create_study("s", arms=["a", "b"], seed=1)
        assert len(study.add_trials({"arm": ["a"] * 9000, "reward": [1.0] * 9000})) == 9000  # half a megabyte
        with one_service.http(one_service.write) as web:
            pieces = (piece.encode() for piece in '{"n": 2, "token": "pieces"}')  # one chunk per byte
            answer = web.post("/api/ask?study=s", content=pieces, headers={"content-type": "application/json"})
            assert len(answer.json()["trials"]) == 2


def test_a_slow_answer_is_no_slow_request(tmp_path, monkeypatch):
    """Who waits for us is let be, and may ask again on the same connection."""
    monkeypatch.setattr(server, "SLOWEST_REQUEST", 2.0)
    service = Forked(tmp_path)
    ask = f"POST /api/ask?study=s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.write}\r\n"
    ask += "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}\r\n"  # a stray end of line, as some send it
    try:
        with service.connect() as studies:
            studies.create_study("s", arms=["a", "b"], seed=1)
        with (
            closing(sqlite3.connect(tmp_path / "studies.db", isolation_level=None)) as file,
            socket.create_connection(("127.0.0.1", service.port)) as line,
        ):
            for id in (0, 1):
                file.execute("BEGIN IMMEDIATE")  # the service has to wait
                line.sendall(ask.encode())
                time.sleep(2.5)
                file.execute("ROLLBACK")
                line.settimeout(60)
                answer = b""
                while b"]}" not in answer:  # head and body may come apart
                    answer += line.recv(65536)
                assert f'"id":{id},'.encode() in answer
    finally:
        service.stop()


class Recorded(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self):
        super().__init__()
        self.did = []

    def write(self, data):
        self.did.append(data)

    def close(self):
        self.did.append("closed")

    def is_closing(self):
        return "closed" in self.did


def test_what_is_written_together_is_sent_together():
    async def write():
        below = Recorded()
        joining = server._Joining(below, asyncio.get_running_loop())
        for data in (b"head", b"body"):
            joining.write(data)
        await asyncio.sleep(0)
        joining.write(b"next")
        await asyncio.sleep(0)
        joining.write(b"last")
        joining.close()
        assert joining.is_closing()
        await asyncio.sleep(0)
        return below.did

    assert asyncio.run(write()) == [b"headbody", b"next", b"last", "closed"]


def test_an_answer_is_written_once():
    """Its head with its body: one call of the system instead of two, for the service and for its client."""
    below = Recorded()

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"{}"})

    async def answer():
        config = uvicorn.Config(app, http=server.Connection, lifespan="off", log_config=None)
        config.load()
        connection = server.Connection(config, uvicorn.server.ServerState(), {})
        connection.connection_made(below)
        connection.data_received(b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n")
        while not below.did:
            await asyncio.sleep(0)
        sent = list(below.did)
        connection.connection_lost(None)
        return sent

    (sent,) = asyncio.run(answer())
    assert sent.startswith(b"HTTP/1.1 200 OK\r\n")
    assert sent.endswith(b"\r\n\r\n{}")
