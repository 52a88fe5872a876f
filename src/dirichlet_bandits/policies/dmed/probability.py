"""Which arm DMED pulls: nothing is random, the state says who is next."""

from typing import Any

import numpy as np

from dirichlet_bandits.policies.dmed.rule import DMED, WAITING
from dirichlet_bandits.types import Floats


def list_propensities(policy: DMED, state: Any) -> Floats:
    """1 for the first arm that waits."""
    waiting = state.lists[WAITING]
    return np.asarray(np.arange(waiting.size) == waiting.argmax(), np.float64)
