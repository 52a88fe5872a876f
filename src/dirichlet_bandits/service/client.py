"""Use the studies of a service as if they were local."""

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dirichlet_bandits.live.bounds import declared_bounds
from dirichlet_bandits.live.description import checked_name, checked_names
from dirichlet_bandits.live.direction import MAXIMIZE, direction_for
from dirichlet_bandits.live.floors import Floor, checked_floor
from dirichlet_bandits.live.lateness import checked_lateness
from dirichlet_bandits.live.opening import check_confirmed
from dirichlet_bandits.live.warm_start import checked_borrow, checked_warm
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.written import POLICY, as_policy
from dirichlet_bandits.service.remote_study import RemoteStudy
from dirichlet_bandits.service.wire import PATIENCE, Line
from dirichlet_bandits.validation import finite_number, whole_number

if TYPE_CHECKING:
    from dirichlet_bandits.arms import Bandit
    from dirichlet_bandits.experiments import StudyPlan


def connect(url: str, key: str | None = None, *, patience: float = PATIENCE) -> "Service":
    """Connect to the studies of a service that ``dirichlet-bandits serve`` runs.

    While the service is unreachable, calls are retried for up to ``patience`` seconds; then they raise a
    :class:`StorageError`. Retrying is always safe, because every change carries the identity of its study and a token,
    which the client draws unless you give one. So a change whose response was lost is not made twice.

    >>> connect("localhost:8000")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'url' must be the address of a service, such as \
'http://localhost:8000' (got 'localhost:8000')
    """
    return Service(Line(url, key, float(finite_number("patience", patience))))


class Service:
    """A service: studies by name, as :func:`create_study`, :func:`load_study` and :func:`study_names` return them."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def __repr__(self) -> str:
        return f"<Service {self._line.url}>"

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._line.close()

    def create_study(
        self,
        name: str,
        *,
        arms: Sequence[str],
        policy: Policy | str = "RDS",
        seed: int | None = None,
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
    ) -> RemoteStudy:
        """Create a study; with ``load_if_exists``, load the study of this name if it exists."""
        made = as_policy(policy)
        body: dict[str, Any] = {
            "name": checked_name("name", name),
            "arms": checked_names("arms", arms),
            "policy": POLICY.to_text(made, "policy"),
            "seed": None if seed is None else whole_number("seed", seed, 0),
            "direction": direction_for(made, direction).name,
            "control": control,
            **({} if floor is None else {"floor": checked_floor(floor, arms)}),
            "load_if_exists": bool(load_if_exists),
            "token": secrets.token_urlsafe(16),  # unique, so that a second attempt recognizes its own study
        }
        if bounds is not None:
            body["bounds"] = declared_bounds(bounds, made)
        if reward_unit is not None:
            body["reward_unit"] = checked_name("reward_unit", reward_unit)
        if segments is not None:
            body["segments"] = checked_names("segments", segments)
        warm = checked_warm(history, weight, body["arms"], made)
        if warm is not None:
            body |= {"history": {arm: list(x) for arm, x in warm.history.items()}, "weight": warm.weight}
        shared = checked_borrow(borrow, segments, history, made)
        if shared:
            body["borrow"] = shared
        lateness = checked_lateness(window, late, made.check_reward)
        if lateness is not None:
            body |= {"window": lateness.window, "late": lateness.as_given}
        return RemoteStudy(self._line, self._line.post("studies", body))

    def load_study(self, name: str) -> RemoteStudy:
        """Load the study of this name."""
        return RemoteStudy(self._line, self._line.get("study", study=checked_name("name", name)))

    def study_names(self, *, archived: bool = False) -> list[str]:
        """Return the names of the studies, oldest first; with ``archived``, of the archived ones instead."""
        return list(self._line.get("studies", **({"archived": True} if archived else {}))["studies"])

    def plan(self, bandit: "Bandit | Mapping[str, Sequence[float]] | None" = None, **settings: Any) -> "StudyPlan":
        """Let the service simulate studies before they begin; ``settings`` are the other arguments of :func:`plan`.

        The service limits the size of a plan and simulates one at a time; while it is busy, the call is retried.
        """
        from dirichlet_bandits.service.remote_plan import plan_body, read_plan  # decisions need no simulations

        return read_plan(self._line.post("plan", plan_body(bandit, settings)))

    def delete_study(self, name: str, *, confirm: str) -> None:
        """Delete a study permanently; ``confirm`` must repeat its name. See :func:`delete_study`."""
        check_confirmed(checked_name("name", name), confirm)
        identity = self._line.get("identity", study=name)["identity"]  # another study of this name is left alone
        body = {"confirm": confirm}
        self._line.post("delete", body, again={**body, "if_missing": True}, study=name, identity=identity)
