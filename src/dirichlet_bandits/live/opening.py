"""Create, load, list and delete studies by name."""

from __future__ import annotations  # help() then shows short names

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.errors import ArgumentError, ConflictError, FormatError, NotFoundError, ReplacedError
from dirichlet_bandits.live.decider import select_study
from dirichlet_bandits.live.description import checked_name, describe, is_described
from dirichlet_bandits.live.direction import MAXIMIZE
from dirichlet_bandits.live.event import Event
from dirichlet_bandits.live.events import ArmAdded, FloorSet, WindowSet, event_of
from dirichlet_bandits.live.fields import seed_number
from dirichlet_bandits.live.floors import Floor, checked_floor
from dirichlet_bandits.live.lateness import Lateness
from dirichlet_bandits.live.local import Local
from dirichlet_bandits.live.readings import ReadBestArm
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.live.study import Study
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.written import as_policy
from dirichlet_bandits.seeding import Seed, lent_stream, new_stream, root_sequence, study_words
from dirichlet_bandits.storage import Row, Storage, open_storage
from dirichlet_bandits.storage.events import Settings, actor, intact


@runtime_checkable
class Place(Protocol):
    """Where studies are kept and found by name: a storage that is opened here, or a service (:func:`connect`)."""

    def create(self, name: str, settings: StudySettings, load_if_exists: bool, token: str | None) -> Study:
        """Create a study, or load the one that an earlier call with this token created."""

    def load(self, name: str, policy: Policy | None) -> Study:
        """Load the study of this name."""

    def delete(self, name: str, identity: str | None) -> None:
        """Delete a study, unless it has another identity."""

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of the studies that are not archived, or of those that are."""


def create_study(
    name: str,
    *,
    arms: Sequence[str],
    policy: Policy | str = "RDS",
    storage: str | Storage | Place | None = None,
    seed: Seed = None,
    direction: str = MAXIMIZE,
    control: str | None = None,
    reward_unit: str | None = None,
    bounds: tuple[float, float] | None = None,
    floor: Floor | None = None,
    window: str | float | None = None,
    late: float | str | None = None,
    segments: Sequence[str] | None = None,
    history: Mapping[str, Sequence[float]] | None = None,
    weight: float | None = None,
    borrow: float | None = None,
    load_if_exists: bool = False,
    token: str | None = None,
) -> Study:
    """Create a study with these arms; with ``load_if_exists``, load the study of this name if it exists.

    ``storage`` is a URL, ``sqlite:///maize.db`` or ``postgresql+psycopg://user@host/database``; None keeps the study in
    memory. The same seed and the same rewards lead to the same decisions; without a seed, one is drawn. A study that
    exists must have been created with the same arms, policy, direction, control, bounds and floor, and the same seed if
    one is given. The policy may be written as on the command line, ``"NPTS(upper=1)"``.

    With ``direction="minimize"``, you report costs instead of rewards: a policy without bounds sees -cost; one with two
    bounds, which bound the costs, sees lower + upper - cost; one with a single bound is refused. ``control`` names the
    arm that :meth:`Study.summary` compares the others with. ``reward_unit``, such as ``"kg/ha"``, is shown next to
    rewards and changes nothing else.

    ``bounds`` are two numbers between which all rewards (or costs) lie, whatever the policy; rewards outside of them
    are refused. With them, intervals and winners (:meth:`Study.winner`) are proved for any number of rewards.

    ``floor=0.1`` tries each arm with a probability of at least 0.1, whatever the policy would do, so that all means
    become known; ``floor={"control": 0.2}`` does so for the arms that are named (``docs/live.md``).

    A missing reward is late after the ``window``, given as ``"24h"``, ``"30min"``, ``"7d"`` or in seconds, and ``late``
    states what that means. With ``"abandon"``, the trial does not count. A number, such as 0, is the reward of the
    trial, and then other rewards do not count before their windows close, either (``docs/live.md`` explains why).

    With ``segments``, such as ``["clay", "sand"]``, every ask is for one of them, and the policy learns in each of them
    separately.

    ``history`` holds past rewards by arm, with which the policy starts, and ``weight`` is how much each of them counts,
    from 0 (not at all) to 1 (as if it had been observed). They never enter summaries and estimates.

    ``borrow`` is how much a reward counts for decisions in the other segments, from 0 (not at all) to 1 (as if it had
    been observed there). This is experimental: nothing is proved about it (``docs/live.md``).

    ``token`` is your own name for this call. If the response was lost, call again with the same token: you get the
    study that the first call created, even if others have renamed it; if they have deleted it, none is created.

    >>> study = create_study("maize", arms=["26 Feb", "13 Mar", "28 Mar"], seed=7)
    >>> sorted(trial.arm for trial in study.ask(3))
    ['13 Mar', '26 Feb', '28 Mar']
    """
    given = locals()  # the settings have the names of its parameters
    settings = StudySettings(**{field: given[field] for field in StudySettings.fields})
    checked_name("name", name)
    if token is not None:
        checked_name("token", token)
    if not isinstance(storage, Place):
        describe(settings.policy)  # refuses a policy that no study can have, before anything is written
    return place_of(storage, create=True).create(name, settings, load_if_exists, token)


def place_of(storage: str | Storage | Place | None, create: bool = False) -> Place:
    """Return the place that a storage, its URL or a service is."""
    return storage if isinstance(storage, Place) else StudiesHere(open_storage(storage, create=create))


class StudiesHere:
    """The studies of a storage that is opened in this process."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of the studies that are not archived, or of those that are."""
        return self.storage.names(archived)

    def create(self, name: str, settings: StudySettings, load_if_exists: bool, token: str | None) -> Study:
        """Create a study, or load the one that an earlier call with this token created."""
        new = settings if settings.seed is not None else replace(settings, seed=seed_number("seed", None))
        identity = secrets.token_hex(16)
        stored: Settings = {**new.stored(), **({} if token is None else {"token": token}), "identity": identity}
        if self.storage.create(name, stored, _first_rows(new)):
            return Study(Local(self.storage, name, identity, new))
        first = None if token is None else self.storage.created_by(token, name)
        if first:
            now = self.storage.named(first, name)
            if now is None:
                raise ConflictError(f"the study {name!r} was created with token {token!r} and has been deleted since")
            name = now
        there = self._stored(name)
        if not first and not load_if_exists and (token is None or there.get("token") != token):
            raise ConflictError(f"there is a study {name!r} (load_if_exists=True opens it)")
        if not is_described(settings.policy, there["policy"]):
            raise ConflictError(f"the study {name!r} was created with policy {there['policy']} (got {settings.policy})")
        found = self._opened(name, there, settings.policy)
        settings.check_same(name, found.settings)
        return Study(found)

    def load(self, name: str, policy: Policy | None) -> Study:
        """Load the study of this name."""
        return Study(self.open(name, policy))

    def open(self, name: str, policy: Policy | None) -> Local:
        """Return the transport of the study of this name."""
        return self._opened(name, self._stored(name), policy)

    def _stored(self, name: str) -> Settings:
        stored = self.storage.settings(name)
        if stored is None:
            raise NotFoundError(f"no study {name!r} in {self.storage.url!r}")
        return stored

    def _opened(self, name: str, stored: Settings, policy: Policy | None) -> Local:
        """Return the transport of the study with the stored settings."""
        with intact(f"the study {name!r}"):
            arms, control = stored["arms"], stored.get("control")
            if control is not None and control not in arms:
                raise FormatError(f"the study {name!r} has no arm {control!r}, its control: the storage is damaged")
            first = None if "window" in stored else self._first_window(name, len(arms))
            try:
                settings = StudySettings.restored(stored, policy, first)
            except FormatError as error:
                raise FormatError(f"the study {name!r} cannot be read: {error}") from error
            return Local(self.storage, name, stored.get("identity", ""), settings)

    def _first_window(self, name: str, n_arms: int) -> Lateness | None:
        """Return the window of a study whose settings are older than windows in settings, from its first events."""
        rows = self.storage.newest(name, n_arms + 2, below=n_arms + 2)
        found = [event for event in map(event_of, rows) if isinstance(event, WindowSet)]
        return Lateness(found[0].window, found[0].late) if found else None

    def delete(self, name: str, identity: str | None) -> None:
        """Delete a study, unless it has another identity."""
        with self.storage.transaction(name) as transaction:
            if identity is not None and transaction.settings().get("identity", "") != identity:
                raise ReplacedError(f"the study {name!r} was replaced by another one of this name", name)
            transaction.delete()


def _first_rows(settings: StudySettings) -> list[Row]:
    """Return the events with which a study begins: its arms, floors and window."""
    first: list[Event] = [ArmAdded(k, arm) for k, arm in enumerate(settings.arms)]
    if settings.floor is not None:
        first.append(FloorSet(checked_floor(settings.floor, settings.arms)))
    if settings.lateness is not None:
        first.append(WindowSet(*settings.lateness))
    now = time.time()
    return [event.row(number, now, None, actor()) for number, event in enumerate(first)]


def load_study(name: str, storage: str | Storage | Place, *, policy: Policy | str | None = None) -> Study:
    """Load the study of this name. ``policy`` is needed only if you wrote its class yourself.

    >>> load_study("maize", "sqlite:///nowhere.db")
    Traceback (most recent call last):
    dirichlet_bandits.errors.NotFoundError: no storage at 'sqlite:///nowhere.db'
    """
    return place_of(storage).load(checked_name("name", name), None if policy is None else as_policy(policy))


def study_names(storage: str | Storage | Place, *, archived: bool = False) -> list[str]:
    """Return the names of the studies in a storage, oldest first; with ``archived``, of the archived ones instead.

    >>> from dirichlet_bandits.storage import MemoryStorage
    >>> place = MemoryStorage()
    >>> study = create_study("maize", arms=["early", "late"], storage=place)
    >>> study_names(place)
    ['maize']
    """
    return place_of(storage).names(archived)


def delete_study(name: str, storage: str | Storage | Place, *, confirm: str, identity: str | None = None) -> None:
    """Delete a study and all of its events permanently; ``confirm`` must repeat its name.

    :meth:`Study.export` saves its trials, and :meth:`Study.archive` only hides it. With the ``identity`` of a
    :class:`Study`, another study that has its name by now is not deleted, and a :class:`ConflictError` is raised.

    >>> from dirichlet_bandits.storage import MemoryStorage
    >>> place = MemoryStorage()
    >>> study = create_study("maize", arms=["early", "late"], storage=place)
    >>> delete_study("maize", place, confirm="yes")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'confirm' must be the name of the study, 'maize' (got 'yes')
    >>> delete_study("maize", place, confirm="maize")
    >>> study_names(place)
    []
    """
    check_confirmed(name, confirm)
    place_of(storage).delete(name, identity)


def check_confirmed(name: str, confirm: object) -> None:
    """Refuse to delete a study unless its name is repeated."""
    if confirm != name:
        raise ArgumentError("confirm", f"the name of the study, {name!r}", confirm)


class Listed(NamedTuple):
    """One study: its policy as text, its numbers of arms, trials and pending trials, and its best arm, if any."""

    study: str
    policy: str
    arms: int
    trials: int
    pending: int
    best: str | None


def list_studies(storage: str | Storage, *, archived: bool = False) -> list[Listed]:
    """Return the studies that are not archived, or those that are; each is read once, without building tables.

    >>> import dirichlet_bandits as db
    >>> study = db.create_study("maize", arms=["early", "late"], seed=1)
    >>> list_studies(study.storage)
    [Listed(study='maize', policy="RDS(rho='sqrt-log', level=None)", arms=2, trials=0, pending=0, best=None)]
    """
    place = open_storage(storage)
    found = []
    for name in place.names(archived):
        try:
            local = StudiesHere(place).open(name, None)
            journal, best = local.journal(), local.do(ReadBestArm())
        except (NotFoundError, ReplacedError):  # deleted or renamed in the meantime
            continue
        counts = len(journal.active_arms()), len(journal.arm_of), len(journal.pending)
        found.append(Listed(name, repr(local.settings.policy), *counts, best))
    return found


# Compile ahead of time what the first decisions of a live study would wait for


def compile_live(policy: Policy) -> None:
    """Compile everything that ``ask`` and ``tell`` call for a policy of this type, by running a study in memory."""
    low = max(policy.reward_bounds[0], min(policy.reward_bounds[1], 1.0) - 1.0)
    high = min(policy.reward_bounds[1], low + 1.0)
    study = create_study("ahead", arms=["a", "b"], policy=policy, seed=0)
    for trial, share in zip(study.ask(2), (0.25, 0.75), strict=True):
        study.tell(trial.id, low + share * (high - low))
    study.ask()
    params, root, stream = policy.params, study_words(root_sequence(0)), new_stream()
    # It is called only for a random decision, which not every study this short has.
    specialized(select_study, params)(params, policy.init(2), 0, root, lent_stream(stream), np.empty(2, np.int64))
