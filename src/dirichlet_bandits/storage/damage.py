"""Detect stored values that are damaged."""

from contextlib import ContextDecorator
from types import TracebackType

from dirichlet_bandits.errors import DirichletBanditsError, FormatError


class intact(ContextDecorator):  # noqa: N801 - used like a function
    """A context manager or decorator for code that interprets stored values: its failure means that they are damaged.

    >>> with intact("the study"):
    ...     {}["seed"]
    Traceback (most recent call last):
    dirichlet_bandits.errors.FormatError: the study is damaged: KeyError('seed')
    """

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        """Begin to interpret stored values."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise an error that the stored values are damaged."""
        unfit = isinstance(error, LookupError | TypeError | ValueError | OverflowError | RecursionError)
        if unfit and not isinstance(error, DirichletBanditsError):
            raise FormatError(f"{self._what} is damaged: {error!r}") from error
