"""Type names for the arrays used throughout the package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]
Records = NDArray[Any]  # of a structured type with named fields
