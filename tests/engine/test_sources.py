"""The files that a policy depends on are the same in every process."""

import subprocess
import sys

CODE = """
import dirichlet_bandits as db
from dirichlet_bandits.engine import verbs

early = [verbs.stamp(getattr(db, name).example().params) for name in ("UCB1", "RDS", "NPTS")]  # one after the other
everything = [getattr(db.policies, name) for name in dir(db.policies)]
late = [verbs.stamp(getattr(db, name).example().params) for name in ("UCB1", "RDS", "NPTS")]
print(len(everything) > 40, early == late)
"""


def test_the_stamp_of_a_policy_does_not_depend_on_what_else_is_imported():
    """Otherwise, another process could not resume a store, and would not find compiled code."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
