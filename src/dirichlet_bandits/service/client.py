"""Use the studies of a service as if they were local."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dirichlet_bandits.declared import number
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live.opening import create_study, delete_study, load_study, study_names
from dirichlet_bandits.live.readings import ReadStudy
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.live.study import Study
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.service.calls import CreateStudy, DeleteStudy, ListStudies, Plan, ReadIdentity, path_of
from dirichlet_bandits.service.http import Http, send
from dirichlet_bandits.service.wire import PATIENCE, Line

if TYPE_CHECKING:
    from dirichlet_bandits.environments import Bandit
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
    return Service(Line(url, key, number().accept("patience", patience)))


class Service:
    """A service, where studies are found by name.

    It can be the ``storage`` of :func:`create_study`, :func:`load_study`, :func:`study_names` and :func:`delete_study`,
    and has them as methods: ``service.create_study("maize", arms=["26 Feb", "13 Mar"])``.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self.create_study = partial(create_study, storage=self)
        self.load_study = partial(load_study, storage=self)
        self.study_names = partial(study_names, self)
        self.delete_study = partial(delete_study, storage=self)

    def __repr__(self) -> str:
        return f"<Service {self._line.url}>"

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._line.close()

    def create(self, name: str, settings: StudySettings, load_if_exists: bool, token: str | None) -> Study:
        """Create a study; :func:`create_study` calls this."""
        said = send(self._line, CreateStudy(name, settings, load_if_exists), token)
        return Study(Http(self._line, CreateStudy.of_answer(said)))

    def load(self, name: str, policy: Policy | None) -> Study:
        """Load the study of this name."""
        found = Http(self._line, ReadStudy.of_answer(send(self._line, ReadStudy(), study=name)))
        if policy not in (None, found.settings.policy):
            raise ArgumentError("policy", f"that of the study, {found.settings.policy}", policy)
        return Study(found)

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of the studies that are not archived, or of those that are."""
        return ListStudies.of_answer(send(self._line, ListStudies(archived)))

    def delete(self, name: str, identity: str | None) -> None:
        """Delete a study, unless it has another identity."""
        if identity is None:  # another study that has this name by then is left alone
            identity = ReadIdentity.of_answer(send(self._line, ReadIdentity(), study=name))
        body, again = (DeleteStudy(name, if_missing).as_json() for if_missing in (False, True))
        self._line.post(path_of(DeleteStudy), body, again=again, study=name, identity=identity)

    def plan(self, bandit: "Bandit | Mapping[str, Sequence[float]] | None" = None, **settings: Any) -> "StudyPlan":
        """Let the service simulate studies before they begin; ``settings`` are the other arguments of :func:`plan`.

        The service limits the size of a plan and simulates one at a time; while it is busy, the call is retried.
        """
        from dirichlet_bandits.experiments.planning import prepare

        asked = Plan(bandit, **settings)
        prepare(asked)  # refuses what makes no sense before it is sent
        return Plan.of_answer(send(self._line, asked))
