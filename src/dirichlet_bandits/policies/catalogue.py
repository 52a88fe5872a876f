"""All policies by name, in the order of every table: those of the paper first, those that optimize the CVaR last."""

from typing import Final

from dirichlet_bandits.policies import (
    cvar,
    deciding,
    dirichlet,
    dmed,
    floored,
    forgetting,
    imed,
    late,
    med,
    npts,
    perturbed,
    resampling,
    restarting,
    subsampling,
    thompson,
    ucb,
)
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import registered

_FAMILIES: Final = (
    dirichlet,
    dmed,
    imed,
    med,
    npts,
    perturbed,
    resampling,
    subsampling,
    thompson,
    ucb,
    deciding,
    floored,
    forgetting,
    restarting,
    late,
    cvar,
)

POLICIES: Final[dict[str, type[Policy]]] = {
    policy.__name__: policy for family in _FAMILIES for policy in registered(family.__name__)
}
