"""What authors of policies, distributions and environments build on: a promise, like the names of the package itself.

``CONTRIBUTING.md`` shows how to use these names. A policy in plain Python needs none of them.
"""

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.clocks import geometric
from dirichlet_bandits.engine.history import keeps_rewards
from dirichlet_bandits.engine.repeated_pulls import pull_while
from dirichlet_bandits.engine.run import ended, pull
from dirichlet_bandits.engine.verbs import duel, implements, index, init, note, prepare, select, shortcut, update
from dirichlet_bandits.environments.environment import Environment
from dirichlet_bandits.policies.index import index_propensities, larger, random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.propensity import state_propensities
from dirichlet_bandits.policies.registry import propensity_of, register
from dirichlet_bandits.policies.rounds import duel_round, win_probability
from dirichlet_bandits.seeding import generator
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import finite_number, number_between, positive_number, whole_number

# fmt: off
__all__ = [
    "Environment", "Floats", "Ints", "Policy", "duel", "duel_round", "ended", "finite_number",
    "generator", "geometric", "implements", "index", "index_propensities", "init", "jit", "keeps_rewards", "larger",
    "note", "number_between", "positive_number", "prepare", "propensity_of", "pull", "pull_while",
    "random_index_propensities", "register", "select", "shared", "shortcut", "state_propensities", "update",
    "whole_number", "win_probability",
]
# fmt: on
