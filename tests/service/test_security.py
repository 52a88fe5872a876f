"""Nobody gets in, and what is refused leaves nothing behind."""

import re
import socket
import sqlite3
from contextlib import closing

import httpx
import pytest

from dirichlet_bandits.errors import NotFoundError, StorageError
from dirichlet_bandits.service.guard import COOKIE
from dirichlet_bandits.service.keys import add_key, check_key, new_key, read_keys, remove_key
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.storage import MemoryStorage
from tests.service.requests import READS, WRITES, refused
from tests.service.running import Forked, Running

NASTY = [
    "'; DROP TABLE bandit_studies; --",
    '" OR 1=1 --',
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "../../etc/passwd",
    "..",
    ".",
    "/",
    "a/b/../c",
    "%2e%2e%2f",
    "a%00b",
    "a?b=c&d#e",
    "{{ 7 * 7 }}{% raw %}",
    "日本語 🌽",
    "x" * 200,
]
SCRIPT = re.compile("<script.*?</script>", re.DOTALL)
OUR_SCRIPT = re.compile(r'<script src="/static/[\w/.]+" defer></script>')
MORE_PAGES = ("/study/log", "/study/history", "/study/import", "/new", "/plan", "/phone", "/audit_log")


def every_request(client, name):
    for path in READS:
        yield client.get(f"/api/{path}", params={"study": name})
    yield client.get("/api/studies")
    yield client.post("/api/estimate", params={"study": name}, json={"choice": "a"})
    for path, body in WRITES.items():
        yield client.post(f"/api/{path}", params={"study": name}, json=body)


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer wrong", "Basic d3JpdGU6", "Bearer \xe9", "WRITE", "HASH"],
)
def test_without_a_key_nothing(service, target, everything, header):
    if header == "WRITE":
        header = service.write  # the key without the word before it
    if header == "HASH":
        header = "Bearer " + next(key.hash for key in read_keys(service.log.parent / "keys.txt"))
    before = everything()
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    with httpx.Client(base_url=service.url, headers=headers) as client:
        for answer in every_request(client, target.name):
            refused(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
        refused(client.post("/api/nowhere"), 401)
        refused(client.post("/api/tell", content=b"{", headers={"Content-Type": "application/json"}), 401)
    assert everything() == before


def test_a_key_to_read_cannot_write(service, target, everything):
    before = everything()
    with service.http(service.read) as client:
        statuses = [answer.status_code for answer in every_request(client, target.name)]
    assert statuses == [200] * (len(READS) + 2) + [403] * len(WRITES)
    assert everything() == before


def test_a_program_cannot_use_the_cookie_and_a_page_cannot_be_sent_from_elsewhere(service, target, everything):
    before = everything()
    with httpx.Client(base_url=service.url, cookies={COOKIE: service.write}) as client:
        refused(client.post("/api/ask", params={"study": target.name}, json={}), 401)
        for origin in ("http://evil.example", "null", f"http://evil.example:{service.port}"):
            answer = client.post("/ask", data={"name": target.name, "token": "t"}, headers={"Origin": origin})
            assert answer.status_code == 403
        for site in ("cross-site", "same-site"):  # also where a browser leaves the origin out
            answer = client.post("/ask", data={"name": target.name, "token": "t"}, headers={"Sec-Fetch-Site": site})
            assert answer.status_code == 403
        answer = client.get("/", headers={"Sec-Fetch-Site": "cross-site"})  # a link from elsewhere
        assert answer.status_code == 200
    with service.http(service.write) as client:
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            refused(client.post("/api/ask", params={"study": target.name}, json={}, headers=headers), 403)
    assert everything() == before
    with httpx.Client(base_url=service.url, cookies={COOKIE: service.write}) as client:
        headers = {"Origin": service.url, "Sec-Fetch-Site": "same-origin"}  # our own page
        assert client.post("/ask", data={"name": target.name, "token": "t"}, headers=headers).status_code == 303


def test_pages_need_a_key_too(service, target, everything):
    before = everything()
    with httpx.Client(base_url=service.url) as client:
        for path in ("/", "/study", "/study/live", "/study/series", "/study/trials", "/study/trial", *MORE_PAGES):
            answer = client.get(path, params={"name": target.name, "format": "csv", "id": 0})
            assert (answer.status_code, answer.headers["location"]) == (303, "/login")
        fields = {
            "name": target.name,
            "token": "t",
            "id": "2",
            "reward": "1",
            "arm": "b",
            "action": "retire",
            "arms": "a",
            "reason": "r",
            "note": "n",
        }
        writes = (
            "/ask",
            "/tell",
            "/abandon",
            "/reopen",
            "/void",
            "/correct",
            "/annotate",
            "/winner",
            "/arms",
            "/create",
            "/floor",
            "/rename",
            "/archive",
            "/delete",
            "/guide",
            "/plan",
            "/new/file",
            "/import",
            "/import/rows",
        )
        for path in writes:
            assert client.post(path, data=fields).headers["location"] == "/login"
        assert client.post("/login", data={"key": "wrong"}).status_code == 401
        answer = client.post("/login", data={"key": service.read})
        cookie = answer.headers["set-cookie"]
        assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
        assert client.get("/").status_code == 200
        for path in writes:
            assert client.post(path, data=fields).status_code == 403
        for path in ("/study", "/study/trial"):
            assert "<form" not in client.get(path, params={"name": target.name, "id": 0}).text.split("<main")[1]
    assert everything() == before


def test_names_are_data(service, studies, web, everything):
    tables = len(everything())
    with service.http() as pages:
        pages.post("/login", data={"key": service.write})
        for name in NASTY:
            study = studies.create_study(name, arms=[name, "other"], seed=1)
            trial = study.ask(2)[0]
            study.tell(trial.id, 1.0)
            assert studies.load_study(name).arms == [name, "other"]
            assert web.get("/api/study", params={"study": name}).json()["name"] == name
            assert study.trials_dataframe()["arm"].isin([name, "other"]).all()
            study.correct(trial.id, 2.0, name)
            study.annotate(trial.id, note=name, attributes={name: name})
            known = {"name": name, "id": trial.id, "arm": name, "q": name}
            for path in ("/", "/study", "/study/live", "/study/trials", "/study/trial"):
                page = pages.get(path, params=known)
                assert page.status_code == 200
                assert "<script>alert" not in page.text
                assert "<img" not in page.text
                assert "7 * 7" in page.text or "{{" not in name
    assert set(NASTY) <= set(studies.study_names())
    assert len(everything()) == tables


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/....//app.py",
        "/static//etc/passwd",
        "/static/..\\app.py",
        "/../../etc/passwd",
        "/study/../../keys.txt",
        "/static/",
        "/api/../openapi.json/x",
    ],
)
def test_paths_lead_nowhere(service, path):
    """Sent as they are: a client would tidy them up."""
    with socket.create_connection(("127.0.0.1", service.port)) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while chunk := line.recv(65536):
            answer += chunk
    status = int(answer.split()[1])
    assert status in (303, 401, 404), answer
    assert b"create_app" not in answer
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "path", ["/", "/study", "/study/", "/docs/", "/static", "/static/", "/login/", "/api/studies/"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_redirect_leads_to_a_foreign_host(service, method, path):
    with httpx.Client(base_url=service.url, headers={"Host": "evil.example"}) as client:
        answer = client.request(method, path)
    assert answer.headers.get("location", "/login") == "/login"


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_where_the_storage_is_stays_in_the_log(tmp_path):
    service = Forked(tmp_path)
    try:
        with service.connect() as studies, closing(sqlite3.connect(tmp_path / "studies.db")) as file:
            study = studies.create_study("s", arms=["a", "b"], seed=1)
            file.execute("DROP TABLE bandit_events")
            with pytest.raises(StorageError, match="the storage cannot be used, nothing was written"):
                study.ask()
        with service.http(service.write) as client:
            said = refused(client.post("/api/ask", params={"study": "s"}, json={}), 503)
            assert said["kind"] == "StorageError"
            page = client.post("/create", data={"name": "t", "arm": ["a", "b"]})
            assert page.status_code == 503
            assert "nothing was written" in page.text
            for shown in (said["error"], page.text):
                assert "studies.db" not in shown
                assert "bandit_events" not in shown
        assert "studies.db' failed, nothing was written: no such table: bandit_events" in service.log.read_text()
    finally:
        service.stop()


def test_answers_are_safe_to_show(service, target):
    with service.http() as client:
        client.post("/login", data={"key": service.write})
        for path in (
            "/",
            f"/study?name={target.name}",
            "/docs",
            "/openapi.json",
            "/static/style.css",
            "/study?name=no",
            "/static/vendor/uPlot.iife.min.js",
        ):
            headers = client.get(path).headers
            assert headers["content-security-policy"].startswith("default-src 'self'")
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == ("no-cache" if path.startswith("/static/") else "no-store")
            assert "server" not in headers
        for path in ("/", "/study", "/study/trials", "/study/trial", "/docs"):
            page = client.get(path, params={"name": target.name, "id": 0}).text
            assert "style=" not in page
            assert "<style" not in page
            assert "//" not in page.replace("http://127.0.0.1:8000", "")  # but for the address in the examples
            loaded = re.findall(r'(?:src|href|action)="([^"]*)"', page)
            assert loaded
            assert all(re.match("[/#](?!/)", place) for place in loaded)
            assert all(OUR_SCRIPT.fullmatch(script) for script in SCRIPT.findall(page))


def test_a_password_in_the_storage_stays_there():
    storage = MemoryStorage()
    storage.url = "postgresql+psycopg://user:secret@host/database"
    with pytest.raises(NotFoundError) as refusal:
        OpenStudies(storage).study("x")
    assert "secret" not in str(refusal.value)


def test_the_keys_file_holds_no_key(tmp_path):
    path = tmp_path / "keys.txt"
    secrets = [add_key(path, f"key {k}", scope) for k, scope in enumerate(["read", "write", "read"])]
    text = path.read_text()
    assert not any(secret in text or secret[3:] in text for secret in secrets)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [check_key(secret, read_keys(path)).scope for secret in secrets] == ["read", "write", "read"]
    remove_key(path, "key 1")
    assert [check_key(secret, read_keys(path)) is None for secret in secrets] == [False, True, False]
    assert len({new_key("a", "read")[0] for _ in range(100)}) == 100


def test_an_open_service_is_for_this_machine_only(tmp_path):
    service = Running(tmp_path, keyed=False)
    try:
        with httpx.Client(base_url=service.url) as client:
            assert client.get("/api/studies").json() == {"studies": []}
            assert client.post("/api/studies", json={"name": "s", "arms": ["a", "b"]}).status_code == 201
            for host in ("evil.example", f"evil.example:{service.port}", "127.0.0.1.evil.example", "[::1", ""):
                refused(client.get("/api/studies", headers={"Host": host}), 403)
            refused(client.post("/api/ask?study=s", json={}, headers={"Origin": "http://evil.example"}), 403)
            assert len(service.stored("s")) == 2
            for key in ("%C3%A9", "%ff", "%F0%9F%8C%BD", "%ed%a0%80"):  # no key is needed here, whatever is typed
                headers = {"Content-Type": "application/x-www-form-urlencoded"}
                answer = client.post("/login", content=f"key={key}", headers=headers)
                assert (answer.status_code, answer.headers["location"]) == (303, "/")
    finally:
        service.stop()
