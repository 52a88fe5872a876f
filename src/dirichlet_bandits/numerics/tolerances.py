"""Every numerical tolerance of the package, each with its reason."""

from typing import Final

TAIL_ERROR: Final = 1e-12
"""Relative error required of the integral over the lower tail of a user's distribution: its CVaR is right to 1e-10."""

NEWTON_STEP: Final = 1e-7
"""A relative Newton step below this is the last one: quadratic convergence leaves about its square, 1e-14."""

NEWTON_PATIENCE: Final = 40
"""Iterations after which every other Newton step of Kinf is replaced by a split of the bracket at its geometric mean.

Unweighted data need 35 at most; weights that differ by a factor of 1e50 would need hundreds of steps that double e.
"""

NEWTON_LIMIT: Final = 200
"""Iterations after which a solver gives up and reports it; a few are usual, and 35 is the most observed."""

SERIES_RADIUS: Final = 0.1
"""Below it, log(1+y)-y comes from its series; above it, the plain difference loses less than two digits."""

LARGEST_LEVEL: Final = 200.0
"""Divergence levels beyond this put the index within exp(-200) of the bound, closer than doubles can represent."""

QUANTILE_SLACK: Final = 1e-9
"""Rounding of n (1 - alpha) must not push a whole number to the next rank."""

SADDLE_STEP: Final = 0.05
"""Step, in widths of the integrand, at which the search for a saddle point stops: any nearby line will do."""

CONTOUR_AGREEMENT: Final = 1e-8
"""If halving the step changes a trapezoid sum by less than this, the error of the finer sum is about its square."""

CONTOUR_TAIL: Final = 1e-18
"""Terms of a contour sum smaller than this share of it are left out, because they are below the last bit."""

CONTOUR_HALVINGS: Final = 8
"""Halvings of the step after which the sum is taken as it is; two is the most observed."""

CONTOUR_ERROR: Final = 1e-14
"""A kept contour is accepted if its estimated error is below this. Of 2e5 random cases accepted, none was off by more
than 1e-11; of 3e4 with Pareto data, three were off by 1.1e-10."""

CLOCK_ERROR: Final = 1e-12
"""Estimated error up to which a simulation accepts a kept contour. Even if the estimate is a thousand times too small,
as in the worst cases observed, the distribution of a run with a thousand duels won would be right to a millionth."""

MIXTURE_NEGLIGIBLE: Final = 1e-18
"""Share of a mixture below which its remaining terms are left out, because they are below the last bit."""

MIXTURE_CANCELLATION: Final = 1e-3
"""An integral for several terms of a mixture that is this small compared with its integrand has lost three digits, so
the terms are split in two groups."""

CONTOUR_REACH: Final = 1e-15
"""A kept contour extends to where the integrand falls to this share of its value on the real axis."""

CHARACTERISTIC_ERROR: Final = 1e-10
"""Estimated absolute error up to which a simulation accepts a distribution function kept on the imaginary axis: the
distribution of a run with ten thousand such decisions is right to a millionth. Rounding of a million rewards leaves
about 1e-11."""

DENSITY_ERROR: Final = 1e-11
"""Estimated error up to which a simulation accepts a density from a kept contour, which decides single pulls."""

EXPANSION_ERROR: Final = 1e-10
"""A number n Kinf is taken from a power series if its error is at most this: ten times smaller than INDEX_SLACK."""

OFFSET_RATIO: Final = 1e-150
"""Offsets smaller than this share of the largest are rounded up to it, so that their ratios do not overflow."""

INDEX_SLACK: Final = 1e-9
"""A bound on an index must clear it by this share before the index is skipped, which is more than rounding can do."""

COMPRESSED_NODES: Final = 32
"""Weighted points that represent a large sample: with 24 as with 40 points, crossing probabilities above exp(-60) were
right to 5e-12 in samples of 100 to 1e5."""

LANCZOS_END: Final = 1e-13
"""A coupling below this share of the data's half range is rounding: the sample has no more distinct values.
This is also the least weight of a compressed point: positive, and far too small to matter."""

PANEL_AGREEMENT: Final = 1e-11
"""Share of a probability by which the last coefficients of a panel may change it."""

PANEL_ROUNDING: Final = 128.0
"""Rounding errors in the last coefficients of a derivative taken from 16 values: 16^2/2 times that of a value."""

PANEL_NEGLIGIBLE: Final = 1e-17
"""A panel that can add no more than this share to any probability is left out, because it is below the last bit."""

PANEL_LIMIT: Final = 500
"""Number of panels beyond which none is halved: the sum is taken as it is, and the sum of the probabilities shows its
defect. Of 480 random histories, one got there, with rewards that agree to six digits; no defect was above 6e-11."""

PROPENSITY_DEFECT: Final = 1e-9
"""Propensities of an index policy sum to one; a defect above this is reported, and one below it is divided out."""

STATISTIC_ERROR: Final = 1e-12
"""Error, relative to 1 + Z, allowed in the evidence Z that one arm is better than another: one last secant step."""

TABLE_ERROR: Final = 1e-9
"""The last two coefficients of the logarithm of a density on one piece of a table may be this large together. They are
errors of that piece alone and of both signs: propensities of 60 random cases were right to 1e-10, most to 1e-12."""

TABLE_CONTOUR: Final = 1e-10
"""Estimated error up to which a density from a kept contour enters a table, near its largest value. Propensities of 36
samples with heavy tails were right to 1e-12, so the estimate is usually far too large."""

TABLE_DEPTHS: Final = (40.0, 96.0, 192.0, 384.0, 760.0)
"""By how much the logarithm of a density has fallen where its table ends. The first of these that is enough for all
integrals is used; small probabilities take deeper tables, and the last one reaches what is 0 in double precision."""

SMOOTH_DERIVATIVES: Final = 11
"""A density with this many derivatives at a point is as good as smooth for polynomials through 16 or 24 values:
propensities of 160 random cases were right to 1e-11 with 9, 11 and 16, but took a half longer with 16."""

SHIFT_LARGEST: Final = 0.1
"""Largest change of a normal variable by which an error of its distribution function is made up for ..."""

SHIFT_FACTOR: Final = 1.45
"""... and how much the normal density falls over it, up to POLYNOMIAL_FARTHEST: exp(3.5 * 0.1 + 0.1^2 / 2) = 1.43."""

POLYNOMIAL_FARTHEST: Final = 3.5
"""Largest normal variable, in absolute value, at which the polynomial for an index of NPTS is used; with the change
above, its argument is at most 3.6."""

POLYNOMIAL_STEEPEST: Final = 1.2
"""Largest slope of that polynomial up to 3.6, in standard deviations of the index; a steeper one is not used."""

POLYNOMIAL_LARGEST: Final = 4.4
"""Largest value of that polynomial, in standard deviations: 3.6 times its largest slope is 4.32."""

POLYNOMIAL_SLOPE_SKEWNESS: Final = 7.2
"""Its slope is at most 1 + 2 z c1 + 3 (z^2 - 1) c2 + (6 z^2 - 5) c1^2 at z = 3.6: the factor of c1, ..."""

POLYNOMIAL_SLOPE_KURTOSIS: Final = 36.0
"""... that of c2, which is 35.88, ..."""

POLYNOMIAL_SLOPE_SQUARE: Final = 73.0
"""... and that of the square of c1, which is 72.76."""

FIFTH_FROM_FOURTH: Final = 0.8
"""Fifth powers over 5 are at most this times the largest number times fourth powers over 4."""

POWER_SUM_ROUNDING: Final = 1e-11
"""Rounding error of a probability from power sums, far above what was observed."""

SUBSET_ROUNDING: Final = 1e-9
"""Rounding error of the sum of a random subset, relative to the range of the rewards: sums of fewer than a million
rewards are exact to this."""

LAST_BITS: Final = 2.0**-51
"""Rounding error of a mean, relative to the largest reward."""
