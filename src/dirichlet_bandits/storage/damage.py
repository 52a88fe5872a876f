"""What a disk has spoilt."""

from contextlib import ContextDecorator
from types import TracebackType

from dirichlet_bandits.errors import DirichletBanditsError, FormatError


class intact(ContextDecorator):  # noqa: N801 - used like a function
    """Around whatever makes sense of stored values, or as a decorator: where it cannot, they are damaged.

    >>> with intact("the study"):
    ...     {}["seed"]
    Traceback (most recent call last):
    dirichlet_bandits.errors.FormatError: the study is damaged: KeyError('seed')
    """

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        """Begin to make sense of stored values."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say that they are damaged."""
        unfit = isinstance(error, LookupError | TypeError | ValueError | OverflowError | RecursionError)
        if unfit and not isinstance(error, DirichletBanditsError):
            raise FormatError(f"{self._what} is damaged: {error!r}") from error
