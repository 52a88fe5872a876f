"""Messages to a webhook, which a real receiver checks."""

import hmac
import json
import sqlite3
import threading
import time
from contextlib import closing
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.service.app import create_app
from dirichlet_bandits.service.keys import read_keys
from dirichlet_bandits.service.server import run
from dirichlet_bandits.service.watching import Watcher
from dirichlet_bandits.service.webhook import Webhook
from dirichlet_bandits.storage import MemoryStorage
from tests.bounds import join, until
from tests.service.running import Forked, free_port

SECRET = "a secret of the receiver"


class Receiver:
    """A server that keeps what it is sent, and refuses the first messages."""

    def __init__(self, port, refuses=0):
        got, refusals = self.got, self.refusals = [], []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signed = self.headers["X-Bandits-Time"].encode() + b"." + body
                right = "sha256=" + hmac.new(SECRET.encode(), signed, sha256).hexdigest()
                assert hmac.compare_digest(right, self.headers["X-Bandits-Signature"])
                assert abs(time.time() - int(self.headers["X-Bandits-Time"])) < 60
                refused = len(refusals) < refuses
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
        assert next(event for event in study.events() if event.what == "winner").actor == "webhook"
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
