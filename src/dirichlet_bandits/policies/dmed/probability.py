"""Propensities of DMED: nothing is random, so the state determines the next arm."""

from typing import Any

import numpy as np

from dirichlet_bandits.policies.dmed.rule import DMED
from dirichlet_bandits.types import Floats


def list_propensities(policy: DMED, state: Any) -> Floats:
    """Return 1 for the first arm on the current list, 0 for the others."""
    waiting = state.lists.waiting
    return np.asarray(np.arange(waiting.size) == waiting.argmax(), np.float64)
