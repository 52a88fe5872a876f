"""Costs, and so when a shortcut pays: every such constant of the package, each with its reason.

Costs are counted in exponential variables, about 5 ns each, one of which a plain duel or index draws for every reward.
These numbers affect only the speed of a simulation, not the distribution of its results. All were found on the seven
planting dates of ``make bench``, at 1e4 and 1e5 pulls, where a factor of two either way changes the time of a run by a
few percent.
"""

from typing import Final

LAW_COST: Final = 800
"""Cost of learning the distribution of a reweighted mean, with its rejection envelope: draws that cost this much are
made one by one first."""

LAW_LEAST: Final = 64
"""Rewards below which their distribution is not learned: drawing them all is cheaper than drawing from it."""

LAW_PATIENCE: Final = 64
"""How many times LAW_COST is spent before a distribution that could not be learned (because of a single large value,
say) is tried again."""

CERTIFICATE_COST: Final = 200
"""A certificate for a clock: bounds on a crossing probability, or a contour that is brought up to date, plus ..."""

CERTIFICATE_SETUP: Final = 8000
"""... this much divided by the number of rewards, because contours of few rewards are rebuilt more often."""

CERTIFICATE_ROOM: Final = 0.25
"""How far above the probability at the leader's mean the ceiling of the first certificate lies, in logarithm: a wider
interval lasts longer, but its clock gives exp(0.25) - 1 = 28% more false alarms."""

CERTIFICATE_WIDENING: Final = 1.5
"""Factor by which the next certificate is wider when the leader's mean leaves one, and narrower after a false alarm of
the clock."""

RUNG_DUEL_COST: Final = 100
"""A duel when a clock rings: an expansion with its bounds, or a crossing probability from a kept contour."""

DUEL_OVERHEAD: Final = 12
"""Cost of a duel besides its draws."""

EXPANSION_LEAST: Final = 80
"""Rewards below which bounds on a crossing probability from power sums are too wide to decide many duels."""

EXPANSION_WIDEST: Final = 0.1
"""If such bounds are farther from the probability than this, a duel without a clock is decided by draws."""

CEILING_ERROR: Final = 0.2
"""The ceiling of a clock may come from such bounds if they are no farther apart than this share of the probability."""

OFTEN: Final = 0.4
"""An arm that wins as often as this in a round is better off without a certificate."""

CONTOUR_LEAST: Final = 12
"""Values below which a simulation does not keep a contour: computing the probability directly is as fast."""

CONTOUR_KEPT_FROM: Final = 32
"""Rewards below which a live study computes a probability directly: it requires CONTOUR_ERROR, which few nodes on few
values rarely achieve."""

FOOT: Final = 3.5
"""Deviations below the mean of the leader's index at which the foot of a contest lies: a lower foot makes the clock
ring more often, and a higher one makes NPTS draw all indices more often."""

FAR_EACH: Final = 0.5
"""Largest rate at which a contest of NPTS waits for an arm by a clock; a ring costs half as much as an index ..."""

FAR_CHEAP: Final = 0.1
"""... and ten times as much as an index that is compared by its normal variable."""

FAR_MOST: Final = 0.6
"""Largest rate for all these arms together: it must be below 1, and the clock should ring less often than not."""

LEADER_LEAST: Final = 40
"""Rewards of a leader before other arms count as far in a contest of NPTS: with fewer, the foot is too low."""

PLAIN_PULLS: Final = 25
"""Pulls per arm during which NPTS draws all indices as the plain loop does."""

CONTEST_STEPS: Final = 16
"""Steps of a contest of NPTS before near and far arms are determined again: this many ..."""

CONTEST_SHARE: Final = 64
"""... plus one step per this many pulls so far."""

SPLINE_REWARDS: Final = 80
"""With more rewards, kept contours give the density of a reweighted mean faster than splines."""

SPLINE_KNOTS: Final = 400
"""With more knots, a density that no contour gives takes longer by splines than by distribution functions."""

TABLE_STEP: Final = 0.4
"""First trial width of a piece of a table, in standard deviations of the rewards."""

POLYNOMIAL_NEAREST: Final = 1.5
"""With a smaller reach, the polynomial for an index of NPTS decides too little."""

POLYNOMIAL_LASTS_COUNT: Final = 1.25
"""The error of that polynomial is bounded for more rewards than there are, so that the bound need not be computed with
each reward: this many times more, ..."""

POLYNOMIAL_LASTS_SKEWNESS: Final = (1.2, 0.02)
"""... for a squared skewness that is larger by a factor and a summand, ..."""

POLYNOMIAL_LASTS_KURTOSIS: Final = 1.1
"""... for a larger kurtosis, ..."""

POLYNOMIAL_LASTS_LARGEST: Final = 1.2
"""... and for a larger squared distance from the mean."""
