"""What a disk has spoilt."""

from collections.abc import Iterator
from contextlib import contextmanager

from dirichlet_bandits.errors import DirichletBanditsError, FormatError


@contextmanager
def intact(what: str) -> Iterator[None]:
    """Around whatever makes sense of stored values, or as a decorator: where it cannot, they are damaged.

    >>> with intact("the study"):
    ...     {}["seed"]
    Traceback (most recent call last):
    dirichlet_bandits.errors.FormatError: the study is damaged: KeyError('seed')
    """
    try:
        yield
    except DirichletBanditsError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FormatError(f"{what} is damaged: {error!r}") from error
