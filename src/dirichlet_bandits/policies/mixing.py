"""Floors under a policy's decisions: the formula and the draw that simulations and live studies share.

With probability sum_j f_j, the policy does not decide; instead, a single arm is pulled, arm i with probability f_i.
Otherwise, the policy decides. If p_i is the probability that arm i is in the policy's next round, then it is in the
next round with probability f_i + (1 - sum_j f_j) p_i.
"""

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.types import Floats


def mixed(own: Floats, floors: Floats) -> Floats:
    """Return the probability that each arm is in the next round, from the policy's own probabilities and the floors.

    >>> import numpy as np
    >>> mixed(np.array([0.0, 1.0]), np.array([0.1, 0.1])).round(6)
    array([0.1, 0.9])
    """
    return floors + max(1.0 - float(floors.sum()), 0.0) * own


@jit
def forced_arm(floors: Floats, uniform: float) -> int:
    """Return the arm to pull alone, or -1 if the policy decides; ``uniform`` is drawn from [0, 1).

    >>> import numpy as np
    >>> [forced_arm.py_func(np.array([0.2, 0.1]), u) for u in (0.19, 0.2, 0.31)]
    [0, 1, -1]
    """
    reached = 0.0
    for arm in range(floors.size):
        reached += floors[arm]
        if uniform < reached:
            return arm
    return -1
