"""The outcome of a simulation: labeled arrays, summaries, paired comparisons, plots and a folder on disk."""

import base64
import functools
import json
import math
from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dirichlet_bandits.display import tables
from dirichlet_bandits.display.numbers import number
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.results import plot, store
from dirichlet_bandits.results.comparison import Comparison, Comparisons, compare_all_pairs, compare_pair
from dirichlet_bandits.results.layout import Labels, Place
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import finite_number, number_between, true_or_false

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


class Result:
    """The outcome of :func:`dirichlet_bandits.simulate`, around an xarray Dataset in ``data``.

    If a simulation was interrupted, unfinished replications are NaN in ``regret`` and ``reward``, zero in ``pulls``.

    >>> import dirichlet_bandits as db
    >>> coins = db.Bandit([db.Bernoulli(0.2), db.Bernoulli(0.6)])
    >>> result = db.simulate(coins, {"UCB1": db.UCB1(sigma=0.5)}, horizon=100, replications=4, seed=0)
    >>> result
    Result(1 policies, 2 arms, horizon 100, 4 replications)
    >>> result.regret.dims, result.pulls.sum("arm").values.tolist()
    (('policy', 'replication', 'time'), [[100, 100, 100, 100]])
    """

    _make: Callable[[], "xr.Dataset"]

    def __init__(self, data: "xr.Dataset") -> None:
        self.data = data

    @classmethod
    def from_arrays(cls, labels: Labels, regret: Floats, pulls: Ints, reward: Floats) -> "Result":
        """Make a result from plain arrays; xarray and pandas are imported only when its data are used."""
        result = cls.__new__(cls)
        result._make = functools.partial(labels.dataset, regret=regret, pulls=pulls, reward=reward)
        result.undone = int(np.isnan(reward).sum())
        return result

    @functools.cached_property
    def data(self) -> "xr.Dataset":
        """The labeled arrays ``regret``, ``pulls`` and ``reward``, and the true ``mean`` of each arm."""
        return self._make()

    def __getstate__(self) -> dict[str, "xr.Dataset"]:
        return {"data": self.data}

    @property
    def lower_bound(self) -> float | None:
        """The constant c of the asymptotic lower bound c log(t), if the family of the arms is known."""
        found = self.data.attrs.get("lower_bound")
        return None if found is None else float(found)

    @property
    def objective(self) -> str:
        """The name of the objective that the regret refers to, such as the mean."""
        return str(self.data.attrs.get("objective", "mean"))

    @property
    def values(self) -> "xr.DataArray | None":
        """The value of each arm at each recorded time (time, arm) if the arms change; else None."""
        return self.data.get("value")

    @property
    def breakpoints(self) -> tuple[int, ...]:
        """The first pulls, counted from 1, at which the distributions of the arms differ from before."""
        return tuple(json.loads(self.data.attrs.get("breakpoints", "[]")))

    @property
    def regret_label(self) -> str:
        """The name of the regret in plots and tables."""
        return str(self.data.attrs.get("regret_label", "regret"))

    @property
    def regret(self) -> "xr.DataArray":
        """The pseudo-regret (policy, replication, time): the sum over arms of gap times pulls."""
        return self.data["regret"]

    @property
    def pulls(self) -> "xr.DataArray":
        """The pulls of each arm at the horizon (policy, replication, arm)."""
        return self.data["pulls"]

    @property
    def reward(self) -> "xr.DataArray":
        """The cumulative reward at the horizon (policy, replication)."""
        return self.data["reward"]

    @property
    def policies(self) -> list[str]:
        """The names of the policies."""
        return [str(name) for name in self.data["policy"].values]

    @property
    def horizon(self) -> int:
        """The number of pulls in a replication."""
        return int(self.data["time"][-1])

    @functools.cached_property
    def undone(self) -> int:
        """The number of replications, over all policies, that an interruption left unfinished."""
        return int(np.isnan(self.reward).sum())

    def final_regret(self, policy: str) -> Floats:
        """Return the regret of one policy at the horizon in each replication; NaN if it was not finished."""
        if policy not in self.policies:
            raise ArgumentError("policy", one_of(self.policies), policy)
        return self.regret.sel(policy=policy).isel(time=-1).to_numpy()

    def summary(self) -> "pd.DataFrame":
        """Summarize the regret at the horizon, one row per policy: mean, std, 5% and 95% quantiles, standard error."""
        pd = whole_module("pandas")

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
        """Compare the final regrets of two policies: the paired difference, first minus second, with its interval.

        Both policies saw the same rewards, so the difference is much more precise than the two means.
        """
        level = number_between("confidence", confidence, 0, 1)
        both = self.final_regret(first) - self.final_regret(second)
        both = both[~np.isnan(both)]
        if both.size < 2:
            raise ArgumentError("first, second", "two policies with at least two common replications", (first, second))
        return compare_pair(first, second, both, level, self.regret_label)

    def compare_all(self, confidence: float = 0.95) -> Comparisons:
        """Compare all pairs of policies by their final regrets, with Holm's correction for the number of pairs.

        The returned object states which policy has the least regret and which ones cannot be distinguished from it.
        With at least this confidence, all of its statements are true. ``to_dataframe()`` returns one row per pair.

        Reference: Holm (1979), A simple sequentially rejective multiple test procedure.
        """
        level = number_between("confidence", confidence, 0, 1)
        finals = {policy: self.final_regret(policy) for policy in self.policies}
        found = compare_all_pairs(finals, level, self.regret_label)
        if not found.pairs:
            raise ArgumentError("result", "one of at least two policies with two common replications", self)
        return found

    def to_dataframe(self, *, over_time: bool = False) -> "pd.DataFrame":
        """Return one row per policy and replication: regret and reward at the horizon, and the pulls of each arm.

        With ``over_time``, there is one row per policy, replication and recorded time, with the regret so far.
        Replications that an interruption left unfinished are omitted.
        """
        xr = whole_module("xarray")

        keys = ["policy", "replication"]
        if true_or_false("over_time", over_time):
            frame = self.regret.to_dataframe().reset_index()
            return frame.dropna(subset="regret")[[*keys, "time", "regret"]].reset_index(drop=True)
        parts = {"regret": self.regret.isel(time=-1, drop=True), "reward": self.reward}
        parts |= {f"pulls of {arm}": self.pulls.sel(arm=arm, drop=True) for arm in self.data["arm"].values}
        frame = xr.Dataset(parts).to_dataframe().reset_index()
        return frame.dropna(subset="reward")[[*keys, *parts]].reset_index(drop=True)

    def to_latex(self) -> str:
        """Return the summary as a LaTeX table for the package ``booktabs``: mean and standard error, std, quantiles."""
        rows = [
            (
                str(policy),
                f"{number(row['mean'], padded=True)} ± {number(row['stderr'], 2, padded=True)}",
                *(number(row[key], digits, padded=True) for key, digits in (("std", 3), ("q05", 4), ("q95", 4))),
            )
            for policy, row in self.summary().iterrows()
        ]
        return tables.latex_table(("policy", f"mean {self.regret_label}", "std", "5%", "95%"), rows)

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        kind: str = "regret",
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
        legend: bool | str = True,
        band: plot.Band = 0.9,
        policies: Sequence[str] | None = None,
        log_time: bool = False,
        log_regret: bool = False,
        lower_bound: float | Literal[False] | None = None,
        title: str | None = None,
        reward_unit: str = "",
    ) -> "Figure":
        """Draw the result, write it to a file if a path is given, and return the matplotlib figure.

        With more than three policies, the name of each is at the end of its line, and so are the band and the 95%
        interval of the mean, as a thin and a thick bar; an arrowhead marks a bar that goes beyond the axes. With more
        than eight, each policy has a panel of its own. A policy has the same color in all plots, unless another policy
        in the plot has that color.

        Parameters
        ----------
        path
            A file to write: .png, .pdf, .svg...
        kind
            "regret": its mean over time. "pulls": how often each arm was pulled. "reward": the total reward.
            "distribution": the final regret over replications. "sweep": the final regret against the one parameter in
            which policies of a class differ.
        ax
            Axes to draw into, instead of a new figure.
        figsize
            Size in inches. If the width is below 5, as in a column of a page, letters are small and the legend, if
            there is one, is below the axes.
        legend
            False for none; "right", "below" or "inside" the axes, above the data. By default, wherever there is room.
        band
            The share of replications in the band around each mean, 0.9 for 5-95%; "mean" for the 95% interval of the
            mean; False for none.
        policies
            The policies to draw, in this order.
        log_time, log_regret
            Logarithmic axes.
        lower_bound
            The constant c of an asymptotic lower bound c log(t), drawn as a dashed line where it is below the regret of
            pulling all arms evenly. By default it is :attr:`lower_bound`, if that is known; False draws none.
        title, reward_unit
            The title above the plot, and the unit of the rewards.
        """
        constant = self.lower_bound if lower_bound is None else lower_bound
        chosen = self.policies if policies is None else list(policies)
        for policy in chosen:
            self.final_regret(policy)
        view = plot.View(
            self,
            chosen,
            band=plot.checked_band(band),
            log_time=log_time,
            log_regret=log_regret,
            lower_bound=finite_number("lower_bound", constant) if constant else None,
            unit=reward_unit,
        )
        legend = plot.checked_legend(legend)
        return plot.picture(view, kind, path, ax=ax, figsize=figsize, legend=legend, title=title)

    def save(self, path: Place) -> None:
        """Write the result to a zarr folder; an existing folder is replaced only if it holds a result.

        The older result stays until the new one is complete. If the process is killed, the older result is unchanged,
        and a hidden folder that ends in ``.part`` is left beside it, which may be deleted.
        """
        store.save(self.data, path)

    def __repr__(self) -> str:
        return f"Result({self._sizes()})"

    def _sizes(self) -> str:
        sizes = self.data.sizes
        return (
            f"{len(self.policies)} policies, {sizes['arm']} arms, horizon {self.horizon}, "
            f"{sizes['replication']} replications"
        )

    def _repr_html_(self) -> str:
        """Return the summary as a table, and the plot of the regret."""
        summary = self.summary()
        keys = {"mean": f"mean {self.regret_label}", "stderr": "std error", "std": "std", "q05": "5%", "q95": "95%"}
        rows = [
            (policy, *(float(row[key]) for key in keys), int(row["replications"])) for policy, row in summary.iterrows()
        ]
        done = summary["mean"].notna().any()
        best = int(np.nanargmin(summary["mean"])) if done and len(rows) > 1 else None
        undone = f"interrupted: {self.undone} replications are unfinished" if self.undone else ""
        shown = tables.table(self._sizes(), ["policy", *keys.values(), "runs"], rows, marked=best, below=undone)
        if not done:
            return shown
        figure: Any = self.plot(figsize=(6.0, 3.2))  # a Picture
        png = base64.b64encode(figure.png(dpi=150)).decode()
        return (
            f'{shown}<img width="600" style="max-width: 100%" alt="regret over time" src="data:image/png;base64,{png}">'
        )


def load(path: Place) -> Result:
    """Read a result written by :meth:`Result.save` or by a simulation with a store, from a local path or a URL.

    >>> import tempfile
    >>> import dirichlet_bandits as db
    >>> coins = db.Bandit([db.Bernoulli(0.2), db.Bernoulli(0.6)])
    >>> result = db.simulate(coins, {"UCB1": db.UCB1(sigma=0.5)}, horizon=100, replications=4, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/coins.zarr")
    ...     load(f"{folder}/coins.zarr").regret.equals(result.regret)
    True
    """
    return Result(store.load(path))
