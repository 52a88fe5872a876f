"""The slow, obvious twin of everything fast."""

from tests.naive.crossing import (
    crossing_closed_form,
    crossing_draws,
    crossing_integer_weights,
    crossing_integral,
)
from tests.naive.cvar import cvar, cvar_crossing, cvar_crossing_draws
from tests.naive.kinf import kinf
from tests.naive.kinf_statistic import kinf_statistic

__all__ = [
    "crossing_closed_form",
    "crossing_draws",
    "crossing_integer_weights",
    "crossing_integral",
    "cvar",
    "cvar_crossing",
    "cvar_crossing_draws",
    "kinf",
    "kinf_statistic",
]
