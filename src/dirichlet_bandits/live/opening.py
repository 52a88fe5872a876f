"""Create, load, list and delete studies by name."""

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from dirichlet_bandits.errors import ArgumentError, ConflictError, FormatError, NotFoundError, ReplacedError
from dirichlet_bandits.live import summary
from dirichlet_bandits.live.bounds import check_within, declared_bounds
from dirichlet_bandits.live.description import as_policy, checked_name, checked_names, describe, is_described, restore
from dirichlet_bandits.live.direction import MAXIMIZE, direction_for
from dirichlet_bandits.live.event import Event
from dirichlet_bandits.live.events import ArmAdded, FloorSet, WindowSet
from dirichlet_bandits.live.floors import Floor, check_sum, checked_floor
from dirichlet_bandits.live.lateness import Lateness, checked_lateness, shown
from dirichlet_bandits.live.reading import LEVEL
from dirichlet_bandits.live.study import Study
from dirichlet_bandits.live.study_state import Declared
from dirichlet_bandits.live.warm_start import checked_borrow, checked_warm
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.seeding import Seed, root_sequence
from dirichlet_bandits.storage import Row, Storage, open_storage
from dirichlet_bandits.storage.actors import actor
from dirichlet_bandits.storage.damage import intact

_COMPARED: Final = (  # settings of a study that exists must be those given now
    "arms", "policy", "direction", "control", "reward_unit", "bounds", "floor", "segments", "history", "weight",
    "borrow", "seed",
)  # fmt: skip


def create_study(
    name: str,
    *,
    arms: Sequence[str],
    policy: Policy | str = "RDS",
    storage: str | Storage | None = None,
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
    become known; ``floor={"control": 0.2}`` does so for the arms that are named. See :meth:`Study.set_floor`.

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
    policy = as_policy(policy)
    settings: dict[str, Any] = {"policy": describe(policy), "seed": _number(seed), "arms": checked_names("arms", arms)}
    checked_name("name", name)
    if not direction_for(policy, direction).larger_is_better:
        settings["direction"] = direction
    if control is not None:
        if control not in settings["arms"]:
            raise ArgumentError("control", "one of the arms, or None", control)
        settings["control"] = control
    if reward_unit is not None:
        settings["reward_unit"] = checked_name("reward_unit", reward_unit)
    if segments is not None:
        settings["segments"] = checked_names("segments", segments)
    limits = declared_bounds(bounds, policy)
    if limits is not None:
        settings["bounds"] = list(limits)

    def check(value: float) -> None:
        policy.check_reward(value)
        check_within("late", value, limits)

    floors = checked_floor(floor, settings["arms"])
    if floors:
        check_sum(floors, settings["arms"])
        settings["floor"] = floors
    warm = checked_warm(history, weight, settings["arms"], policy)
    shared = checked_borrow(borrow, segments, history, policy)
    if shared:
        settings["borrow"] = shared
    if warm is not None:
        for arm, rewards in warm.history.items():
            for k, reward in enumerate(rewards):
                check_within(f"history[{arm!r}][{k}]", reward, limits)
        settings["history"] = {arm: list(rewards) for arm, rewards in warm.history.items()}
        settings["weight"] = warm.weight
    lateness = checked_lateness(window, late, check)
    policy.check_arms(len(settings["arms"]))
    if token is not None:
        settings["token"] = checked_name("token", token)
    settings["identity"] = secrets.token_hex(16)
    place = open_storage(storage, create=True)
    if place.create(name, settings, _first_events(settings, lateness)):
        return _study(place, name, policy, settings)
    first = None if token is None else place.created_by(token, name)
    if first:
        now = place.named(first, name)
        if now is None:
            raise ConflictError(f"the study {name!r} was created with token {token!r} and has been deleted since")
        name = now
    stored = _settings(place, name)
    if not first and not load_if_exists and (token is None or stored.get("token") != token):
        raise ConflictError(f"there is a study {name!r} (load_if_exists=True opens it)")
    if seed is None:
        settings["seed"] = stored["seed"]
    _check_created_alike(name, policy, stored, settings)
    study = _study(place, name, policy, stored)
    both = study._read().lateness, lateness
    if both[0] != both[1]:
        there, here = (None if one is None else (shown(one.window), one.as_given) for one in both)
        raise ConflictError(f"the study {name!r} was created with window and late {there} (got {here})")
    return study


def _first_events(settings: dict[str, Any], lateness: Lateness | None) -> list[Row]:
    """Return the events with which a study begins: its arms, floors and window."""
    first: list[Event] = [ArmAdded(k, arm) for k, arm in enumerate(settings["arms"])]
    if "floor" in settings:
        first.append(FloorSet(settings["floor"]))
    if lateness is not None:
        first.append(WindowSet(lateness.window, lateness.late))
    at, who = time.time(), actor()
    return [event.row(number, at, None, who) for number, event in enumerate(first)]


def _check_created_alike(name: str, policy: Policy, stored: dict[str, Any], settings: dict[str, Any]) -> None:
    """Refuse to load a study that was created with other settings than those given now."""
    for field in _COMPARED:
        there, here = stored.get(field), settings.get(field)
        if not (is_described(policy, stored["policy"]) if field == "policy" else there == here):
            raise ConflictError(f"the study {name!r} was created with {field} {there} (got {here})")


def load_study(name: str, storage: str | Storage, *, policy: Policy | str | None = None) -> Study:
    """Load the study of this name. ``policy`` is needed only if you wrote its class yourself.

    >>> load_study("maize", "sqlite:///nowhere.db")
    Traceback (most recent call last):
    dirichlet_bandits.errors.NotFoundError: no storage at 'sqlite:///nowhere.db'
    """
    place = open_storage(storage)
    stored = _settings(place, name)
    given = None if policy is None else as_policy(policy)
    with intact(f"the study {name!r}"):
        try:
            restored = restore(stored["policy"], given)
        except FormatError as error:
            raise FormatError(f"the study {name!r} cannot be read: {error}") from error
        return _study(place, name, restored, stored)


def study_names(storage: str | Storage, *, archived: bool = False) -> list[str]:
    """Return the names of the studies in a storage, oldest first; with ``archived``, of the archived ones instead.

    >>> from dirichlet_bandits.storage import MemoryStorage
    >>> place = MemoryStorage()
    >>> study = create_study("maize", arms=["early", "late"], storage=place)
    >>> study_names(place)
    ['maize']
    """
    return open_storage(storage).names(archived)


def delete_study(name: str, storage: str | Storage, *, confirm: str, identity: str | None = None) -> None:
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
    with open_storage(storage).transaction(name) as transaction:
        if identity is not None and transaction.settings().get("identity", "") != identity:
            raise ReplacedError(f"the study {name!r} was replaced by another one of this name", name)
        transaction.delete()


def check_confirmed(name: str, confirm: object) -> None:
    """Refuse to delete a study unless its name is repeated."""
    if confirm != name:
        raise ArgumentError("confirm", f"the name of the study, {name!r}", confirm)


def _study(storage: Storage, name: str, policy: Policy, stored: dict[str, Any]) -> Study:
    """Return the study with the stored settings."""
    control, history, segments = stored.get("control"), stored.get("history"), stored.get("segments")
    if control is not None and control not in stored["arms"]:
        raise FormatError(f"the study {name!r} has no arm {control!r}, its control: the storage is damaged")
    declared = Declared(
        seed=int(stored["seed"]),
        direction=stored.get("direction", MAXIMIZE),
        control=control,
        reward_unit=stored.get("reward_unit"),
        bounds=declared_bounds(stored.get("bounds"), policy),
        segments=segments or (),
        warm=checked_warm(history, stored.get("weight"), stored["arms"], policy),
        borrow=checked_borrow(stored.get("borrow"), segments, history, policy),
        identity=stored.get("identity", ""),  # older studies have none
    )
    return Study(storage, name, policy, declared)


def _settings(storage: Storage, name: str) -> dict[str, Any]:
    stored = storage.settings(name)
    if stored is None:
        raise NotFoundError(f"no study {name!r} in {storage.url!r}")
    return stored


def _number(seed: Seed) -> str:
    """Return the seed as one whole number in digits, because JSON readers may not keep so large an integer."""
    if isinstance(seed, int):
        return str(root_sequence(seed).entropy)
    words = root_sequence(seed).generate_state(4)
    return str(sum(int(word) << (32 * k) for k, word in enumerate(words)))


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
            study = load_study(name, place)
            journal = study._read()
        except (NotFoundError, ReplacedError):  # deleted or renamed in the meantime
            continue
        read = summary.Summarized(journal, study.policy, LEVEL, study._direction, study.control, study._limits)
        best = summary.best(read).arm
        counts = len(journal.active_arms()), len(journal.arm_of), len(journal.pending)
        found.append(Listed(name, repr(study.policy), *counts, best))
    return found
