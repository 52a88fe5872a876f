"""Collect what units return: arrays in memory, or a store that the units write to themselves."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from dirichlet_bandits.arms.assumptions import Assumption
from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.display.logs import LOGGER
from dirichlet_bandits.errors import FormatError, RewardError
from dirichlet_bandits.results.layout import VARIABLES, Chunk, Labels, Problem, labels
from dirichlet_bandits.results.result import Result
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.simulation.identity import identity
from dirichlet_bandits.simulation.plan import Plan
from dirichlet_bandits.simulation.units import Unit
from dirichlet_bandits.theory.lower_bounds import evident_lower_bound
from dirichlet_bandits.worlds import World

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
    bandit = plan.bandit
    return labels(
        policies={name: repr(policy) for name, policy in plan.policies.items()},
        arms=_described_arms(bandit),
        means=bandit.values(plan.horizon).mean(axis=0) if isinstance(bandit, World) else bandit.means,
        times=plan.times,
        replications=plan.replications,
        seed=plan.seed,
        game=Problem(
            objective=bandit.objective.name,
            regret_label=bandit.objective.label,
            lower_bound=_lower_bound(plan),
            values=bandit.values(plan.horizon)[plan.times - 1] if isinstance(bandit, World) else None,
            breakpoints=bandit.starts(plan.horizon)[1:] if isinstance(bandit, World) else (),
            oracle_reward=float(bandit.values(plan.horizon).max(axis=1).sum()) if isinstance(bandit, World) else None,
        ),
    )


def _described_arms(bandit: Bandit | World) -> dict[str, str]:
    """Return a description of each arm by name: its distribution, or the world that it belongs to."""
    if isinstance(bandit, World):
        return dict.fromkeys(bandit.names, repr(bandit))
    return dict(zip(bandit.names, map(repr, bandit.arms), strict=True))


def _lower_bound(plan: Plan) -> float | None:
    """Return the constant of the lower bound for a plain bandit whose best arm has the largest mean, else None."""
    bandit = plan.bandit
    if isinstance(bandit, World) or Assumption.MEAN not in bandit.guarantees or not plan.feedback.immediate:
        return None
    return evident_lower_bound(bandit.arms)


def _gathered(store: Store) -> "xr.Dataset":
    """Read the whole store, with patience: a network file system may take a while to show what others wrote."""
    for pause in _PATIENCE_SECONDS:
        time.sleep(pause)
        with suppress(FormatError):  # only partly visible
            data = store.load()
            if not np.isnan(data["reward"]).any():
                return data
    raise FormatError(f"{store.name!r} lacks chunks that workers have written: does every worker see the same place?")
