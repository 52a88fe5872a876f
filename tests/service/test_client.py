"""The client's studies are the same as those here: methods, answers, exceptions; and a broken line does no harm."""

import importlib.util
import socket
import threading
import time

import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.policies.written import POLICY
from dirichlet_bandits.service.wire import Connection
from tests.policies.twins import PAIRS
from tests.sockets import accepted

ARMS = ["26 Feb", "13 Mar", "<b>28 Mar</b> é"]


def test_studies_there_are_studies_with_another_transport(service, studies):
    made = db.create_study("another transport", arms=["a", "b"], storage=studies, seed=1)
    assert type(made) is db.Study
    assert db.load_study("another transport", studies).identity == made.identity
    assert "another transport" in db.study_names(studies)
    db.delete_study("another transport", studies, confirm="another transport")
    assert "another transport" not in studies.study_names()


def test_every_policy_travels_as_text():
    for pair in PAIRS.values():
        assert POLICY.from_text(POLICY.to_text(pair.policy, "policy"), "policy") == pair.policy


def test_same_decisions_and_answers_as_here(studies, tmp_path):
    here = db.create_study("twin", arms=ARMS, policy=db.QDS(), seed=5)
    there = studies.create_study("twin", arms=ARMS, policy=db.QDS(), seed=5)
    assert (there.name, there.policy, there.seed, there.arms) == (here.name, here.policy, here.seed, here.arms)
    assert there.best_arm is None
    pd.testing.assert_frame_equal(here.summary(), there.summary())  # not one reward yet
    for step in range(12):
        mine, theirs = here.ask(2), there.ask(2)
        assert [trial[:3] for trial in mine] == [trial[:3] for trial in theirs]
        for study, trials in ((here, mine), (there, theirs)):
            study.tell(trials[0].id, float(step % 5))
            if step % 4:
                study.tell_many([trials[1].id], [step / 3])
            elif step:
                study.abandon(trials[1].id)
    for study in (here, there):
        study.void(0, "=the wrong plot")
        study.correct(2, 4.5)
        past = {"arm": ARMS[:2], "reward": [1.0, 2.5], "time": ["2020-01-01", None], "propensity": [0.5, None]}
        assert study.add_trials(past, token="past") == study.add_trials(past, token="past") == [24, 25]
        study.annotate(1, note="hail", attributes={"plot": 7, "dry": True, "gone": None})
        study.tell(study.ask(), 2.0, note="=1+1", attributes={"plot": "<b>"})
        study.add_arm("12 Apr")
        study.retire_arm(ARMS[0])
    assert (len(here), here.arms, here.best_arm) == (len(there), there.arms, there.best_arm)
    assert here.propensities() == there.propensities()
    assert [trial[:3] for trial in here.pending] == [trial[:3] for trial in there.pending]
    assert there.pending[0].asked_at.tzinfo is not None
    pd.testing.assert_frame_equal(here.summary(confidence=0.9), there.summary(confidence=0.9))
    assert here.summary().attrs == there.summary().attrs
    times = ["asked_at", "ended_at"]
    mine, theirs = here.trials_dataframe(), there.trials_dataframe()
    pd.testing.assert_frame_equal(mine.drop(columns=times), theirs.drop(columns=times))
    assert mine[times].dtypes.tolist() == theirs[times].dtypes.tolist()
    for choice in (ARMS[1], {ARMS[1]: 0.25, "12 Apr": 0.75}, db.RDS()):
        assert repr(here.estimate(choice)) == repr(there.estimate(choice))
    assert there.replay() == here.replay()
    for kind, read in ((".csv", pd.read_csv), (".parquet", pd.read_parquet)):
        here.export(tmp_path / f"here{kind}")
        there.export(tmp_path / f"there{kind}")
        mine, theirs = (read(tmp_path / f"{place}{kind}").drop(columns=times) for place in ("here", "there"))
        pd.testing.assert_frame_equal(mine, theirs)


def test_costs_and_a_control_are_the_same_there(studies):
    settings = {"arms": ARMS, "policy": "BinarizedTS(0, 10)", "seed": 5, "direction": "minimize", "control": ARMS[1]}
    here, there = db.create_study("costs", **settings), studies.create_study("costs", **settings)
    for step in range(25):
        for study in (here, there):
            study.tell(study.ask(), float(step % 7))
    for confidence in (0.5, 0.95):
        pd.testing.assert_frame_equal(here.summary(confidence), there.summary(confidence))
        assert here.summary(confidence).attrs == there.summary(confidence).attrs
    again = studies.load_study("costs")
    assert (again.direction, again.control, again.policy) == (here.direction, here.control, here.policy)
    with pytest.raises(db.ArgumentError, match="'direction' must be 'maximize' with NPTS"):
        studies.create_study("one bound", arms=ARMS, policy="NPTS(upper=1)", direction="minimize")
    with pytest.raises(db.ArgumentError, match="'control' must be one of the arms"):
        studies.create_study("no control", arms=ARMS, control="nobody")


@pytest.mark.parametrize("late", [0.0, "abandon"])
def test_late_answers_are_the_same_there(studies, late):
    settings = {"arms": ARMS, "policy": db.RDS(), "seed": 5, "window": 0.3, "late": late}
    here, there = db.create_study("late", **settings), studies.create_study(f"late {late}", **settings)
    for study in (here, there):
        study.ask(3)
        study.tell(1, 1.0)
        time.sleep(0.35)
        assert study.settle() == [0, 2]
        with pytest.raises(db.ConflictError, match=r"trial 2 is late: its window of 0\.3s has closed"):
            study.tell(2, 1.0)
    pd.testing.assert_frame_equal(here.summary(), there.summary())
    times = ["asked_at", "ended_at"]
    pd.testing.assert_frame_equal(*(study.trials_dataframe().drop(columns=times) for study in (here, there)))
    again = studies.load_study(f"late {late}")
    assert (again.window, again.late) == (here.window, here.late) == (0.3, late)
    with pytest.raises(db.ArgumentError, match="'late' must be"):
        studies.create_study("no late", arms=ARMS, window="24h")


def test_segments_and_units_are_the_same_there(studies, web):
    settings = {"arms": ARMS, "seed": 5, "segments": ["clay", "sand"], "borrow": 0.25, "reward_unit": "kg/ha"}
    here, there = db.create_study("soils", **settings), studies.create_study("soils", **settings)
    for step in range(12):
        segment = settings["segments"][step % 2]
        for study in (here, there):
            study.tell(study.ask(segment=segment), float(step % 5))
            study.tell(study.ask(segment=segment, unit=f"field {step % 3}"), float(step % 4))
    mine, theirs = (study.ask(segment="sand", unit="field 1") for study in (here, there))
    assert (mine[:3], mine[4:]) == (theirs[:3], theirs[4:])
    for segment in (None, "clay", "sand"):
        pd.testing.assert_frame_equal(here.summary(segment=segment), there.summary(segment=segment))
    assert here.propensities(segment="clay") == there.propensities(segment="clay")
    times = ["asked_at", "ended_at"]
    pd.testing.assert_frame_equal(*(study.trials_dataframe().drop(columns=times) for study in (here, there)))
    assert there.replay() == here.replay()
    loaded = studies.load_study("soils")
    assert (loaded.segments, loaded.borrow) == (("clay", "sand"), 0.25)
    assert there.reward_unit == here.reward_unit == "kg/ha"
    for study in (here, there):
        with pytest.raises(db.ArgumentError, match="'segment' must be one of"):
            study.ask()
    refused = web.post("/api/ask", params={"study": "soils"}, json={"n": 2, "segment": "clay", "unit": "u"})
    assert refused.status_code == 422
    assert web.get("/study", params={"name": "soils"}).status_code == 200


def test_a_warm_start_is_the_same_there(studies):
    settings = {
        "arms": ARMS,
        "policy": db.RDS(),
        "seed": 5,
        "history": {ARMS[0]: [1, 2.5], ARMS[1]: [2]},
        "weight": 0.3,
    }
    here, there = db.create_study("warm", **settings), studies.create_study("warm", **settings)
    for step in range(6):
        for study in (here, there):
            study.tell(study.ask(), float(step % 5))
    assert here.propensities() == there.propensities()
    assert (here.history, here.weight) == (there.history, there.weight)
    assert there.replay() == here.replay()


def test_same_answers_on_risk(studies):
    policy, level = db.BCVTS(upper=10.0, level=0.25), db.CVaR(0.25)
    here = db.create_study("bad years", arms=["a", "b"], policy=policy, seed=2)
    there = studies.create_study("bad years", arms=["a", "b"], policy=policy, seed=2)
    for study in (here, there):
        for step in range(12):
            study.tell(study.ask().id, float((7 * step) % 10))
    for bounds in (None, (0, 10)):
        mine, theirs = here.summary(bounds=bounds), there.summary(bounds=bounds)
        pd.testing.assert_frame_equal(mine, theirs)
        assert mine.attrs == theirs.attrs
    for choice in ("a", {"a": 0.5, "b": 0.5}, policy):
        mine, theirs = (study.estimate(choice, objective=level, bounds=(0.0, 10.0)) for study in (here, there))
        assert mine == theirs
    for mistake in ({"objective": level}, {"objective": "mean"}, {"objective": level, "bounds": (0.0, 5.0)}):
        said = []
        for study in (here, there):
            with pytest.raises(db.ArgumentError) as refused:
                study.estimate("a", **mistake)
            said.append(str(refused.value))
        assert said[0] == said[1]


def refusals(study):
    id = study.ask().id
    study.tell(id, 1.0)
    gone = study.ask().id
    study.abandon(gone)
    return {
        "another reward": lambda: study.tell(id, 2.0),
        "an abandoned trial": lambda: study.tell(gone, 1.0),
        "an unknown trial": lambda: study.tell(999, 1.0),
        "a negative id": lambda: study.tell(-1, 1.0),
        "not a number": lambda: study.tell(id, float("nan")),
        "a text": lambda: study.tell(id, "1"),
        "beyond the bounds": lambda: study.tell(id, 7.0),
        "two lengths": lambda: study.tell_many([id], [1.0, 1.0]),
        "two rewards at once": lambda: study.tell_many([id, id], [1.0, 2.0]),
        "no trials": lambda: study.ask(0),
        "a token for another number": lambda: [study.ask(2, token="t"), study.ask(3, token="t")],
        "an arm that is there": lambda: study.add_arm("a"),
        "an arm without a name": lambda: study.add_arm(""),
        "an unknown arm": lambda: study.retire_arm("nobody"),
        "taking back what was abandoned": lambda: study.void(gone, "why"),
        "taking back without a reason": lambda: study.void(id, ""),
        "correcting an unknown trial": lambda: study.correct(999, 1.0),
        "correcting beyond the bounds": lambda: study.correct(id, 7.0),
        "telling what was voided": lambda: [study.void(id, "why"), study.tell(id, 1.0)],
        "a note of an unknown trial": lambda: study.annotate(999, note="x"),
        "nothing to note": lambda: study.annotate(id),
        "an attribute that is a list": lambda: study.annotate(id, attributes={"x": [1]}),
        "past trials of an unknown arm": lambda: study.add_trials({"arm": ["nobody"], "reward": [1.0]}),
        "past trials beyond the bounds": lambda: study.add_trials({"arm": ["a"], "reward": [7.0]}),
        "past trials without rewards": lambda: study.add_trials({"arm": ["a"]}),
        "abandoning what was told": lambda: study.abandon(id),
        "a confidence beyond 1": lambda: study.summary(confidence=2),
        "a file of another kind": lambda: study.export("log.txt"),
        "weights that sum to 2": lambda: study.estimate({"a": 1.0, "b": 1.0}),
        "a choice that nobody knows": lambda: study.estimate("nobody"),
    }


def test_same_exceptions_as_here(studies):
    policy = db.BinarizedTS(0.0, 5.0)
    here = refusals(db.create_study("no", arms=["a", "b"], policy=policy, seed=1))
    there = refusals(studies.create_study("no", arms=["a", "b"], policy=policy, seed=1))
    for name, act in here.items():
        with pytest.raises(db.DirichletBanditsError) as mine:
            act()
        with pytest.raises(type(mine.value)) as theirs:
            there[name]()
        assert getattr(mine.value, "name", None) == getattr(theirs.value, "name", None), name


def test_studies_by_name(service, studies):
    made = studies.create_study("by name", arms=["a", "b"], seed=3)
    assert "by name" in studies.study_names()
    assert studies.load_study("by name").seed == 3
    with pytest.raises(db.ConflictError, match="load_if_exists"):
        studies.create_study("by name", arms=["a", "b"])
    again = studies.create_study("by name", arms=["a", "b"], load_if_exists=True)
    assert again.seed == made.seed
    with pytest.raises(db.ConflictError, match="arms"):
        studies.create_study("by name", arms=["a", "c"], load_if_exists=True)
    with pytest.raises(db.NotFoundError):
        studies.load_study("nobody's")
    with pytest.raises(db.ArgumentError, match="policy of this library"):
        studies.create_study("own", arms=["a", "b"], policy=object())
    assert db.load_study("by name", service.storage).seed == 3  # the same storage, without the service


def test_studies_are_renamed_archived_and_deleted(service, studies):
    made = studies.create_study("first name", arms=["a", "b"], seed=3)
    studies.create_study("taken", arms=["a", "b"])
    with pytest.raises(db.ConflictError, match="there is a study 'taken'"):
        made.rename("taken")
    lossy = Lossy(service.port, losses=1)
    with db.connect(lossy.url, service.write) as line:
        line.load_study("first name").rename("second name")
        study = line.load_study("second name")
        assert study.ask().id == 0
        study.archive()
        assert study.archived
        assert "second name" in line.study_names(archived=True)
        assert "second name" not in line.study_names()
        study.unarchive()
        assert "second name" in studies.study_names()
        with pytest.raises(db.ArgumentError, match="'confirm' must be the name of the study"):
            line.delete_study("second name", confirm="yes")
        line.delete_study("second name", confirm="second name")
    lossy.door.close()
    gone = "second name"
    for act in (lambda: studies.load_study(gone), lambda: studies.delete_study(gone, confirm=gone)):
        with pytest.raises(db.NotFoundError, match=r"no study 'second name'$"):  # and not where the storage is
            act()
    with pytest.raises(db.NotFoundError, match="no study 'first name'"):
        made.ask()
    assert studies.create_study("second name", arms=["x", "y"]).ask().arm in "xy"


def test_a_study_of_others_goes_on_here_and_there(service, studies):
    there = studies.create_study("shared", arms=["a", "b"], seed=1)
    here = db.load_study("shared", service.storage)
    for k in range(5):
        here.tell(there.ask().id, k)
        there.tell(here.ask().id, k)
    assert len(here) == len(there) == 10
    assert here.pending == there.pending == []
    local_of(here).storage.close()


def test_bad_addresses_are_refused():
    for url in ("localhost:8000", "ftp://x", "", None, 3):
        with pytest.raises(db.ArgumentError, match="url"):
            db.connect(url)
    for key in ("", "é", "a\nb", "a ", 3):
        with pytest.raises(db.ArgumentError, match="key"):
            db.connect("http://localhost:1", key)


def test_a_missing_extra_is_named(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "urllib3" else found(name))
    with pytest.raises(db.MissingExtraError, match="extra 'client'"):
        db.connect("http://localhost:1")


def test_a_service_that_is_away_is_said_so():
    with db.connect("http://127.0.0.1:1", patience=0) as nobody, pytest.raises(db.StorageError, match="reached"):
        nobody.study_names()


class Lossy:
    """A line that passes every request on, and loses the first answers of each path."""

    def __init__(self, port, losses, meanwhile=None):
        self.port, self.losses, self.lost = port, losses, []
        self.meanwhile = meanwhile  # what others do before a request is sent again
        self.door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.door.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        for near in accepted(self.door):
            with near, socket.create_connection(("127.0.0.1", self.port)) as far:
                request = whole(near)
                far.sendall(request)
                answer = whole(far)
                path = request.split(b"?")[0].split(b" HTTP")[0]
                if self.lost.count(path) < self.losses:
                    if self.meanwhile is not None:
                        self.meanwhile(path.rpartition(b"/")[2].decode())
                    self.lost.append(path)  # the service has done it, and nobody hears of it
                else:
                    near.sendall(answer)


def whole(line):
    """One HTTP message."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += line.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(row[15:]) for row in head.lower().split(b"\r\n") if row.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += line.recv(65536)
    return head + b"\r\n\r\n" + body


def test_lost_answers_change_nothing(service):
    lossy = Lossy(service.port, losses=2)
    with db.connect(lossy.url, service.write) as line:
        study = line.create_study("lossy", arms=["a", "b"])
        trial = study.ask()
        assert trial.id == 0
        study.tell(trial.id, 2.0)
        study.correct(trial.id, 3.0, "mistyped")
        study.void(trial.id, "the wrong plot")
        study.annotate(trial, note="x")
        assert study.add_trials({"arm": ["a"], "reward": [1.0]}) == [1]
        study.add_arm("c")
        study.retire_arm("a")
        study.abandon(study.ask().id)
        assert [trial.id for trial in study.ask(3)] == [3, 4, 5]
    assert len(lossy.lost) == 2 * len(set(lossy.lost)) >= 20
    kinds = [event[1] for event in service.stored("lossy")]
    assert kinds == [0, 0, 2, 3, 6, 5, 7, 8, 0, 1, 2, 4, 2, 2, 2]  # every thing once
    lossy.door.close()


def test_a_study_of_others_is_not_taken_for_ones_own(service, studies):
    """Even with the same seed, arms and policy, and an answer that was lost."""
    studies.create_study("theirs", arms=["a", "b"], seed=5)
    lossy = Lossy(service.port, losses=1)
    with db.connect(lossy.url, service.write) as line:
        with pytest.raises(db.ConflictError, match="there is a study 'theirs'"):
            line.create_study("theirs", arms=["a", "b"], seed=5)
        mine = line.create_study("mine", arms=["a", "b"], seed=5)
        assert (mine.seed, len(mine)) == (5, 0)
    assert b"POST /api/studies" in lossy.lost
    lossy.door.close()


@pytest.mark.parametrize("status", ["404 Not Found", "200 OK", "302 Found"])
def test_a_page_that_is_no_service_is_said_so(status):
    door = socket.create_server(("127.0.0.1", 0))

    def answer():
        near, _ = door.accept()
        with near:
            near.recv(65536)
            near.sendall(f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno".encode())

    threading.Thread(target=answer, daemon=True).start()
    line = Connection(f"http://127.0.0.1:{door.getsockname()[1]}", None, 0.0)
    with pytest.raises(db.FormatError, match=f"not a service.*: it answered {status[:3]}, text/html"):
        line.get("studies")
    line.close()
    door.close()


def test_what_arms_are_judged_by_travels_too(studies):
    policy = db.BCVTS(upper=10, level=0.4)
    here = db.create_study("risk", arms=ARMS, policy=policy, seed=5)
    there = studies.create_study("risk", arms=ARMS, policy=policy, seed=5)
    pd.testing.assert_frame_equal(here.summary(), there.summary())
    for step in range(6):
        for study in (here, there):
            study.tell(study.ask().id, float(step))
    pd.testing.assert_frame_equal(here.summary(), there.summary())
    assert here.summary().attrs == there.summary().attrs
    assert there.summary().attrs["objective"] == "CVaR at 40 %"
    assert here.best_arm == there.best_arm


def test_a_level_that_nothing_can_be_divided_by(studies, web):
    studies.create_study("level", arms=["a", "b"], policy="UCB1(sigma=1)", seed=1)
    answer = web.post("/api/estimate_cvar?study=level", json={"choice": "a", "level": 1e-320, "bounds": [0.0, 1.0]})
    assert (answer.status_code, answer.json()["error"]) == (422, "'level' must be at least 1e-100 (got 1e-320)")


def test_bounds_and_winners_as_here(studies, service):
    rewards = {"arm": ["a", "b"] * 150, "reward": [0.0, 1.0, 1.0, 1.0] * 75, "propensity": [0.5] * 300}
    here = db.create_study("won", arms=["a", "b"], policy="EqualSplit", bounds=(0, 2), seed=5)
    there = studies.create_study("won", arms=["a", "b"], policy="EqualSplit", bounds=(0, 2), seed=5)
    assert there.bounds == here.bounds == (0.0, 2.0)
    with pytest.raises(db.ArgumentError, match="between 0 and 2, the bounds of the study"):
        there.tell(there.ask(), 3.0)
    here.ask()
    assert there.winner() == here.winner()
    for study in (here, there):
        study.add_trials(rewards)
    with db.connect(service.url, service.read) as line:
        looked = line.load_study("won").winner()
        assert (looked.arm, looked.established_at) == ("b", None)  # a key that may only read stores nothing
        with pytest.raises(db.AccessError):
            line.load_study("won").declare_winner()
    assert there.winner(0.05, 0.0) == here.winner(0.05, 0.0)
    assert there.winner().established_at is None
    assert there.declare_winner(0.05, 0.0) == here.declare_winner(0.05, 0.0)
    with db.connect(service.url, service.read) as line:
        assert line.load_study("won").winner() == here.winner()
    assert there.winner().established_at == 301
    for study in (here, there):
        study.tell_many(study.ask(20), [1.0, 0.0] * 10)
    assert repr(there.estimate_difference("a", "b", confidence=0.9)) == repr(
        here.estimate_difference("a", "b", confidence=0.9)
    )
    assert repr(there.estimate("a", confidence=0.9)) == repr(here.estimate("a", confidence=0.9))
    pd.testing.assert_frame_equal(here.summary(), there.summary())
    assert {key: there.summary().attrs[key] for key in here.summary().attrs} == here.summary().attrs
