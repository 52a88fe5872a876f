"""Studies whose stored data cannot be read: the service names them, and serves all others."""

import sqlite3
from contextlib import closing

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from tests.service.requests import refused
from tests.service.running import Forked, until_stopped

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")

DAMAGE = {  # what happened to a study, and what is said about it
    "newer event": ("UPDATE bandit_events SET kind = 99 WHERE study = {id} AND number = 2", "unknown to this version"),
    "missing event": ("DELETE FROM bandit_events WHERE study = {id} AND number = 1", "event 1 of the study is missing"),
    "settings": ("UPDATE bandit_studies SET settings = '{{' WHERE id = {id}", "is damaged"),
    "no policy": ("UPDATE bandit_studies SET settings = '{{}}' WHERE id = {id}", "is damaged: KeyError('arms')"),
    "newer policy": (
        "UPDATE bandit_studies SET settings = replace(settings, '\"rho\"', '\"new\"') WHERE id = {id}",
        "perhaps it is of a newer version",
    ),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    storage = f"sqlite:///{folder}/studies.db"
    for name in (*DAMAGE, "sound"):
        study = db.create_study(name, arms=["a", "b"], storage=storage, seed=1)
        study.ask()
        local_of(study).storage.close()
    with closing(sqlite3.connect(folder / "studies.db")) as file:
        for id, (statement, _) in enumerate(DAMAGE.values(), 1):
            assert file.execute(statement.format(id=id)).rowcount == 1
        file.commit()
    yield from until_stopped(Forked(folder))


@pytest.mark.parametrize("name", DAMAGE)
def test_the_study_is_named_and_the_storage_is_not_blamed(service, name):
    words = DAMAGE[name][1]
    with service.http(service.write) as web:
        for answer in (
            web.post("/api/ask", params={"study": name}, json={}),
            web.get("/api/summary", params={"study": name}),
        ):
            said = refused(answer, 500)
            assert said["kind"] == "FormatError"
            assert said["error"].startswith(f"the study '{name}' ")
            assert words in said["error"]
            assert "cannot be used" not in said["error"]
            assert "studies.db" not in said["error"]
    with service.connect() as studies:
        with pytest.raises(db.FormatError, match=f"the study '{name}' "):
            studies.load_study(name)
        assert len(studies.load_study("sound")) == 1


def test_a_file_that_is_no_database_is_not_named(tmp_path):
    running = Forked(tmp_path)
    try:
        with running.connect() as studies:
            study = studies.create_study("s", arms=["a", "b"])
            path = tmp_path / "studies.db"
            with path.open("r+b") as file:
                file.write(b"no database" * 1000)
            path.rename(tmp_path / "moved.db")  # so that it is opened again
            path.write_bytes((tmp_path / "moved.db").read_bytes())
            for left in tmp_path.glob("studies.db-*"):
                left.unlink()
            with pytest.raises(db.FormatError, match=r"^the storage is damaged"):
                study.ask()
        assert "studies.db' is not a readable database" in running.log.read_text()
    finally:
        running.stop()
