"""What a simulation leaves: labelled arrays, summaries, paired comparisons, pictures, a folder on disk."""

import math
from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.results import plot, store
from dirichlet_bandits.results.intervals import student
from dirichlet_bandits.results.labels import VARIABLES
from dirichlet_bandits.results.places import Place
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import finite_number, number_between


class Comparison(NamedTuple):
    """Mean difference of the regrets of two policies over the replications that both finished."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    standard_error: float
    replications: int
    label: str = "regret"

    def __str__(self) -> str:
        verdict = "no clear difference" if self.low <= 0 <= self.high else "a clear difference"
        return (
            f"{self.label} of {self.first} minus {self.second}: {self.difference:.4g} "
            f"[{self.low:.4g}, {self.high:.4g}] over {self.replications} paired replications: {verdict}"
        )


class Result:
    """The outcome of :func:`dirichlet_bandits.simulate`, around an xarray Dataset in ``data``.

    Replications that an interruption left undone are NaN in ``regret`` and ``reward`` and zero in ``pulls``.
    """

    def __init__(self, data: xr.Dataset) -> None:
        self.data = data

    @classmethod
    def from_arrays(cls, labels: xr.Dataset, regret: Floats, pulls: Ints, reward: Floats) -> "Result":
        """The labelled arrays of a simulation."""
        arrays = {"regret": regret, "pulls": pulls, "reward": reward}
        variables = {name: (v.dims, arrays[name], {"long_name": v.long_name}) for name, v in VARIABLES.items()}
        return cls(xr.Dataset({**variables, "mean": labels.variables["mean"]}, labels.coords, labels.attrs))

    @property
    def lower_bound(self) -> float | None:
        """The constant c of the asymptotic lower bound c log(t), where the family of the arms is evident."""
        found = self.data.attrs.get("lower_bound")
        return None if found is None else float(found)

    @property
    def objective(self) -> str:
        """Name of what made an arm good: the regret is the loss of it."""
        return str(self.data.attrs.get("objective", "mean"))

    @property
    def regret_label(self) -> str:
        """What pictures and tables call the regret."""
        return str(self.data.attrs.get("regret_label", "regret"))

    @property
    def regret(self) -> xr.DataArray:
        """Pseudo-regret (policy, replication, time): sum over arms of gap times pulls."""
        return self.data["regret"]

    @property
    def pulls(self) -> xr.DataArray:
        """Pulls of each arm at the horizon (policy, replication, arm)."""
        return self.data["pulls"]

    @property
    def reward(self) -> xr.DataArray:
        """Realised cumulative reward at the horizon (policy, replication)."""
        return self.data["reward"]

    @property
    def policies(self) -> list[str]:
        """Names of the policies."""
        return [str(name) for name in self.data["policy"].values]

    @property
    def horizon(self) -> int:
        """Pulls in a replication."""
        return int(self.data["time"][-1])

    @property
    def undone(self) -> int:
        """Replications, of all policies together, that an interruption left undone."""
        return int(np.isnan(self.reward).sum())

    def final_regret(self, policy: str) -> Floats:
        """Regret at the horizon of the finished replications of one policy; the rest NaN."""
        if policy not in self.policies:
            raise ArgumentError("policy", one_of(self.policies), policy)
        return self.regret.sel(policy=policy).isel(time=-1).to_numpy()

    def summary(self) -> pd.DataFrame:
        """Regret at the horizon, a row a policy: mean, std, 5 % and 95 % quantiles, standard error of the mean."""
        rows = {}
        for policy in self.policies:
            final = self.final_regret(policy)
            final = final[~np.isnan(final)]
            n = final.size
            std = final.std(ddof=1) if n > 1 else math.nan
            q05, q95 = np.quantile(final, [0.05, 0.95]) if n else (math.nan, math.nan)
            rows[policy] = {
                "mean": final.mean() if n else math.nan,
                "std": std,
                "q05": q05,
                "q95": q95,
                "stderr": std / math.sqrt(n) if n else math.nan,
                "replications": n,
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("policy").astype({"replications": int})

    def compare(self, first: str, second: str, confidence: float = 0.95) -> Comparison:
        """Paired difference of the final regrets, first minus second, with its confidence interval.

        Both policies met the same rewards, so the difference is far sharper than the two means.
        """
        level = number_between("confidence", confidence, 0, 1)
        both = self.final_regret(first) - self.final_regret(second)
        both = both[~np.isnan(both)]
        if both.size < 2:
            raise ArgumentError("first, second", "two policies with at least two common replications", (first, second))
        error = float(both.std(ddof=1)) / math.sqrt(both.size)
        return Comparison(first, second, *student(both, level), error, both.size, self.regret_label)

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        policies: Sequence[str] | None = None,
        log_time: bool = False,
        log_regret: bool = False,
        lower_bound: float | Literal[False] | None = None,
        title: str | None = None,
        unit: str = "",
    ) -> Any:
        """Mean regret over time with its 5-95 % band; saved if a path is given. Returns the matplotlib figure.

        ``lower_bound`` is the constant c of an asymptotic lower bound c log(t), drawn as a dashed line: by default
        that of :attr:`lower_bound`, if the simulation knew it; False draws none.
        """
        constant = self.lower_bound if lower_bound is None else lower_bound
        chosen = self.policies if policies is None else list(policies)
        for policy in chosen:
            self.final_regret(policy)
        return plot.regret_figure(
            self.regret,
            chosen,
            path,
            log_time=log_time,
            log_regret=log_regret,
            lower_bound=finite_number("lower_bound", constant) if constant else None,
            title=title,
            label=self.regret_label,
            unit=unit,
        )

    def save(self, path: Place) -> None:
        """Write to a zarr folder; one that is there already is replaced only if it is ours.

        The older one stays until the new one is whole. A save that is killed leaves it as it was, and beside it a
        hidden folder that ends in ``.part``, which may be deleted.
        """
        store.save(self.data, path)

    def __repr__(self) -> str:
        sizes = self.data.sizes
        return (
            f"Result({len(self.policies)} policies, {sizes['arm']} arms, horizon {self.horizon}, "
            f"{sizes['replication']} replications)"
        )


def load(path: Place) -> Result:
    """Read a result that :meth:`Result.save`, or a simulation with a store, wrote: a local path or a URL."""
    return Result(store.load(path))
