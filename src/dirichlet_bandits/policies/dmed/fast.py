"""DMED by tangents: an arm that is not on the list is skipped while its tangent keeps it off the list.

After each pull, DMED compares the divergence of every arm with a threshold. The tangent of an arm's divergence at the
last evaluation lies below it (``policies/tangents.py``), whatever the leader earns. So an arm with N_j
tangent(m) > log(t / N_j) does not join the next list: the comparison in ``rule.py`` would have the same result. For
example, if N_j = 20 and the tangent is 0.3 at t = 1000, then 6 > log 50 = 3.9, and the arm is skipped without a solve.

If only the leader is waiting, and all other tangents stay above log(t / N_j) for the next pulls and for all means of
the leader from ``low`` on, then every list of these pulls is the leader alone, which is pulled repeatedly. The list
after the last of them, when the mean may have fallen below ``low``, is made as usual. Nothing is random, so games are
the same pull by pull.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.repeated_pulls import pull_while, with_room
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.compensated import raised
from dirichlet_bandits.policies.dmed.rule import (
    DMEDParams,
    EmpiricalDMEDParams,
    ListingTally,
    Lists,
    first_waiting,
    may_be_best,
    memorize,
    start_coming_list,
)
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.policies.min_divergence import coordinate
from dirichlet_bandits.policies.tangents import (
    Tangents,
    index_lower_bound,
    new_tangents,
    pulls_before_rivals,
    set_tangent,
)
from dirichlet_bandits.types import Records


@jit
def relist_by_tangents(
    policy: Any, memory: Any, lists: Lists, tangents: Tangents, expansions: Records, pulled: int
) -> tuple[int, float]:
    """Update the lists after a pull, as ``relist`` does; return the number of pulls and the largest mean."""
    lists.waiting[pulled] = 0
    total, best_mean = overview(memory)
    c, level = coordinate(policy, best_mean), raised(math.log(total))
    for arm in range(memory.pulls.size):
        if not lists.waiting[arm] and not lists.coming[arm]:
            if index_lower_bound(tangents, arm, memory.pulls[arm], c) > level:
                continue
            value = set_tangent(policy, memory, tangents, expansions, arm, best_mean)
            lists.coming[arm] = may_be_best(policy, memory, arm, total, best_mean, value)
    start_coming_list(lists)
    return total, best_mean


@jit
def is_only_one_listed(lists: Lists, arm: int) -> bool:
    """Whether no other arm is on a list."""
    for other in range(lists.waiting.size):
        if other != arm and (lists.waiting[other] or lists.coming[other]):
            return False
    return True


@shortcut(DMEDParams, EmpiricalDMEDParams)
def play_dmed(policy: Any, state: ListingTally, run: Run, rng: np.random.Generator) -> None:
    """Work through the lists until the run is over."""
    memory, lists, expansions = state.memory, state.lists, state.expansions
    tangents = new_tangents(memory.pulls.size)
    total, best_mean = overview(memory)
    while not ended(run.progress):
        arm = first_waiting(lists)
        more, low = 1, 0.0
        if memory.means[arm] == best_mean and is_only_one_listed(lists, arm):
            more, low = pulls_before_rivals(policy, tangents, memory, arm, total)
        if more > 1:
            memory = with_room(memory, arm)
            pull_while(run, memory, arm, low, math.inf, more)
        else:
            reward = pull(run, arm)
            if ended(run.progress):
                break
            memory = memorize(policy, memory, arm, reward)
        tangents.slope[arm] = math.nan
        total, best_mean = relist_by_tangents(policy, memory, lists, tangents, expansions, arm)
