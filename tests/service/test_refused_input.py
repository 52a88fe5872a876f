"""Names, rewards and bodies that make no sense are refused and leave nothing behind."""

import asyncio
import json

import pytest

from dirichlet_bandits.service.app import create_app
from dirichlet_bandits.service.guard import LARGEST_BODY
from dirichlet_bandits.storage import open_storage
from tests.service.requests import READS, WRITES, refused


@pytest.mark.parametrize("name", ["", "x" * 201, "a\x00b", "a\nb", " ", "\u202e", "\ud800"])
def test_names_that_nobody_can_read_are_refused(web, everything, name):
    before = everything()
    body = json.dumps({"name": name, "arms": ["a", "b"]})
    refused(web.post("/api/studies", content=body, headers={"Content-Type": "application/json"}), 422, "name")
    body = json.dumps({"name": "fine", "arms": ["a", name]})
    refused(web.post("/api/studies", content=body, headers={"Content-Type": "application/json"}), 422, "arms[1]")
    assert everything() == before


@pytest.mark.parametrize(
    ("reward", "status"),
    [
        ("NaN", 422),
        ("Infinity", 422),
        ("-Infinity", 422),
        ("1e999", 422),
        ("1" + "0" * 400, 422),
        ('"1.5"', 422),
        ('""', 422),
        ("true", 422),
        ("null", 422),
        ("[1.0]", 422),
        ("{}", 422),
        ("1" * 5000, 400),
    ],
)
def test_rewards_that_are_no_numbers_are_refused(web, target, everything, reward, status):
    before = everything()
    headers = {"Content-Type": "application/json"}
    for path, body in (
        ("tell", f'{{"id": 2, "reward": {reward}}}'),
        ("tell_many", f'{{"ids": [2], "rewards": [{reward}]}}'),
    ):
        answer = web.post(f"/api/{path}", params={"study": target.name}, content=body, headers=headers)
        said = refused(answer, status)
        if status == 422:
            assert said["field"].startswith("reward")
    assert everything() == before


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("tell", {"id": 0, "reward": 2.0}, 409, None),
        ("tell", {"id": 1, "reward": 2.0}, 409, None),
        ("tell", {"id": 99, "reward": 2.0}, 404, None),
        ("tell", {"id": 10**30, "reward": 2.0}, 422, "id"),
        ("tell", {"id": -1, "reward": 2.0}, 422, "id"),
        ("tell", {"id": "2", "reward": 2.0}, 422, "id"),
        ("tell", {"id": 2.5, "reward": 2.0}, 422, "id"),
        ("tell", {"id": 2}, 422, "reward"),
        ("tell", {"id": 2, "reward": 1.0, "rewrad": 1.0}, 422, "rewrad"),
        ("tell", [], 422, None),
        ("tell_many", {"ids": [2, 0], "rewards": [1.0, 7.0]}, 409, None),
        ("tell_many", {"ids": [2, 99], "rewards": [1.0, 7.0]}, 404, None),
        ("tell_many", {"ids": [2, 2], "rewards": [1.0, 7.0]}, 409, None),
        ("tell_many", {"ids": [2], "rewards": []}, 422, "rewards"),
        ("abandon", {"id": 0}, 409, None),
        ("abandon", {"id": 99}, 404, None),
        ("ask", {"n": 0}, 422, "n"),
        ("ask", {"n": 10**9}, 422, "n"),
        ("ask", {"n": True}, 422, "n"),
        ("ask", {"token": "a\nb"}, 422, "token"),
        ("add_arm", {"arm": "a"}, 409, None),
        ("add_arm", {"arm": ""}, 422, "arm"),
        ("retire_arm", {"arm": "nobody"}, 404, None),
        ("studies", {"name": "s", "arms": []}, 422, "arms"),
        ("studies", {"name": "s", "arms": ["a", "a"]}, 422, "arms[1]"),
        ("studies", {"name": "s", "arms": ["a", "b"], "policy": "__import__('os')"}, 422, "policy"),
        ("studies", {"name": "s", "arms": ["a", "b"], "policy": "NPTS()"}, 422, "policy"),
        ("studies", {"name": "s", "arms": ["a", "b"], "policy": "(" * 200}, 422, "policy"),
        ("studies", {"name": "s", "arms": ["a", "b"], "seed": -1}, 422, "seed"),
        ("estimate", {"choice": {"policy": "RDX"}}, 422, "choice"),
        ("estimate", {"choice": {"a": "half"}}, 422, "choice['a']"),
        ("estimate", {"choice": {"a": 0.5}}, 422, "choice"),
        ("estimate", {"arm": "a"}, 422, "arm"),
    ],
)
def test_what_makes_no_sense_is_refused(web, target, everything, path, body, status, field):
    before = everything()
    refused(web.post(f"/api/{path}", params={"study": target.name}, json=body), status, field)
    assert everything() == before


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("ask", '{"n": 1, "n": 2}', "n"),
        ("ask", '{"n": 1, "n": 1}', "n"),
        ("tell", '{"id": 2, "reward": 1, "attributes": {"plot": 1, "plot": 2}}', "plot"),
        ("ask", '{"\\u0000": 1, "\\u0000": 2}', "\x00"),
        ("ask", '{"\\ud800": 1, "\\ud800": 2}', "\\ud800"),
        ("estimate", '{"arm": "a", "arm": "b"}', "arm"),  # its route reads only
    ],
)
def test_a_field_that_is_given_twice_is_refused(web, target, everything, path, body, field):
    before = everything()
    headers = {"Content-Type": "application/json"}
    said = refused(web.post(f"/api/{path}", params={"study": target.name}, content=body, headers=headers), 422, field)
    assert "must be given once (got it 2 times)" in said["error"]
    assert everything() == before


def test_unknown_studies_are_not_found(web, everything):
    before = everything()
    for path in READS:
        refused(web.get(f"/api/{path}", params={"study": "nobody's"}), 404)
        refused(web.get(f"/api/{path}"), 422, "study")
    for path, body in list(WRITES.items())[2:]:
        refused(web.post(f"/api/{path}", params={"study": "nobody's"}, json=body), 404)
    refused(web.get("/api/nowhere"), 404)
    refused(web.delete("/api/studies"), 405)
    assert everything() == before


def test_the_same_tell_twice_is_one(web, target, everything):
    body = {"id": 2, "reward": 0.1234375}  # no other study of this service has it
    for _ in range(3):
        assert web.post("/api/tell", params={"study": target.name}, json=body).json() == {"done": True}
    told = [event for event in everything()[1] if 0.1234375 in event]
    assert len(told) == 1


def chunks(size):
    for _ in range(size // 65536 + 2):
        yield b" " * 65536


@pytest.mark.parametrize("path", ["/api/tell", "/tell", "/login"])
@pytest.mark.parametrize("announced", [True, False])
def test_huge_bodies_are_refused(service, target, everything, path, announced):
    before = everything()
    with service.http(service.write) as client:
        content = b" " * (LARGEST_BODY + 1) if announced else chunks(LARGEST_BODY)
        kind = "application/json" if "api" in path else "application/x-www-form-urlencoded"
        answer = client.post(path, params={"study": target.name}, content=content, headers={"Content-Type": kind})
    assert answer.status_code == 413
    assert everything() == before


@pytest.mark.parametrize("path", ["/api/ask", "/api/studies", "/api/plan", "/ask", "/import", "/create"])
@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_client_that_leaves_in_the_middle_of_its_upload_is_no_failure(path, kind):
    """The server would log the traceback of an exception that the app raises."""
    form = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nab'
    arriving = iter([{"type": "http.request", "body": form, "more_body": True}, {"type": "http.disconnect"}])
    sent = []

    async def receive():
        return next(arriving)

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", f"{kind}; boundary=x".encode()), (b"content-length", b"999")]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "headers": headers}
    scope |= {"query_string": b"study=s", "scheme": "http", "http_version": "1.1", "client": ("127.0.0.1", 9)}
    asyncio.run(create_app(open_storage(None), None)({**scope, "server": ("127.0.0.1", 80)}, receive, send))
    assert sent[0]["status"] in (400, 422)


def test_deep_and_broken_bodies_are_refused(web, target, everything):
    before = everything()
    headers = {"Content-Type": "application/json"}
    for content in (b"[" * 100_000, b"{", b"\xff\xfe", b"", b'{"id": 2, "reward": 1', b'{"a":' * 50_000):
        answer = web.post("/api/tell", params={"study": target.name}, content=content, headers=headers)
        assert answer.status_code in (400, 422)
        refused(answer, answer.status_code)
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/xml"):
        answer = web.post("/api/ask", params={"study": target.name}, content=b"{}", headers={"Content-Type": kind})
        refused(answer, 422)
    assert everything() == before
