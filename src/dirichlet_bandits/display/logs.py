"""The logger of the package, ``dirichlet_bandits``: what was compiled, stored and tried again; silent unless told.

>>> import logging
>>> logging.getLogger("dirichlet_bandits") is LOGGER
True
"""

import logging
from typing import Final

LOGGER: Final = logging.getLogger(__name__.partition(".")[0])
LOGGER.addHandler(logging.NullHandler())  # an application says where records go; without one, none is printed
