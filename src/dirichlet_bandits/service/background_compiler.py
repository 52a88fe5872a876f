"""Compile the policies of a service's studies in the background when the service starts."""

import logging
import threading

from dirichlet_bandits.errors import DirichletBanditsError
from dirichlet_bandits.live import load_study
from dirichlet_bandits.live.compile_live import compile_live
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage import Storage

_LOGGER = logging.getLogger(__name__)


class BackgroundCompiler:
    """A thread that compiles the policies of a storage's studies, one after the other."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.waiting: list[str] = []
        """Names of the policies that are not ready yet."""

    def start(self) -> threading.Thread:
        """Start compiling. The thread does not keep the process alive."""
        thread = threading.Thread(target=self._run, name="background-compiler", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            policies = self._policies()
        except DirichletBanditsError as error:  # the next ask raises it too
            _LOGGER.warning("nothing is compiled ahead: %s", error)
            return
        self.waiting = list(policies)
        if policies:
            _LOGGER.info("compiling ahead, where it was not done before: %s", ", ".join(policies))
        for name, policy in policies.items():
            try:
                compile_live(policy)
            except DirichletBanditsError as error:
                _LOGGER.warning("%s is not compiled ahead: %s", name, error)
            finally:
                self.waiting.remove(name)
        if policies:
            _LOGGER.info("compiled: %s", ", ".join(policies))

    def _policies(self) -> dict[str, Policy]:
        """Return one policy per type, leaving out custom policies and studies that are damaged."""
        found: dict[str, Policy] = {}
        for name in self._storage.names():
            try:
                policy = load_study(name, self._storage).policy
            except DirichletBanditsError:
                continue
            found.setdefault(type(policy).__name__, policy)
        return found
