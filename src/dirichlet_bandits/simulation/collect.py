"""Collect what units return: arrays in memory, or a store that the units write to themselves.

A store takes chunks of one simulation only, so it has the identity of the simulation: everything its numbers depend on.
"""

import dataclasses
import inspect
import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dirichlet_bandits.display import LOGGER
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.environments import Mean
from dirichlet_bandits.environments.environment import digest, pickled
from dirichlet_bandits.errors import FormatError, RewardError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.results.layout import VARIABLES, Chunk, Labels, Problem, labels
from dirichlet_bandits.results.result import Result
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.simulation import python_loop
from dirichlet_bandits.simulation.plan import AnyPolicy, Plan
from dirichlet_bandits.simulation.units import Unit
from dirichlet_bandits.sources import source_stamp
from dirichlet_bandits.theory.lower_bounds import evident_lower_bound

if TYPE_CHECKING:
    import xarray as xr

_PATIENCE_SECONDS = (0, 1, 5, 30, 60)  # network file systems remember for up to a minute that a file was missing


class Collector:
    """The growing result of a plan. Its store is prepared at once, and one of another simulation is refused."""

    def __init__(self, plan: Plan, store: Store | None) -> None:
        self.labels = _labeled(plan)
        self.store = store
        self.refused: dict[str, str] = {}
        self.arrays = {}
        if store is not None:
            self.labels.attrs["identity"] = identity(plan)
            store.prepare(self.labels.dataset())
            LOGGER.info("%r: %d of %d chunks are done", store.name, *store.marked())
        else:
            self.arrays = {
                name: variable.empty(tuple(self.labels.sizes[dim] for dim in variable.dims))
                for name, variable in VARIABLES.items()
            }

    def keep(self, unit: Unit, chunk: Chunk) -> None:
        """Keep the chunk that a unit returns; with a store, units return nothing."""
        for name, values in chunk._asdict().items():
            self.arrays[name][unit.row, unit.first : unit.last] = values

    def result(self, finished: bool) -> Result:
        """Return everything collected; a store must be complete if the simulation was ``finished``."""
        if self.store is None:
            return Result.from_arrays(self.labels, **self.arrays)
        return Result(_gathered(self.store) if finished else self.store.load())

    def refuse(self, policy: str, error: RewardError) -> None:
        """Note that a policy does not accept a reward, so that it has no result."""
        if policy not in self.refused:
            LOGGER.warning("%s refuses a reward and stops; the other policies continue: %s", policy, error)
            self.refused[policy] = str(error)

    def refusal(self) -> RewardError:
        """Return the error that names the policies that refused a reward; it has the result of the others."""
        said = "; ".join(f"policies[{name!r}]: {why}" for name, why in sorted(self.refused.items()))
        others = [name for name in self.labels.policies if name not in self.refused]
        if not others:
            return RewardError(said)
        error = RewardError(f"{said}; the 'result' of this error has the other policies")
        error.result = Result(self.result(False).data.sel(policy=others))
        return error


def _labeled(plan: Plan) -> Labels:
    """Return everything about the result that is known before it is simulated."""
    environment, horizon = plan.bandit, plan.horizon
    game = Problem(environment.objective.name, environment.objective.label, _bound_of(plan))
    if not environment.still:
        values = environment.values_over(horizon)
        game = game._replace(
            values=values[plan.times - 1],
            breakpoints=environment.starts(horizon)[1:],
            oracle_reward=float(values.max(axis=1).sum()),
        )
    return labels(
        policies={name: repr(policy) for name, policy in plan.policies.items()},
        arms=environment.descriptions(),
        means=environment.average_means(horizon),
        times=plan.times,
        replications=plan.replications,
        seed=plan.seed,
        game=game,
    )


def _bound_of(plan: Plan) -> Callable[[], float | None] | None:
    """Return a function for the constant of the lower bound, if nothing changes and the largest mean is best."""
    plain = plan.plain and isinstance(plan.bandit.objective, Mean)
    return partial(evident_lower_bound, tuple(plan.bandit.laws(plan.horizon).values())) if plain else None


def _gathered(store: Store) -> "xr.Dataset":
    """Read the whole store, with patience: a network file system may take a while to show what others wrote."""
    for pause in _PATIENCE_SECONDS:
        time.sleep(pause)
        with suppress(FormatError):  # only partly visible
            data = store.load()
            if not np.isnan(data["reward"]).any():
                return data
    raise FormatError(f"{store.name!r} lacks chunks that workers have written: does every worker see the same place?")


def identity(plan: Plan) -> str:
    """Return JSON of every field of the plan and of the sources, so that an error can name what differs."""
    known: dict[str, dict[str, Any]] = {
        "seed": {"seed": [str(plan.seed.entropy), *plan.seed.spawn_key]},
        "times": {"recorded times": digest(plan.times.tobytes())},
        "policies": {"policies": {name: _policy_identity(name, policy) for name, policy in plan.policies.items()}},
        "bandit": plan.bandit.identity(plan.horizon),
        "feedback": {} if plan.feedback.immediate else {"feedback": plan.feedback.identity()},
    }
    parts: dict[str, Any] = {}
    for field in dataclasses.fields(plan):  # others, also later ones, are numbers
        parts |= known.get(field.name) or {}
        if field.name not in known:
            parts[field.metadata.get("called", field.name)] = getattr(plan, field.name)
    return json.dumps({**parts, "version of the sources": source_stamp(python_loop.__file__)})


def _policy_identity(name: str, policy: AnyPolicy) -> list[str]:
    """Return a policy as text: its repr, and a digest of its code and state."""
    if isinstance(policy, Policy):
        return [repr(policy), verbs.stamp(policy.params)]
    kind = type(policy)
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):  # typed at a prompt
        source = ""
    state = pickled(f"policies[{name!r}]", policy, policy.__getstate__)
    return [f"{kind.__module__}.{kind.__qualname__}", digest(source.encode(), state)]
