"""Functions that grow slowly without bound; RDS, R-UCB-LT and sub-sampling use them in place of unknown constants."""

import math
from enum import IntEnum

from dirichlet_bandits.compiler import jit


class Growth(IntEnum):
    """The choice of a function: sqrt(log x), log x, (log x)^2 or the cube root of log x."""

    SQRT_LOG = 0
    LOG = 1
    LOG2 = 2
    CBRT_LOG = 3


GROWTHS = {"sqrt-log": int(Growth.SQRT_LOG), "log": int(Growth.LOG), "log2": int(Growth.LOG2)}


@jit
def slow_growth(growth: int, x: float) -> float:
    """Return the value of the function at x.

    >>> slow_growth(GROWTHS["log2"], math.exp(3.0))
    9.0
    """
    log = math.log(x)
    if growth == Growth.SQRT_LOG:
        return math.sqrt(log)
    if growth == Growth.CBRT_LOG:
        return log ** (1.0 / 3.0)
    return log if growth == Growth.LOG else log * log
