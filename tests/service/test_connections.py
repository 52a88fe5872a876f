"""Requests that arrive oddly, and answers that come late."""

import socket
import sqlite3
import time
from contextlib import closing

import httpx
import pytest

from tests.service.running import Forked

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


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
def one_service(tmp_path):
    running = Forked(tmp_path)
    yield running
    running.stop()


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


def test_a_slow_answer_is_no_slow_request(tmp_path):
    """Who waits for us is let be, and may ask again on the same connection."""
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
