"""The name of a study, which its handle still knows after a rename that was interrupted."""


class Named:
    """A handle on a study by its name; ``identity`` was drawn when the study was created, and no other study has it.

    An interrupt may come after a rename has been stored but before the handle has the new name. So ``_new_name`` is
    set first, and the next use of the name checks which one is right.
    """

    def __init__(self, name: str, identity: str) -> None:
        self._name = name
        self._new_name: str | None = None
        self.identity = identity

    @property
    def name(self) -> str:
        """The name of the study."""
        new = self._new_name
        if new is not None:
            if not self._has_name(self._name) and self._has_name(new):
                self._name = new
            self._new_name = None
        return self._name

    def _renamed(self, name: str) -> None:
        self._name = name
        self._new_name = None

    def _has_name(self, name: str) -> bool:
        """Whether the study is stored under this name."""
        raise NotImplementedError
