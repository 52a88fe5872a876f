"""``dirichlet-bandits policies``: what there is to choose from."""

from dirichlet_bandits.cli import tables
from dirichlet_bandits.policies import POLICIES
from dirichlet_bandits.policies.interface import parameters


def policies() -> None:
    """List the policies: parameters, assumptions, papers.

    \b
    Example:
      dirichlet-bandits policies
    """
    rows = [(name, parameters(policy) or "none", policy.assumes, policy.reference) for name, policy in POLICIES.items()]
    headers = ("policy", "parameters", "assumes of the rewards", "reference")
    tables.show(tables.table("Policies", headers, rows, lines=True))
