"""The slow, obvious twin of everything fast."""

from tests.naive.kinf import kinf

__all__ = ["kinf"]
