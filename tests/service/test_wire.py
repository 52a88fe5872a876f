"""The client's connections: proxies, certificates, compressed answers, forks."""

import gzip
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial

import pytest
from urllib3.exceptions import ClosedPoolError

import dirichlet_bandits as db
from dirichlet_bandits.service.wire import WAITS, Connection, Waits
from tests.bounds import exit_code
from tests.sockets import accepted

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
NAMES = '{"studies":["maïs"]}'.encode()


class Answering:
    """A server that answers every request alike, and keeps what came on each of its connections."""

    def __init__(self, status="200 OK", head="", body=NAMES, wrap=lambda near: near, delay=lambda: None):
        self.connections = []
        self.delay = delay  # called before each answer
        self.answer = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body
        self.wrap = wrap
        self.door = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self.door.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        for near in accepted(self.door):
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        seen = []
        self.connections.append(seen)
        data = b""
        try:
            with self.wrap(near) as line:
                while piece := line.recv(65536):
                    data += piece
                    while b"\r\n\r\n" in data:  # the requests here have no bodies
                        request, _, data = data.partition(b"\r\n\r\n")
                        seen.append(request.decode().split("\r\n"))
                        self.delay()
                        line.sendall(self.answer)
        except OSError:  # such as a client that does not like our certificate
            near.close()

    def requests(self):
        return [request for seen in self.connections for request in seen]


@pytest.fixture
def answering(monkeypatch):
    """Makes such servers in an environment without proxies, and closes them."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    made = []

    def make(**options):
        made.append(Answering(**options))
        return made[-1]

    yield make
    for server in made:
        server.door.close()


def names(url, key=None):
    with db.connect(url, key, patience=0) as service:
        return service.study_names()


def titled(line):
    """A header as it is usually written."""
    name, _, value = line.partition(": ")
    return f"{name.title()}: {value}"


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("written", ["http://us%40er:pass@{}", "us%40er:pass@{}"])
def test_the_proxy_of_the_environment_is_used(answering, monkeypatch, variable, written):
    proxy = answering()
    monkeypatch.setenv(variable, written.format(proxy.host))
    assert names("http://service.example:8000/at", "key") == ["maïs"]
    ((first, *head),) = proxy.requests()
    assert first == "GET http://service.example:8000/at/api/studies? HTTP/1.1"
    expected = {
        "Host: service.example:8000",
        "Authorization: Bearer key",
        "Proxy-Authorization: Basic dXNAZXI6cGFzcw==",  # us@er:pass
    }
    assert expected <= set(map(titled, head))


def test_a_proxy_sees_nothing_of_what_is_encrypted(answering, monkeypatch):
    proxy = answering(status="407 Proxy Authentication Required")
    monkeypatch.setenv("https_proxy", f"http://user:pass@{proxy.host}")
    with pytest.raises(db.StorageError, match=r"^https://service.example cannot be reached: .*407"):
        names("https://service.example", "secret")
    ((first, *head),) = proxy.requests()
    assert first.startswith("CONNECT service.example:443 HTTP/1.")
    assert "Proxy-Authorization: Basic dXNlcjpwYXNz" in map(titled, head)
    assert "secret" not in str(head)


@pytest.mark.parametrize("without", ["127.0.0.1", "other.example, {}", "*"])
def test_some_hosts_are_reached_without_the_proxy(answering, monkeypatch, without):
    service, proxy = answering(), answering(status="404 Not Found")
    monkeypatch.setenv("http_proxy", f"http://{proxy.host}")
    with pytest.raises(db.FormatError, match="it answered 404"):
        names(f"http://{service.host}")
    monkeypatch.setenv("no_proxy", without.format(service.host))
    assert names(f"http://{service.host}") == ["maïs"]
    assert [request[0] for request in service.requests()] == ["GET /api/studies? HTTP/1.1"]


def test_a_proxy_that_is_away_and_one_of_another_kind(answering, monkeypatch):
    service = answering()
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with pytest.raises(db.StorageError, match="cannot be reached"):
        names(f"http://{service.host}")
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(db.ArgumentError, match=r"'http_proxy' must be an address that begins with http:// or https://"):
        names(f"http://{service.host}")
    assert service.requests() == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A key and a certificate for 127.0.0.1 that it signed itself, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    file = tmp_path_factory.mktemp("tls") / "own.pem"
    how = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=us"]
    where = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{file}", "-out", f"{file}.crt"]
    subprocess.run(["openssl", "req", "-x509", *how, *where], check=True, capture_output=True)
    file.write_text(file.read_text() + (file.parent / "own.pem.crt").read_text())
    return file


def test_certificates_are_checked(answering, certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    service = answering(wrap=lambda near: context.wrap_socket(near, server_side=True))
    with pytest.raises(db.StorageError, match=r"cannot be reached: .*certificate verify failed"):
        names(f"https://{service.host}", "secret")
    assert service.requests() == []
    monkeypatch.setenv("SSL_CERT_FILE", f"{certificate}.crt")
    assert names(f"https://{service.host}", "secret") == ["maïs"]
    with pytest.raises(db.StorageError, match=r"cannot be reached: .*localhost"):
        names(f"https://{service.host.replace('127.0.0.1', 'localhost')}")


def test_compressed_answers_are_read(answering):
    service = answering(head="Content-Encoding: gzip\r\n", body=gzip.compress(NAMES))
    assert names(f"http://{service.host}") == ["maïs"]
    assert "Accept-Encoding: gzip, deflate" in service.requests()[0]


def test_a_name_and_password_of_the_address_are_sent(answering):
    service = answering()
    assert names(f"http://us%40er:pass@{service.host}") == ["maïs"]
    assert "Authorization: Basic dXNAZXI6cGFzcw==" in map(titled, service.requests()[0])


def test_connections_are_kept_and_not_shared_with_a_child(answering):
    server = answering()
    with db.connect(f"http://{server.host}", patience=0) as service:
        for _ in range(3):
            service.study_names()
        child = os.fork()
        if child == 0:
            os._exit(0 if service.study_names() == service.study_names() == ["maïs"] else 1)
        assert exit_code(child) == 0
        service.study_names()
    assert sorted(map(len, server.connections)) == [2, 4]


def test_threads_share_a_client(answering):
    server = answering()
    with db.connect(f"http://{server.host}", patience=0) as service, ThreadPoolExecutor(20) as threads:
        assert list(threads.map(lambda _: service.study_names(), range(200))) == [["maïs"]] * 200
    assert len(server.requests()) == 200
    assert len(server.connections) <= 20


def test_an_answer_may_take_longer_than_connecting(answering):
    """With a tenth of each wait: 1 s for a connection, 15 s for the answer, which comes after 1.2 s."""
    waits = Waits(connection=WAITS.connection / 10, response=WAITS.response / 10)
    server = answering(delay=partial(time.sleep, 1.2))
    line = Connection(f"http://{server.host}", None, 0.0, waits)
    assert line.get("studies") == {"studies": ["maïs"]}
    line.close()


@pytest.mark.slow
def test_an_answer_may_take_12_seconds(answering):
    assert names(f"http://{answering(delay=partial(time.sleep, 12.0)).host}") == ["maïs"]


@pytest.mark.parametrize(("path", "attempts"), [("plan", 1), ("replay", 1), ("studies", 2)])
def test_what_takes_long_is_not_sent_again(answering, path, attempts):
    """The first attempt may still be running, and another one would take as long."""
    over = threading.Event()
    slow = answering(delay=lambda: over.wait(60) if len(slow.requests()) == 1 else None)
    line = Connection(f"http://{slow.host}", None, 60.0, Waits(response=0.3))
    with nullcontext() if attempts > 1 else pytest.raises(db.StorageError, match="broke off: timed out"):
        assert line.get(path) == {"studies": ["maïs"]}
    over.set()
    assert len(slow.requests()) == attempts
    line.close()


def test_a_plan_that_takes_too_long_for_a_proxy_is_not_sent_again(answering):
    proxy = answering(status="504 Gateway Timeout")
    with db.connect(f"http://{proxy.host}") as service, pytest.raises(db.StorageError, match="a proxy answered 504"):
        service.plan(baseline=0.1, lift=0.1)
    assert len(proxy.requests()) == 1


def test_what_was_closed_is_not_tried_again(answering):
    service = db.connect(f"http://{answering().host}")
    service.close()
    with pytest.raises(ClosedPoolError):
        service.study_names()
