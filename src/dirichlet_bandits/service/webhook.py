"""Watch the studies of a service and tell a webhook: a winner, drift, silence, a replay that failed.

One thread looks at studies that have changed and sends what is due. It has its own copies of the studies, so that a
request never waits for it. What arrived is recorded in the storage, so that it is not sent again after a restart.
"""

import hashlib
import hmac
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from dirichlet_bandits.display.numbers import drift_words
from dirichlet_bandits.environments.objective import Mean
from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError, NotFoundError
from dirichlet_bandits.live import Replay, Study
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.readings import MOST_ENTRIES
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.storage import Storage
from dirichlet_bandits.storage.events import CREATED, NOTIFIED, acting_as

SHORTEST_SECRET: Final = 16
"""Characters of a secret: it must not be guessed."""

SLOWEST: Final = 10.0
"""Seconds within which a receiver must have taken a message and answered."""


class Webhook(NamedTuple):
    """Where messages go: the address, the secret, and after how many seconds a study counts as silent, if ever."""

    url: str
    secret: str
    silence: float | None = None


class Notice(NamedTuple):
    """A message about a study. ``about`` names what happened, such as ``winner: blue``; it is sent until it arrives."""

    kind: str
    study: str
    identity: str
    about: str
    message: str
    details: dict[str, Any]

    @property
    def id(self) -> str:
        """The same for the same message, whichever process sends it."""
        of = self.identity or self.study  # older studies have no identity
        return hashlib.sha256(json.dumps([of, self.about]).encode()).hexdigest()[:32]


def checked_webhook(url: str, secret: str | None, silence: float | None) -> Webhook:
    """Return a webhook with a valid address and secret.

    >>> checked_webhook("ftp://example.org", "0123456789abcdef", None)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'webhook' must be an address that begins with https:// or http:// \
(got 'ftp://example.org')
    """
    if not url.startswith(("https://", "http://")) or not url.partition("://")[2].strip("/"):
        raise ArgumentError("webhook", "an address that begins with https:// or http://", url)
    if secret is None or len(secret) < SHORTEST_SECRET:
        given = secret and f"{len(secret)} characters"  # the secret itself is not shown
        raise ArgumentError("webhook_secret", f"a text of at least {SHORTEST_SECRET} characters", given)
    return Webhook(url, secret, silence)


def signature(secret: str, at: str, body: bytes) -> str:
    """Return the signature of a message, which the receiver computes again and compares.

    >>> signature("0123456789abcdef", "1700000000", b"{}")[:15]
    'sha256=e4f8e2ec'
    """
    return "sha256=" + hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()


class Receiver:
    """The connection to the receiver. Redirects are not followed: only the declared address is ever used."""

    def __init__(self, webhook: Webhook) -> None:
        from urllib3.exceptions import LocationValueError
        from urllib3.util import parse_url

        from dirichlet_bandits.service.wire import connections

        self._webhook = webhook
        try:
            self._address = parse_url(webhook.url)
            connections(self._address)
        except LocationValueError:
            raise ArgumentError("webhook", "an address", webhook.url) from None
        self.host = str(self._address.host)  # for the log: the rest of the address may be secret

    def send(self, notice: Notice) -> str | None:
        """Send a message once; return None if the receiver accepted it, or what went wrong."""
        from urllib3 import Timeout
        from urllib3.exceptions import HTTPError

        from dirichlet_bandits.service.wire import connections

        said = {name: getattr(notice, name) for name in ("id", "kind", "study", "message")} | notice.details
        body, at = json.dumps(said, ensure_ascii=False).encode(), str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "dirichlet-bandits",
            "X-Bandits-Time": at,
            "X-Bandits-Signature": signature(self._webhook.secret, at, body),
        }
        try:
            with connections(self._address) as manager:
                pool = manager.connection_from_url(self._webhook.url)
                pool.ConnectionCls = _limited(pool.ConnectionCls)
                options: Any = {"redirect": False, "timeout": Timeout(total=SLOWEST), "preload_content": False}
                answer = manager.request("POST", self._webhook.url, body=body, headers=headers, **options)
                answer.close()  # what else it says does not matter
        except HTTPError as error:
            return type(error).__name__
        return None if 200 <= answer.status < 300 else f"it answered {answer.status}"


def _limited(kind: Any) -> Any:
    """Return a urllib3 connection class that is shut down after some seconds, whatever the other side does.

    By itself, urllib3 limits only the pauses between two bytes.
    """

    class Limited(kind):  # type: ignore[misc]
        def connect(self) -> None:
            self._timer = threading.Timer(SLOWEST, self._shut_down)
            self._timer.daemon = True
            self._timer.start()
            super().connect()

        def _shut_down(self) -> None:
            with suppress(OSError, TypeError):  # it has just been closed
                socket.socket.shutdown(self.sock, socket.SHUT_RDWR)  # below TLS, which another thread uses

        def close(self) -> None:
            super().close()
            if hasattr(self, "_timer"):
                self._timer.cancel()

    return Limited


PAUSE: Final = 30.0
"""Seconds between two looks at the studies."""

PAUSES: Final = (1.0, 5.0, 30.0, 120.0, 300.0)
"""Seconds before a message is sent again; the last one repeats."""

ACTOR: Final = "webhook"
_LOGGER = logging.getLogger(__name__)


class Watcher:
    """A thread that watches the studies and sends messages, at least once each, until the process ends."""

    def __init__(
        self, storage: Storage, webhook: Webhook, pause: float = PAUSE, pauses: Sequence[float] = PAUSES
    ) -> None:
        self._studies = OpenStudies(storage)
        self._webhook, self._pause, self._pauses = webhook, pause, pauses
        self._line = Receiver(webhook)
        self._waiting: dict[str, tuple[Notice, float, int]] = {}  # with the time and number of the next attempt
        self._sent: dict[str, set[str]] = {}  # what was sent about each study, by its identity
        self._seen: dict[str, tuple[str, int]] = {}  # the last event of each study that was looked at
        self._wake, self._over = threading.Condition(), False

    def start(self) -> threading.Thread:
        """Start watching. The thread does not keep the process alive."""
        thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """Let the thread end after the message that it is sending."""
        with self._wake:
            self._over = True
            self._wake.notify_all()

    def report(self, study: Study, found: Replay) -> None:
        """Report a replay that differs from the log; every such replay is reported."""
        about = f"replay: {datetime.now(UTC).isoformat()}"
        message = f"The replay differs from the log in {found.n_differences} of {found.trials} trials."
        self._add(Notice("replay", study.name, study.identity, about, message, {"differences": found.n_differences}))

    def _run(self) -> None:
        look = time.monotonic()
        while not self._over:
            now = time.monotonic()
            if now >= look:
                self._look()
                look = time.monotonic() + self._pause
            for notice, due, attempt in list(self._waiting.values()):
                if due <= time.monotonic() and not self._over:
                    self._send(notice, attempt)
            due = min([look, *(due for _, due, _ in list(self._waiting.values()))])
            with self._wake:
                if not self._over:
                    self._wake.wait(max(0.0, due - time.monotonic()))

    def _look(self) -> None:
        """Look at all studies that are not archived; one that cannot be read does not hide the others."""
        try:
            names = self._studies.storage.names()
        except DirichletBanditsError as error:
            _LOGGER.warning("the webhook cannot read the storage: %s", error)
            return
        for name in names:
            try:
                self._studies.refresh(name)
                study = self._studies.study(name)
                for notice in self._notices(study):
                    if notice.about not in self._known(study):
                        self._add(notice)
            except DirichletBanditsError as error:
                _LOGGER.warning("the webhook cannot read a study: %s", error)
            except Exception:  # the thread must live on
                _LOGGER.exception("the webhook cannot read a study")

    def _notices(self, study: Study) -> Iterator[Notice]:
        journal = local_of(study).journal()
        if self._webhook.silence is not None:
            last = journal.records.last_at if len(journal.arm_of) else self._created(study)
            if last is not None and time.time() - last > self._webhook.silence:
                since = datetime.fromtimestamp(last, UTC).isoformat()
                yield _notice("silence", study, since, f"There was no ask and no reward since {since}.", since=since)
        if self._seen.get(study.name) == (study.identity, journal.last):
            return
        for arm in study.summary().attrs["drift"]:
            yield _notice("drift", study, arm, f"Warning: {drift_words([arm])}.", arm=arm)
        for segment in study.segments or (None,):
            if isinstance(study.policy.objective, Mean):
                with acting_as(ACTOR):
                    found = study.declare_winner(segment=segment)  # stored, so that the winner stays
                if found.arm is not None:
                    place = "" if segment is None else f" in {segment}"
                    words = f"The winner{place} is {found.arm}: {found.claim}."
                    yield _notice("winner", study, f"{found.arm}{place}", words, arm=found.arm, segment=segment)
        self._seen[study.name] = study.identity, local_of(study).journal().last

    def _created(self, study: Study) -> float | None:
        entries = self._studies.storage.audit_log(MOST_ENTRIES, study.name)
        return next((entry.at for entry in entries if entry.what == CREATED), None)

    def _known(self, study: Study) -> set[str]:
        """Return what was sent about a study, or is waiting to be sent."""
        which = study.identity or study.name
        mine = (notice for notice, _, _ in list(self._waiting.values()) if (notice.identity or notice.study) == which)
        return self._sent_about(which, study.name) | {notice.about for notice in mine}

    def _sent_about(self, which: str, name: str) -> set[str]:
        if which not in self._sent:
            entries = self._studies.storage.audit_log(MOST_ENTRIES, name)
            self._sent[which] = {str(entry.note) for entry in entries if entry.what == NOTIFIED}
        return self._sent[which]

    def _add(self, notice: Notice) -> None:
        with self._wake:
            self._waiting[notice.id] = notice, time.monotonic(), 0
            self._wake.notify_all()

    def _send(self, notice: Notice, attempt: int) -> None:
        try:
            now = self._studies.storage.named(notice.identity, notice.study)  # others may have renamed or deleted it
            wrong = None if now is None else self._line.send(notice._replace(study=now))
        except DirichletBanditsError as error:
            now, wrong = notice.study, str(error)
        if wrong is not None:
            pause = self._pauses[min(attempt, len(self._pauses) - 1)]
            self._waiting[notice.id] = notice, time.monotonic() + pause, attempt + 1
            _LOGGER.warning("the webhook at %s did not take a message, tried again: %s", self._line.host, wrong)
            return
        del self._waiting[notice.id]
        try:
            while now is not None and not self._is_recorded(notice, now):
                now = self._studies.storage.named(notice.identity, notice.study)
        except DirichletBanditsError as error:  # sent again after a restart
            _LOGGER.warning("a message of the webhook is not recorded: %s", error)

    def _is_recorded(self, notice: Notice, name: str) -> bool:
        """Record that a message arrived; return False if its study no longer has this name."""
        self._sent_about(notice.identity or notice.study, name).add(notice.about)
        try:
            with acting_as(ACTOR), self._studies.storage.transaction(name) as transaction:
                right = transaction.settings().get("identity", "") == notice.identity
                if right:
                    transaction.record(NOTIFIED, notice.about)
                return right
        except NotFoundError:
            return False


def _notice(kind: str, study: Study, which: str, message: str, **details: Any) -> Notice:
    return Notice(kind, study.name, study.identity, f"{kind}: {which}", message, details)
