"""Renames and creations whose responses were lost: repeated with their token, whatever others have done since."""

import itertools
import shutil
import time
import uuid
from pathlib import Path
from typing import NamedTuple

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.service.wire import Line
from dirichlet_bandits.storage import MemoryStorage, open_storage
from tests.service.requests import refused
from tests.service.running import Forked, until_stopped
from tests.storage.conftest import fresh_url

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
SETTINGS = {"arms": ["a", "b"], "policy": "UCB1(sigma=1)", "seed": 1}


class Here:
    """A storage."""

    def __init__(self, storage):
        self.storage, self.mine = storage, uuid.uuid4().hex

    def create(self, name, token=None, **settings):
        return db.create_study(name, **SETTINGS, **settings, storage=self.storage, token=token)

    def load(self, name):
        return db.load_study(name, self.storage)

    def delete(self, name):
        db.delete_study(name, self.storage, confirm=name)

    def names(self):
        return db.study_names(self.storage) + db.study_names(self.storage, archived=True)

    def close(self):
        if not isinstance(self.storage, MemoryStorage):
            self.storage.close()


class There:
    """A service."""

    def __init__(self, service):
        self.service = service
        self.mine = uuid.uuid4().hex  # a token: the service remembers those of other tests
        self.line = Line(service.url, service.write, 0.0)
        self.studies = service.connect(patience=0)

    def create(self, name, token=None, **settings):
        body = {"name": name, **SETTINGS, **settings, "token": token}
        return db.RemoteStudy(self.line, self.line.post("studies", body))

    def load(self, name):
        return self.studies.load_study(name)

    def delete(self, name):
        self.studies.delete_study(name, confirm=name)

    def names(self):
        return self.studies.study_names() + self.studies.study_names(archived=True)

    def close(self):
        for name in self.names():
            self.delete(name)
        self.line.close()
        self.studies.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    yield from until_stopped(Forked(tmp_path_factory.mktemp("repeated")))


@pytest.fixture
def there(service):
    made = There(service)
    yield made
    made.close()


@pytest.fixture(params=["memory", "sqlite", "postgresql", "http"])
def place(request, tmp_path):
    if request.param == "http":
        yield request.getfixturevalue("there")
        return
    url = None if request.param == "memory" else fresh_url(request.param, request, tmp_path)
    made = Here(MemoryStorage() if url is None else open_storage(url, create=True))
    yield made
    made.close()


class Fate(NamedTuple):
    """What others do after the first attempt, the names of all studies then, and that of the first study."""

    others: object
    names: set
    name: str | None


def renamed(place, *names):
    """Rename a study again and again."""
    for old, new in itertools.pairwise(names):
        place.load(old).rename(new)


RENAMED = {  # after a rename from "old" to "new"
    "nothing": Fate(lambda p: None, {"new"}, "new"),
    "archived": Fate(lambda p: p.load("new").archive(), {"new"}, "new"),
    "renamed back": Fate(lambda p: renamed(p, "new", "old"), {"old"}, "old"),
    "renamed again": Fate(lambda p: renamed(p, "new", "newer"), {"newer"}, "newer"),
    "old name taken": Fate(lambda p: p.create("old"), {"old", "new"}, "new"),
    "new name taken": Fate(lambda p: [renamed(p, "new", "old"), p.create("new")], {"old", "new"}, "old"),
    "both taken": Fate(
        lambda p: [renamed(p, "new", "newer"), p.create("old"), p.create("new")], {"old", "new", "newer"}, "newer"
    ),
    "deleted": Fate(lambda p: p.delete("new"), set(), None),
    "deleted, old name taken": Fate(lambda p: [p.delete("new"), p.create("old")], {"old"}, None),
    "deleted, new name taken": Fate(lambda p: [p.delete("new"), p.create("new")], {"new"}, None),
}


@pytest.mark.parametrize("fate", RENAMED)
def test_a_repeated_rename_changes_nothing_and_finds_the_study(place, fate):
    others, names, name = RENAMED[fate]
    made = place.create("old")
    heard, unheard = place.load("old"), place.load("old")  # one got the response, the other did not
    heard.rename("new", token=place.mine)
    assert heard.name == "new"
    others(place)
    before = {name: place.load(name).events() for name in names}
    for study in (heard, unheard):
        for _ in range(2):
            if name is None:
                with pytest.raises((db.NotFoundError, db.ConflictError), match=r"no study|was replaced by another one"):
                    study.rename("new", token=place.mine)
            else:
                study.rename("new", token=place.mine)
                assert study.name == name
                assert study.events() == before[name]  # which asks for the study by its name
    assert set(place.names()) == names
    assert {name: place.load(name).events() for name in names} == before
    if name is not None:
        assert place.load(name).identity == made.identity
        with pytest.raises(db.ConflictError, match=f"token '{place.mine}' was used for another call"):
            heard.rename("elsewhere", token=place.mine)


@pytest.mark.parametrize("use", ["tell", "rename", "creation"])
def test_a_token_that_the_target_knows_is_not_that_of_another_study(place, use):
    study, theirs = place.create("old"), place.create("theirs", token=place.mine if use == "creation" else None)
    trial = theirs.ask()
    theirs.tell(trial, 1.0, token=place.mine if use == "tell" else None)
    theirs.rename("new", token=place.mine if use == "rename" else None)
    for _ in range(2):
        with pytest.raises(db.ConflictError, match="there is a study 'new'"):
            study.rename("new", token=place.mine)
        assert (study.name, set(place.names())) == ("old", {"old", "new"})
    place.delete("new")
    study.rename("new", token=place.mine)  # a refused call left its token free
    assert (study.name, place.names()) == ("new", ["new"])
    assert place.load("new").identity == study.identity


def test_a_rename_that_others_forestalled_is_not_taken_for_done(place):
    study = place.create("old")
    place.load("old").rename("new", token="theirs")
    with pytest.raises(db.NotFoundError, match="no study 'old'"):
        study.rename("new", token=place.mine)
    assert place.names() == ["new"]


CREATED = {  # after a creation as "x"
    "nothing": Fate(lambda p: None, {"x"}, "x"),
    "archived": Fate(lambda p: p.load("x").archive(), {"x"}, "x"),
    "renamed": Fate(lambda p: renamed(p, "x", "y"), {"y"}, "y"),
    "renamed back": Fate(lambda p: renamed(p, "x", "y", "x"), {"x"}, "x"),
    "renamed, name taken": Fate(lambda p: [renamed(p, "x", "y"), p.create("x")], {"x", "y"}, "y"),
    "name taken with the token": Fate(
        lambda p: [renamed(p, "x", "y"), p.create("z", token=p.mine), renamed(p, "z", "x")], {"x", "y"}, "y"
    ),
    "deleted": Fate(lambda p: p.delete("x"), set(), None),
    "renamed and deleted": Fate(lambda p: [renamed(p, "x", "y"), p.delete("y")], set(), None),
    "deleted, name taken": Fate(lambda p: [p.delete("x"), p.create("x")], {"x"}, None),
}


@pytest.mark.parametrize("fate", CREATED)
@pytest.mark.parametrize("load", [False, True])
def test_a_repeated_creation_creates_no_second_study(place, fate, load):
    others, names, name = CREATED[fate]
    made = place.create("x", token=place.mine, load_if_exists=load)
    made.ask()
    others(place)
    for _ in range(2):
        if name is None:
            with pytest.raises(
                db.ConflictError, match=f"'x' was created with token '{place.mine}' and has been deleted"
            ):
                place.create("x", token=place.mine, load_if_exists=load)
        else:
            again = place.create("x", token=place.mine, load_if_exists=load)
            assert (again.identity, again.name, len(again)) == (made.identity, name, 1)
            with pytest.raises(db.ConflictError, match="was created with control None"):
                place.create("x", token=place.mine, control="a")
        assert set(place.names()) == names
    assert place.create("another", token=place.mine).name == "another"  # another call
    if "x" in names:
        with pytest.raises(db.ConflictError, match="there is a study 'x'"):
            place.create("x", token="another")


@pytest.mark.parametrize("token", [None, "mine"])
def test_changes_of_the_study_itself_close_no_windows(place, token):
    study = place.create("old", window=0.01, late=0)
    study.ask()
    time.sleep(0.02)
    study.rename("new", token=token)
    study.archive(token=token and "archive")
    study.unarchive(token=token and "unarchive")
    assert [event for event in study.events() if event.what == "settle" and event.trial is not None] == []
    assert study.settle() == [0]


def test_requests_without_identity_mean_the_study_that_the_call_renamed(there):
    first, theirs = there.create("old"), there.create("theirs")
    theirs.rename("new", token=there.mine)  # the same token, another call
    with there.service.http(there.service.write) as web:

        def rename():
            return web.post("/api/rename", params={"study": "old"}, json={"name": "new", "token": there.mine})

        assert refused(rename(), 409)["error"] == "there is a study 'new'"
        theirs.rename("theirs")
        for others, name in ((None, "new"), (None, "new"), (("new", "newer"), "newer"), (("newer", "old"), "old")):
            if others is not None:
                renamed(there, *others)
            assert rename().json() == {"done": True, "name": name}
        renamed(there, "old", "oldest")
        second = there.create("old")  # by now, this is the study of that name
        assert rename().json() == {"done": True, "name": "oldest"}
        there.delete("oldest")
        assert rename().json() == {"done": True, "name": "new"}
    assert there.load("new").identity == second.identity != first.identity


def test_a_repeated_delete_is_not_taken_for_done_if_others_renamed_the_study(there):
    study = there.create("old")
    renamed(there, "old", "new")
    with there.service.http(there.service.write) as web:
        which, body = {"study": "old", "identity": study.identity}, {"confirm": "old", "if_missing": True}
        assert web.post("/api/delete", params=which, json=body).status_code == 404
        assert there.names() == ["new"]
        there.delete("new")
        assert web.post("/api/delete", params=which, json=body).status_code == 200


def test_a_repeated_rename_of_a_study_without_identity(tmp_path):
    """It was created before there were identities, and is found by its new name."""
    shutil.copy(Path(__file__).parents[1] / "storage" / "version4.db", tmp_path / "old.db")
    place = Here(open_storage(f"sqlite:///{tmp_path}/old.db"))
    heard, unheard = place.load("maize"), place.load("maize")
    studies = OpenStudies(place.storage).expecting("")
    assert studies.rename("maize", "new", "mine") == studies.rename("maize", "new", "mine") == "new"
    for study in (heard, unheard):
        study.rename("new", token="mine")
        assert (study.name, study.identity, len(study)) == ("new", "", 29)
    place.create("maize")  # which has an identity
    with pytest.raises(db.ConflictError, match="there is a study 'new'"):
        place.load("maize").rename("new", token="mine")
    place.close()
