"""What users see: progress bars, notebook output, tables and numbers, and the logger of the package.

It reports what was compiled, stored and retried; silent by default.

>>> import logging
>>> logging.getLogger("dirichlet_bandits") is LOGGER
True
"""

import logging
from typing import Final

LOGGER: Final = logging.getLogger(__name__.partition(".")[0])
LOGGER.addHandler(logging.NullHandler())  # the application decides where records go; by default, none is printed
