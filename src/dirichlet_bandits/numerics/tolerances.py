"""Every numerical tolerance of the package, each with its reason."""

from typing import Final

NEWTON_STEP: Final = 1e-7
"""A relative Newton step below this is the last one: quadratic convergence leaves about its square, 1e-14."""

NEWTON_LIMIT: Final = 200
"""Iterations after which a solver gives up and says so; a few are usual, 35 the most seen."""

SERIES_RADIUS: Final = 0.1
"""Below it log(1+y)-y comes from its series; above it the plain difference loses less than two digits."""

LARGEST_LEVEL: Final = 200.0
"""Divergence levels beyond this put the index within exp(-200) of the bound: no double can tell."""

QUANTILE_SLACK: Final = 1e-9
"""Rounding of n (1 - alpha) must not push a whole number over the next rank."""
