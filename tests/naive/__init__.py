"""The slow, obvious twin of everything fast."""

from tests.naive.crossing import (
    crossing_closed_form,
    crossing_draws,
    crossing_integer_weights,
    crossing_integral,
)
from tests.naive.cvar import cvar, cvar_crossing, cvar_crossing_draws
from tests.naive.evidence import evidence
from tests.naive.kinf import kinf

__all__ = [
    "crossing_closed_form",
    "crossing_draws",
    "crossing_integer_weights",
    "crossing_integral",
    "cvar",
    "cvar_crossing",
    "cvar_crossing_draws",
    "evidence",
    "kinf",
]
