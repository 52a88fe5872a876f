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

FOOT: Final = 3.5
"""Deviations below the mean of the leader's index at which the foot of a contest lies: a lower one makes the clock ring
more often, a higher one makes NPTS draw all indices more often."""

FAR_EACH: Final = 0.5
"""Largest rate at which a contest of NPTS waits for an arm by a clock; a ring costs half as much as an index..."""

FAR_CHEAP: Final = 0.1
"""... and ten times as much as an index that is compared by its normal variable."""

FAR_MOST: Final = 0.6
"""Largest rate for all these arms together: below 1, and the clock should ring less often than not."""

LEADER_LEAST: Final = 40
"""Rewards of a leader before NPTS waits by a clock: Bernstein's ceiling is useless for fewer."""

PLAIN_PULLS: Final = 25
"""Pulls per arm for which NPTS draws all indices as the plain loop does."""

CONTEST_STEPS: Final = 16
"""Steps of a contest of NPTS before near and far arms are told apart again: so many..."""

CONTEST_SHARE: Final = 64
"""... and this share of all pulls."""

RINGS_MOST: Final = 0.5
"""NPTS waits for all challengers by one clock if it rings at most so often per step."""

LEADER_FALL: Final = 0.25
"""By how many deviations of its index the leader's mean may fall before NPTS takes another certificate..."""

LEADER_RISE: Final = 0.5
"""... and by how many it may rise, because with a higher mean another foot makes the clock ring less often."""

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

FEWEST_REPEATED: Final = 32
"""Pulls of the leader below which MED makes them one by one, if rewards are only counted: repeated pulls begin by
handing over the run. Where rewards are kept, handing over their places one by one costs more."""

EVIDENCE_POINTS: Final = 4096
"""Rewards, and steps of a grid in their place, up to which the evidence that an arm is better is computed: 1.5 ms."""
