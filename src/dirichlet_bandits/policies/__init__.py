"""Decision rules, one file or folder per family: rule, verbs and probability. They never import simulation or live.

A family is imported when one of its policies is first used, because a live study needs only one.
"""

import dirichlet_bandits.policies.index  # noqa: F401 - brings verbs for all policies that have none of their own
from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
