"""What things cost, and so when a shortcut pays: every such constant of the package, each with its reason.

Costs are counted in exponential variables, about 5 ns each: what a plain duel or index draws for every reward. None of
these numbers has an influence on the law of a simulation, only on its speed; all were found on the seven planting dates
of ``make bench``, at 1e4 and 1e5 pulls, where a factor of two either way changes the time of a run by a few percent.
"""

from typing import Final

LAW_COST: Final = 800
"""To learn the law of a reweighted mean, with its rejection envelope: so many draws are made one by one before."""

LAW_LEAST: Final = 64
"""Rewards below which their law is not learnt: drawing them all is cheaper than drawing from it."""

LAW_PATIENCE: Final = 64
"""Laws' costs paid before one that could not be learnt (a single large value, say) is tried again."""

CERTIFICATE_COST: Final = 200
"""A certificate for a clock: bounds on a crossing probability, or a contour that is brought up to date..."""

CERTIFICATE_SETUP: Final = 8000
"""... and so much divided by the number of rewards, because contours of few rewards are built again more often."""

CERTIFICATE_ROOM: Final = 0.25
"""How far above the probability at the leader's mean the ceiling of the first certificate lies, in logarithm: a wider
interval lasts longer, but its clock rings in vain exp(0.25) - 1 = 28% more often."""

CERTIFICATE_WIDENING: Final = 1.5
"""When the leader's mean leaves a certificate, the next one is so much wider; after a ring in vain, it is so much
narrower."""

RUNG_DUEL_COST: Final = 100
"""A duel when a clock rings: an expansion with its bounds, or a crossing probability from a kept contour."""

DUEL_OVERHEAD: Final = 12
"""What a duel costs beside its draws."""

EXPANSION_LEAST: Final = 80
"""Rewards below which bounds of a crossing probability from power sums are too wide to decide many duels."""

EXPANSION_WIDEST: Final = 0.1
"""If such bounds are farther from the probability than this, a duel without a clock is fought by draws."""

CEILING_ERROR: Final = 0.02
"""The ceiling of a clock may come from such bounds if they are no farther apart than this share of the probability."""

OFTEN: Final = 0.4
"""An arm that wins as often as this in a round is better off without a certificate."""

CONTOUR_LEAST: Final = 12
"""Values below which a simulation does not keep a contour: computing the probability at once is as quick."""

CONTOUR_KEPT_FROM: Final = 32
"""Rewards below which a live study computes a probability at once: it wants CONTOUR_ERROR, which few nodes on few
values seldom give."""

CONTOUR_FOLLOWED_MOST: Final = 16
"""More new rewards than this are not worth following one by one: the contour is made anew."""

CONTOUR_APPENDED_MOST: Final = 500
"""Rewards appended after which a contour is made anew: rounding must not pile up in what is recorded."""

RING_COST: Final = 300
"""A ring of the clock of NPTS: a density, a distribution function, a few draws."""

INDEX_COST: Final = 60
"""An index of NPTS whose old rewards are drawn together."""

PAIR_RING_COST: Final = 60
"""A ring of the same clock for an arm whose index and the leader's are compared by normal variables."""

PAIR_LEAST: Final = 0.006
"""What normal variables beyond the reach of such a comparison may add to its rate, whatever the rest of the rate is."""

LEADER_LEAST: Final = 40
"""Rewards of a leader before NPTS waits by a clock: Bernstein's ceiling is useless for fewer."""

PLAIN_STEPS_MOST: Final = 64
"""Plain steps at most between two tries of NPTS to wait by a clock."""

CEILING_SHARE: Final = 32
"""Upper confidence bounds get ceilings for this share of the time that has passed."""

ROUNDS_AT_ONCE: Final = 64
"""Rounds for which uniform, normal or exponential variables are drawn in one go."""

RINGS_IN_VAIN: Final = 0.3
"""A certificate of MED may make its clock ring so much more often than the weights at the leader's mean ask for..."""

RINGS_SPARED: Final = 0.02
"""... or so often a pull, if that is more: a ring costs about as much as ten new certificates."""

CERTIFICATE_WORN: Final = 0.5
"""MED takes another certificate when a ring finds a ceiling so far above the weight, in logarithm."""

STRETCH_LEAST: Final = 32
"""Pulls of the leader below which MED makes them one by one, if rewards are only counted: a stretch begins by handing
over the run. Where rewards are kept, handing over their places one by one costs more."""

TILTED_DRAW_COST: Final = 4.0
"""A draw of WR-SDA or BESA from tilted weights, in plain ones, if no draw is refused."""

TILTED_DUEL_COST: Final = 60.0
"""The rest of a tilted duel, in plain draws."""

TILT_DRIFT: Final = 0.2
"""A tilt is chosen anew when the challenger's mean has moved by this share of its distance from the leader's."""

TILT_LEAST: Final = 6
"""Rewards of a challenger below which a plain duel is cheaper than keeping its clock."""

TILT_MOST: Final = 4.0
"""Largest tilt times the mean distance of the leader's rewards from their least one: with more, fewer than one tilted
draw in exp(4) would be accepted."""

TILT_PATIENCE: Final = 16
"""Plain draws, for each reward of the leader, before a clock that was not worth while is tried again."""

TILT_SAMPLE: Final = 256
"""Rewards of the leader from which a tilt is guessed."""

WEIGHT_COST: Final = 1
"""To add up the weight of a reward of the leader, in plain draws: so much is spent on lost duels before."""

WEIGHT_ROOM: Final = 0.15
"""How far a certificate of WR-SDA or BESA lets the ceiling rise above what it would be now, in logarithm."""
