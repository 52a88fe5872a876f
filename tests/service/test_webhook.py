"""Messages to a webhook, which a real receiver checks."""

import hmac
import json
import math
import socket
import sqlite3
import threading
import time
from contextlib import closing, suppress
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.service import webhook
from dirichlet_bandits.service.app import create_app, run
from dirichlet_bandits.service.keys import read_keys
from dirichlet_bandits.service.webhook import Notice, Watcher, Webhook
from dirichlet_bandits.storage import MemoryStorage, open_storage
from tests.bounds import join, until
from tests.service.running import Forked, free_port
from tests.service.test_client import whole
from tests.sockets import accepted

SECRET = "a secret of the receiver"


class Receiver:
    """A server that keeps what it is sent, and refuses the first messages."""

    def __init__(self, port, refuses=0):
        got, refusals = self.got, self.refusals = [], []
        self.refuses, receiver = refuses, self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signed = self.headers["X-Bandits-Time"].encode() + b"." + body
                right = "sha256=" + hmac.new(SECRET.encode(), signed, sha256).hexdigest()
                assert hmac.compare_digest(right, self.headers["X-Bandits-Signature"])
                assert abs(time.time() - int(self.headers["X-Bandits-Time"])) < 60
                refused = len(refusals) < receiver.refuses
                (refusals if refused else got).append(json.loads(body))
                self.send_response(302 if refused else 204)
                if refused:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *words):
                pass

        self.server = HTTPServer(("127.0.0.1", port), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        join(self.thread)
        self.server.server_close()


def watched(storage, port, silence=None):
    watcher = Watcher(storage, Webhook(f"http://127.0.0.1:{port}/hook?of=us", SECRET, silence), 0.05, (0.05,))
    return watcher, watcher.start()


def ended(watcher, thread):
    watcher.stop()
    thread.join(30)
    assert not thread.is_alive()


def test_a_winner_arrives_once_though_the_receiver_was_down(caplog):
    storage, port = MemoryStorage(), free_port()
    policy = db.UCB1(sigma=1.0)
    study = db.create_study("page", arms=["red", "blue"], policy=policy, bounds=(0, 1), storage=storage, seed=1)
    watcher, thread = watched(storage, port)
    study.add_trials({"arm": ["red", "blue"] * 200, "reward": [0.0, 1.0] * 200})
    until(lambda: "did not take a message" in caplog.text)  # nothing listens yet
    assert study.ask().arm in ("red", "blue")  # which delays no decision
    receiver = Receiver(port, refuses=2)
    try:
        until(lambda: any(act.what == "notified" for act in study.audit_log()))
        assert len(receiver.refusals) == 2  # a redirect is not followed, and the message is sent again
        (message,) = receiver.got
        assert (message["kind"], message["study"], message["arm"]) == ("winner", "page", "blue")
        assert {refused["id"] for refused in receiver.refusals} == {message["id"]}
        assert [(act.note, act.actor) for act in study.audit_log()[:1]] == [("winner: blue", "webhook")]
        assert next(event for event in study.events() if event.what == "declare_winner").actor == "webhook"
        ended(watcher, thread)
        watcher, thread = watched(storage, port, silence=0.01)  # as after a restart
        until(lambda: len(receiver.got) > 1)
        assert [sent["kind"] for sent in receiver.got] == ["winner", "silence"]
        study.tell(study.ask(), 1.0)
        until(lambda: len(receiver.got) > 2)  # silent again
        assert receiver.got[1]["since"] <= receiver.got[2]["since"]
    finally:
        ended(watcher, thread)
        receiver.stop()
    assert SECRET not in caplog.text
    assert "of=us" not in caplog.text  # the address may hold a secret, too


@pytest.fixture(params=["memory", "sqlite"])
def storage(request, tmp_path):
    made = MemoryStorage() if request.param == "memory" else open_storage(f"sqlite:///{tmp_path}/s.db", create=True)
    yield made
    if request.param == "sqlite":
        made.close()


CLEAR = {"arm": ["red", "blue"] * 200, "reward": [0.0, 1.0] * 200}


def undecided(name, storage):
    return db.create_study(name, arms=["red", "blue"], policy="UCB1(sigma=1)", bounds=(0, 1), storage=storage, seed=1)


@pytest.mark.parametrize("fate", ["renamed", "renamed twice", "deleted"])
def test_a_waiting_message_is_about_its_study_not_about_the_next_one_of_that_name(storage, fate):
    receiver = Receiver(free_port(), refuses=math.inf)
    watcher, thread = watched(storage, receiver.server.server_port)
    try:
        first = undecided("page", storage)
        first.add_trials(CLEAR)
        until(lambda: receiver.refusals)  # its message waits
        if fate == "deleted":
            db.delete_study("page", storage, confirm="page")
        else:
            first.rename("old page")
        second = undecided("page", storage)
        if fate == "renamed twice":  # and archived: only new messages leave it out
            first.rename("older page")
            first.archive()
        receiver.refuses = 0
        expected = [] if fate == "deleted" else [first.name]
        until(lambda: len(receiver.got) == len(expected) and not watcher._waiting)
        second.add_trials(CLEAR)  # which has the same winner, and the same message
        until(lambda: len(receiver.got) > len(expected))
        until(lambda: any(act.what == "notified" for act in second.audit_log()))
    finally:
        ended(watcher, thread)
        receiver.stop()
    assert [sent["study"] for sent in receiver.got] == [*expected, "page"]
    assert len({refused["id"] for refused in receiver.refusals}) == 1
    same = [sent["id"] == receiver.refusals[0]["id"] for sent in receiver.got]
    assert same == [True] * len(expected) + [False]
    for study in (first,) * len(expected) + (second,):
        assert [act.note for act in study.audit_log() if act.what == "notified"] == ["winner: blue"]


def test_a_report_about_an_archived_study_makes_no_old_message_new():
    storage, receiver = MemoryStorage(), Receiver(free_port())
    study = undecided("page", storage)
    study.add_trials(CLEAR)
    watcher, thread = watched(storage, receiver.server.server_port)
    try:
        until(lambda: any(act.what == "notified" for act in study.audit_log()))
        ended(watcher, thread)
        study.archive()  # so that nobody looks at it
        watcher, thread = watched(storage, receiver.server.server_port)  # as after a restart
        watcher.report(study, db.Replay(400, 0, 1, ("trial 0 differs",)))
        until(lambda: "replay" in [sent["kind"] for sent in receiver.got])
        study.unarchive()
        undecided("other", storage).add_trials(CLEAR)
        until(lambda: "other" in [sent["study"] for sent in receiver.got])
    finally:
        ended(watcher, thread)
        receiver.stop()
    assert [(sent["study"], sent["kind"]) for sent in receiver.got] == [
        ("page", "winner"),
        ("page", "replay"),
        ("other", "winner"),
    ]


class Dripping:
    """A receiver that takes forever to answer the first message, byte by byte, and answers all others at once."""

    def __init__(self, begins):
        self.kinds, self.over = [], threading.Event()
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        self.begins = begins
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self):
        for line in accepted(self.door):
            self.threads.append(threading.Thread(target=self.answer, args=(line,)))
            self.threads[-1].start()

    def answer(self, line):
        with line, suppress(OSError):
            _, _, body = whole(line).partition(b"\r\n\r\n")
            self.kinds.append(json.loads(body)["kind"])
            if self.kinds[-1] != "slow":
                line.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                return
            line.sendall(self.begins)
            while not self.over.wait(0.02):
                line.sendall(b"a")

    def stop(self):
        self.over.set()
        self.door.shutdown(socket.SHUT_RDWR)
        self.door.close()
        join(*self.threads)


@pytest.mark.parametrize(
    "begins", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"]
)
def test_a_receiver_that_drips_does_not_block_other_messages(monkeypatch, begins):
    """A byte every 0.02 s never ends a wait for the next byte; the whole exchange has half a second."""
    monkeypatch.setattr(webhook, "SLOWEST", 0.5)
    storage, receiver = MemoryStorage(), Dripping(begins)
    study = undecided("page", storage)
    watcher, thread = watched(storage, receiver.port)
    try:
        for kind in ("slow", "quick"):
            watcher._add(Notice(kind, "page", study.identity, kind, "message", {}))
        until(lambda: "quick" in receiver.kinds, seconds=30)
        assert not receiver.over.is_set()
    finally:
        receiver.stop()
        ended(watcher, thread)


class Hooked(Forked):
    """A service with a webhook."""

    hook = free_port()

    def _serve(self):
        webhook = Webhook(f"http://127.0.0.1:{self.hook}", SECRET)
        run(create_app(self.storage, read_keys(Path(self.how[1])), webhook=webhook), "127.0.0.1", self.port)


def test_drift_and_failed_replays_are_reported(tmp_path):
    running, receiver = Hooked(tmp_path), Receiver(Hooked.hook)
    try:
        with running.connect() as studies:
            study = studies.create_study("page", arms=["a", "b"], policy=db.UCB1(sigma=1.0), bounds=(0, 1), seed=1)
            study.tell_many([0, 1], [float(trial.id) for trial in study.ask(2)])
            assert study.replay().same
            with closing(sqlite3.connect(tmp_path / "studies.db")) as file:  # somebody tampers with the log
                file.execute("UPDATE bandit_events SET arm = 1 - arm WHERE kind = 2 AND trial = 0")
                file.commit()
            assert not study.replay().same
            until(lambda: receiver.got)
            assert (receiver.got[0]["kind"], receiver.got[0]["study"]) == ("replay", "page")
    finally:
        running.stop()
    storage = MemoryStorage()
    jump = {"arm": ["a"] * 200, "reward": [0.0] * 100 + [1.0] * 100}
    db.create_study("drifting", arms=["a", "b"], bounds=(0, 1), storage=storage).add_trials(jump)
    watcher, thread = watched(storage, Hooked.hook)
    try:
        until(lambda: any(sent["kind"] == "drift" for sent in receiver.got))
    finally:
        ended(watcher, thread)
        receiver.stop()
    assert receiver.got[-1]["arm"] == "a"


@pytest.mark.parametrize(
    ("options", "field"),
    [(["--webhook", "gopher://x"], "webhook"), (["--webhook", "http://x"], "secret"), (["--silence", "1h"], "silence")],
)
def test_webhooks_without_address_or_secret_are_refused(options, field, tmp_path):
    from typer.testing import CliRunner

    from dirichlet_bandits.cli import app

    storage = f"sqlite:///{tmp_path}/s.db"
    answer = CliRunner().invoke(app, ["serve", "--storage", storage, "--open", *options], env={})
    assert answer.exit_code == 2
    assert field in answer.output
    assert not (tmp_path / "s.db").exists()
