"""The studies that a service has open: one object each for the whole process, shared by its threads."""

import threading

from dirichlet_bandits.errors import ArgumentError, ConflictError, NotFoundError
from dirichlet_bandits.live import Study, load_study
from dirichlet_bandits.storage import Storage


class Registry:
    """Studies by name, opened when first needed; a study takes note by itself of what others write."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = threading.Lock()
        self._open: dict[str, Study] = {}

    def study(self, name: str) -> Study:
        """The study of this name."""
        found = self._open.get(name)
        if found is not None:
            return found
        if self.storage.settings(name) is None:
            raise NotFoundError(f"no study {name!r}")  # without the storage's URL: that is nobody's business
        try:
            loaded = load_study(name, self.storage)
        except ArgumentError:
            raise ConflictError(f"the study {name!r} has a policy of somebody's own, which no service has") from None
        return self.keep(loaded)

    def rename(self, old: str, new: str) -> None:
        """Give a study another name, here and in the storage."""
        study = self.study(old)
        study.rename(new)
        self.forget(old)
        self.keep(study)

    def forget(self, name: str) -> None:
        """Let go of a study that is not there any more."""
        with self._lock:
            self._open.pop(name, None)

    def keep(self, study: Study) -> Study:
        """Remember a study; the one that was there first, if there is one."""
        with self._lock:
            return self._open.setdefault(study.name, study)
