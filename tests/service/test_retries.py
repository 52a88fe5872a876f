"""A client whose answers are lost sends again, and undoes nothing of what others did; studies that are replaced."""

import asyncio
import json
import logging

import httpx
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.service.app import create_app
from dirichlet_bandits.storage import MemoryStorage
from tests.service.test_client import Lossy

ARMS = ["a", "b", "c"]

RETRIES = {  # what a client does, and what others do between its two attempts
    "tell": (lambda s: s.tell(2, 1.0), lambda s: s.correct(2, 2.0)),
    "tell_many": (lambda s: s.tell_many([2], [1.0]), lambda s: s.void(2, "theirs")),
    "reopen": (lambda s: s.reopen(2), lambda s: s.abandon(2)),
    "abandon": (lambda s: s.abandon(2), lambda s: s.annotate(2, note="theirs")),
    "void": (lambda s: s.void(0, "mine"), lambda s: s.correct(0, 5.0)),
    "correct": (lambda s: s.correct(0, 6.0), lambda s: s.correct(0, 5.0)),
    "annotate": (lambda s: s.annotate(0, note="mine"), lambda s: s.annotate(0, note="theirs")),
    "add_arm": (lambda s: s.add_arm("d"), lambda s: s.retire_arm("d")),
    "retire_arm": (lambda s: s.retire_arm("b"), lambda s: s.add_arm("b")),
    "set_floor": (lambda s: s.set_floor(0.1), lambda s: s.set_floor({"a": 0.2})),
    "archive": (lambda s: s.archive(), lambda s: s.unarchive()),
    "add_trials": (lambda s: s.add_trials({"arm": ["a"], "reward": [1.0]}), lambda s: s.correct(3, 5.0)),
}


def log(study):
    return (
        study.trials_dataframe().drop(columns=["asked_at", "ended_at"]).to_json(),
        study.arms,
        study.floor,
        study.archived,
    )


@pytest.mark.parametrize("verb", RETRIES)
def test_a_retry_undoes_nothing(service, studies, verb):
    act, others = RETRIES[verb]
    name = f"retried {verb}"
    study = studies.create_study(name, arms=ARMS, seed=1)
    study.tell_many([0, 1], [float(trial.id) for trial in study.ask(3)][:2])
    found = []

    def meanwhile(path):
        if path == verb:
            others(studies.load_study(name))
            found.append(log(studies.load_study(name)))

    lossy = Lossy(service.port, 1, meanwhile)
    with db.connect(lossy.url, service.write) as line:
        act(line.load_study(name))
    assert found == [log(studies.load_study(name))]
    lossy.door.close()


@pytest.mark.parametrize("others", ["nothing", "take the old name", "rename back", "rename again"])
def test_a_retried_rename(service, studies, others):
    old, new = f"old, {others}", f"new, {others}"
    made = studies.create_study(old, arms=ARMS, seed=1)

    def meanwhile(path):
        if path == "rename" and others == "take the old name":
            studies.create_study(old, arms=ARMS, seed=1)
        elif path == "rename" and others != "nothing":
            studies.load_study(new).rename(old if others == "rename back" else f"newer, {others}")

    lossy = Lossy(service.port, 1, meanwhile)
    with db.connect(lossy.url, service.write) as line:
        study = line.load_study(old)
        study.rename(new)
        now = {"rename back": old, "rename again": f"newer, {others}"}.get(others, new)
        assert (study.name, study.ask().id) == (now, 0)  # the client knows how the study is called now
    assert studies.load_study(now).identity == made.identity
    lossy.door.close()


@pytest.mark.parametrize("others", ["rename", "delete"])
def test_a_retried_creation(service, studies, others):
    name, newer = f"created, {others}", f"newer, {others}"

    def meanwhile(path):
        if path == "studies":
            studies.load_study(name).rename(newer)
            if others == "delete":
                studies.delete_study(newer, confirm=newer)

    lossy = Lossy(service.port, 1, meanwhile)
    with db.connect(lossy.url, service.write) as line:
        if others == "rename":
            study = line.create_study(name, arms=ARMS, seed=1)
            assert (study.name, study.ask().id) == (newer, 0)
        else:
            with pytest.raises(db.ConflictError, match=f"'{name}' was created with token .* and has been deleted"):
                line.create_study(name, arms=ARMS, seed=1)
    assert name not in studies.study_names()
    lossy.door.close()


def test_a_retried_delete_leaves_the_next_study_of_the_name_alone(service, studies):
    studies.create_study("x", arms=ARMS, seed=1)

    def meanwhile(path):
        if path == "delete":
            again = studies.create_study("x", arms=ARMS, seed=1)
            again.tell_many(range(5), [float(trial.id) for trial in again.ask(5)])

    lossy = Lossy(service.port, 1, meanwhile)
    with db.connect(lossy.url, service.write) as line:
        line.delete_study("x", confirm="x")
    assert studies.load_study("x").summary()["told"].sum() == 5
    lossy.door.close()


def test_a_study_that_was_replaced_behind_the_service_is_loaded_again(service, studies, web):
    """By the command line, say; with the same seed and policy, so that only the identity tells them apart."""
    study = studies.create_study("replaced", arms=ARMS, seed=1, control="a")
    study.ask(3)
    assert web.get("/api/summary", params={"study": "replaced"}).status_code == 200
    for arms in (["x", "y", "z"], ["u", "v", "w"]):
        db.delete_study("replaced", service.storage, confirm="replaced")
        with pytest.raises(db.NotFoundError, match="no study 'replaced'"):
            studies.load_study("replaced")
        made = db.create_study("replaced", arms=arms, storage=service.storage, seed=1, control=arms[0])
        made.ask(2)
        if arms[0] == "x":  # the first request that meets the new study may be one to write, of a program or a page
            assert web.post("/api/ask", params={"study": "replaced"}, json={"n": 1}).status_code == 200
        else:
            form = {"name": "replaced", "identity": made.identity, "token": "page", "n": "1"}
            assert web.post("/ask", data=form).status_code == 303
        for path in ("summary", "trials", "study", "pending", "replay", "propensities"):
            assert web.get(f"/api/{path}", params={"study": "replaced"}).status_code == 200, path
        assert "replaced" in web.get("/").text
        page = web.get("/study", params={"name": "replaced"})
        assert page.status_code == 200
        assert made.identity in page.text
        fresh = studies.load_study("replaced")
        assert (fresh.control, fresh.arms, len(fresh)) == (arms[0], arms, 3)
        for act in (study.ask, study.summary, study.trials_dataframe, lambda: study.tell(0, 1.0), study.archive):
            with pytest.raises(db.ConflictError, match="was replaced by another one of this name: load it again"):
                act()
        form = {"name": "replaced", "identity": study.identity, "id": 0, "reward": 1}
        assert web.post("/tell", data=form).status_code == 409
        assert len(fresh.pending) == 3
        assert web.post("/tell", data={**form, "identity": fresh.identity}).status_code == 303
        assert len(fresh.pending) == 2
        local_of(made).storage.close()


def test_a_study_that_was_made_again_through_another_service(service, studies):
    study = studies.create_study("elsewhere", arms=ARMS, seed=1)
    study.ask()
    db.delete_study("elsewhere", service.storage, confirm="elsewhere")
    made = studies.create_study("elsewhere", arms=["x", "y"], seed=1)
    assert (made.arms, len(made), made.ask().id) == (["x", "y"], 0, 0)


def test_one_study_that_fails_does_not_take_the_home_page_with_it(monkeypatch, caplog):
    storage = MemoryStorage()
    for name in ("good", "bad"):
        db.create_study(name, arms=ARMS, storage=storage).ask()
    app = create_app(storage, None)
    whole = db.Study.summary

    def summary(study, *given):
        if study.name == "bad":
            raise ZeroDivisionError("as any mistake of ours would")
        return whole(study, *given)

    monkeypatch.setattr(db.Study, "summary", summary)

    async def home():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get("/")

    for name in ("uvicorn", "uvicorn.error"):  # a server that ran in this process may have set them up
        monkeypatch.setattr(logging.getLogger(name), "propagate", True)
    with caplog.at_level(logging.ERROR):
        page = asyncio.run(home())
    assert page.status_code == 200
    assert page.text.count("it cannot be shown; see the service&#39;s log for the reason") == 1
    assert "good" in page.text
    assert "the study 'bad' cannot be shown" in caplog.text


def test_attributes_arrive_as_given(studies):
    study = studies.create_study("attributes", arms=ARMS)
    given = {"plot": 9007199254740993, "field": "007", "share": 7.0, "dry": True, "none": None}
    study.tell(study.ask(), 1.0, attributes=given)
    stored = json.loads(study.trials_dataframe()["attributes"][0])
    assert [(key, type(value)) for key, value in sorted(stored.items())] == [
        (key, type(value)) for key, value in sorted(given.items()) if value is not None
    ]
    assert stored["plot"] == 9007199254740993


def test_the_page_of_a_trial_shows_its_whole_history(studies, web):
    study = studies.create_study("history", arms=ARMS)
    study.tell(study.ask(), 31.5)
    study.correct(0, 3.25, "<b>a digit</b> too many")
    study.correct(0, 4.75)
    study.void(0, "the wrong plot")
    page = web.get("/study/trial", params={"name": "history", "id": 0}).text
    places = [
        page.index(text) for text in (">void<", "the wrong plot", ">4.75<", "&lt;b&gt;a digit", ">31.5<", ">ask<")
    ]
    assert places == sorted(places)  # newest first
    assert page.count('data-title="Key" class="text">write</td>') == 5
    row = web.get("/api/trials", params={"study": "history"}).json()["trials"][0]
    assert [past["reward"] for past in json.loads(row["revisions"])] == [31.5, 3.25, 4.75, None]
