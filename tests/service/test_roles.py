"""Keys that are limited to some studies."""

from pathlib import Path

import httpx
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.service.guard import COOKIE
from dirichlet_bandits.service.keys import add_key
from tests.service.requests import READS, WRITES
from tests.service.running import Forked

SECRET = "no study 'secret'"


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A service whose keys have roles for some studies, and clients of them."""
    folder = tmp_path_factory.mktemp("roles")
    keys = Path(folder) / "keys.txt"
    roles = {
        "field": add_key(keys, "field", "write", ["maize*", "wheat=read"]),
        "boss": add_key(keys, "boss", "manage", ["maize*"]),
        "teller": add_key(keys, "teller", "write"),
    }
    running = Forked(folder)
    running.keys = roles
    with running.connect() as all_studies:
        for name in ("maize", "wheat", "secret"):
            all_studies.create_study(name, arms=["a", "b"], seed=1).ask()
        renamed = all_studies.create_study("secret too", arms=["a", "b"], seed=1)
        renamed.rename("maize 3")
    yield running
    running.stop()


def test_a_key_for_one_study_cannot_tell_whether_another_one_exists(limited):
    known = {"study": "maize"}
    with limited.http(limited.keys["field"]) as client:
        assert client.get("/api/studies").json() == {"studies": ["maize", "wheat", "maize 3"]}
        for path in (*READS, "identity", "events", "audit_log"):
            there, nowhere = (client.get(f"/api/{path}", params={"study": name}) for name in ("secret", "nowhere"))
            assert (there.status_code, there.json()["error"]) == (404, SECRET), path
            assert there.text.replace("secret", "nowhere") == nowhere.text
            assert client.get(f"/api/{path}", params=known).status_code == 200
        for path, body in WRITES.items():
            there, nowhere = (
                client.post(f"/api/{path}", params={"study": name}, json={**body, "confirm": name})
                if path == "delete"
                else client.post(f"/api/{path}", params={"study": name}, json=body)
                for name in ("secret", "nowhere")
            )
            assert there.status_code in (403, 404), path
            assert there.text.replace("secret", "nowhere") == nowhere.text
        acts = (
            client.get("/api/audit_log").json()["audit_log"]
            + client.get("/api/audit_log", params={"study": "maize 3"}).json()["audit_log"]
        )
        assert {act["study"] for act in acts} == {"maize", "wheat"}
    with httpx.Client(base_url=limited.url, cookies={COOKIE: limited.keys["field"]}) as page:
        assert "secret" not in page.get("/").text + page.get("/audit_log").text
        for path in ("/study", "/study/live", "/study/series", "/study/trials", "/study/trial", "/study/history"):
            there, nowhere = (page.get(path, params={"name": name, "id": 0}) for name in ("secret", "nowhere"))
            assert (there.status_code, there.text.replace("secret", "nowhere")) == (404, nowhere.text)


def test_a_key_has_its_role_in_each_study(limited):
    with limited.connect(limited.keys["field"]) as field:
        maize, wheat = field.load_study("maize"), field.load_study("wheat")
        maize.tell(maize.ask(), 1.0)
        assert maize.events()[0].actor == "field"
        for act, words in (
            (wheat.ask, "may only read"),
            (lambda: maize.rename("maize 2"), "ask and tell, but not manage"),
            (lambda: field.create_study("maize 4", arms=["a", "b"]), "ask and tell, but not manage"),
        ):
            with pytest.raises(db.AccessError, match=words):
                act()
    with limited.connect(limited.keys["teller"]) as teller:
        assert teller.load_study("secret").ask().id == 1
        with pytest.raises(db.AccessError, match="not manage"):
            teller.load_study("secret").set_floor(0.1)
    with limited.connect(limited.keys["boss"]) as boss:
        study = boss.create_study("maize 5", arms=["a", "b"])
        for name in ("secret", "nowhere"):  # taken or not
            with pytest.raises(db.AccessError, match="may not create a study of this name"):
                study.rename(name)
            with pytest.raises(db.AccessError, match="may not create a study of this name"):
                boss.create_study(name, arms=["a", "b"], load_if_exists=True)
        study.rename("maize 6")
        boss.delete_study("maize 6", confirm="maize 6")


def test_a_repeated_call_does_not_tell_a_name_that_the_key_may_not_read(limited):
    """The boss may manage maize alone; the operator renames the boss's studies to a name outside of that."""
    body = {"name": "maize 7", "arms": ["a", "b"], "token": "mine"}
    with limited.http(limited.keys["boss"]) as boss, limited.connect() as operator:
        made = boss.post("/api/studies", json=body).json()
        which, new = {"study": "maize 7", "identity": made["identity"]}, {"name": "maize 8", "token": "mine"}
        assert boss.post("/api/rename", params=which, json=new).json()["name"] == "maize 8"
        operator.load_study("maize 8").rename("secret 8")
        for path, params, sent in (("studies", {}, body), ("rename", which, new)):
            answer = boss.post(f"/api/{path}", params=params, json=sent)
            assert (answer.status_code, answer.json()["error"]) == (404, "no study 'maize 7' any more"), path
        operator.delete_study("secret 8", confirm="secret 8")


def test_pages_offer_what_a_key_may_do(limited):
    offered = {"field": (True, False), "boss": (True, True)}
    for name, (writes, manages) in offered.items():
        with httpx.Client(base_url=limited.url, cookies={COOKIE: limited.keys[name]}) as page:
            shown = page.get("/study", params={"name": "maize"}).text
            assert ('action="/ask"' in shown, 'action="/delete"' in shown) == (writes, manages)
            assert ('href="/new"' in page.get("/").text) == manages
            answer = page.post("/archive", data={"name": "maize"})
            assert answer.status_code == (303 if manages else 403)
    with httpx.Client(base_url=limited.url, cookies={COOKIE: limited.keys["field"]}) as page:
        shown = page.get("/study", params={"name": "wheat"}).text
        assert ('action="/tell"' in shown, 'class="todo"' in shown, 'class="advice"' in shown) == (False, False, True)
        assert page.post("/ask", data={"name": "wheat", "token": "t"}).status_code == 403
        assert page.post("/ask", data={"name": "secret", "token": "t"}).status_code == 404
