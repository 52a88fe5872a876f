"""Propensities again and again, while the state grows by a reward at a time: what can be kept is kept.

A live study needs the propensities at each decision. Asked anew, those of policies that remember every reward cost
passes over the rewards. Kept from one decision to the next they cost little more than the new rewards:

* BDS, RDS, QDS: the challenger's contour, RBSDA: the leader's blocks that are beaten (``duels.py``);
* EmpiricalIMED, EmpiricalKLUCB: sums that give Kinf without the data (``indices.py``);
* NPTS: each arm's condensed sample (``samples.py``).

The other policies are asked anew: :func:`state_propensities`.
"""

from dirichlet_bandits.policies.kept.keeper import PropensityKeeper

__all__ = ["PropensityKeeper"]
