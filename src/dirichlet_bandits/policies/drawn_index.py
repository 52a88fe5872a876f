"""The simulation loop of index policies whose index is one draw from a distribution with few parameters.

An index is computed from one normal and one exponential variable, or the attempt is rejected
(:mod:`~dirichlet_bandits.numerics.draws`). An accepted index has the distribution of the policy's own index. The
variables are drawn in blocks. An index may use only part of an exponential variable; the rest, which is again
exponential, serves the next index. A policy may also postpone the decision whether an index is rejected, so that this
rare case does not slow down the others. If an index is rejected twice, the policy's own index takes its place. The
parameters of a distribution are computed when a reward arrives, not when an index is drawn.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.verbs import implements, inlined_verb, verb
from dirichlet_bandits.numerics.costs import ROUNDS_AT_ONCE
from dirichlet_bandits.policies.index import larger
from dirichlet_bandits.types import Floats


@verb
def new_laws(policy: Any, n_arms: int) -> Any:
    """Return a record per arm for the parameters of its index distribution."""


@verb
def learn_law(policy: Any, state: Any, arm: int, law: Any) -> Any:
    """Write the parameters of the arm's index distribution into its record."""


@inlined_verb
def index_or_nan(policy: Any, law: Any, x: float, e: float) -> Any:
    """Return an index drawn from a normal x and an exponential e, or NaN, and the rest of e."""


@verb
def settled_index(policy: Any, law: Any, x: float, rng: Any) -> Any:
    """Return the index if ``index_or_nan`` returned NaN for this x, or NaN if the attempt was rejected."""


@implements(settled_index)
def refused(policy: Any, law: Any, x: float, rng: np.random.Generator) -> float:
    """Return NaN: by default, the attempt was rejected."""
    return math.nan


@jit
def fill_normal(normal: Floats, rng: np.random.Generator) -> None:
    """Draw normal variables for a block of rounds."""
    for i in range(normal.size):
        normal[i] = rng.standard_normal()


@jit
def fill_exponential(exponential: Floats, rng: np.random.Generator) -> None:
    """Draw exponential variables for a block of rounds or more."""
    for i in range(exponential.size):
        exponential[i] = rng.standard_exponential()


@jit
def play_drawn_indices(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Pull the arm with the largest index until the run is over. Register this loop with ``shortcut``."""
    n_arms = run.pulls.size
    laws, values = new_laws(policy, n_arms), np.empty(n_arms)
    for arm in range(n_arms):
        learn_law(policy, state, arm, laws[arm])
    normal, exponential = np.empty(ROUNDS_AT_ONCE * n_arms), np.empty(ROUNDS_AT_ONCE * n_arms)
    used, spent, e = normal.size, exponential.size, 0.0
    while not ended(run.progress):
        if used + 2 * n_arms > normal.size:
            fill_normal(normal, rng)
            used = 0
        if spent + 2 * n_arms > exponential.size:
            fill_exponential(exponential, rng)
            spent = 0
        for arm in range(n_arms):
            if e == 0.0:
                e = exponential[spent]
                spent += 1
            values[arm], e = index_or_nan(policy, laws[arm], normal[used + arm], e)
        used += n_arms
        best, largest, ties, again = 0, -math.inf, 0, 0
        for arm in range(n_arms):
            value = values[arm]
            if math.isnan(value):
                value = settled_index(policy, laws[arm], normal[used - n_arms + arm], rng)
            if math.isnan(value):
                if e == 0.0:
                    e = exponential[spent]
                    spent += 1
                x = normal[used + again]
                again += 1
                value, e = index_or_nan(policy, laws[arm], x, e)
                if math.isnan(value):
                    value = settled_index(policy, laws[arm], x, rng)
                if math.isnan(value):
                    value = verbs.index(policy, state, arm, 0, 0.0, rng)
            best, largest, ties = larger(best, largest, ties, arm, value, rng)
        used += again
        reward = pull(run, best)
        verbs.update(policy, state, best, reward, rng)
        learn_law(policy, state, best, laws[best])
