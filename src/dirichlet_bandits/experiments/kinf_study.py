"""The empirical Kinf of growing samples, with the largest observation as the upper bound: the study and its chapter."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
import pandas as pd
import xarray as xr

from dirichlet_bandits import specs
from dirichlet_bandits.declared import Declared, choice, declared
from dirichlet_bandits.display.numbers import measured
from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.environments import Law
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.experiments.reading import LAWS, published
from dirichlet_bandits.numerics.kinf import kinf
from dirichlet_bandits.report.chapters import Chapter, ChapterFigure, ChapterTable, marked
from dirichlet_bandits.report.claims import FINITE, NOWHERE, TEXT, Published
from dirichlet_bandits.report.figures import legend, single
from dirichlet_bandits.report.judging import CONFIDENCE, Contrast, Verdict
from dirichlet_bandits.results.comparison import bootstrap
from dirichlet_bandits.results.plot import PALETTE, style
from dirichlet_bandits.seeding import generator, root_sequence, stream_seeds
from dirichlet_bandits.specs import name_list, under
from dirichlet_bandits.theory.laws import deviation, divergence_in_family, family_of
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCALE = ("samples", "sizes", "shown", "seed")


@declared
class RangeClaim(Declared):
    """The claim that a quantity of one distribution lies between two limits.

    The quantity is the "slope" of log Kinf on log log n, or the "ratio" of the mean empirical Kinf at the largest size
    to Kinf in the family.
    """

    says: Annotated[str, TEXT]
    law: Annotated[str, TEXT]
    quantity: Annotated[str, choice("slope", "ratio")]
    low: Annotated[float | None, FINITE] = None
    high: Annotated[float | None, FINITE] = None
    reading: Annotated[str, TEXT] = ""


@dataclass(frozen=True)
class KinfStudy:
    """Kinf(F_n, target; max X) of nested samples from several distributions.

    >>> from dirichlet_bandits import Exponential
    >>> laws, targets = {"exp": Exponential(2.0)}, {"exp": 3.0}
    >>> study = KinfStudy("Kinf", laws, targets, sizes=[100, 1000], shown=[100], samples=5, seed=0)
    >>> study.run()["kinf"].dims
    ('law', 'sample', 'size')

    Reference: Baudry, Saux and Maillard (2021), appendix on the asymptotic behavior of the empirical Kinf.
    """

    title: str
    laws: Mapping[str, Law]
    targets: Mapping[str, float]
    sizes: Sequence[int]
    shown: Sequence[int]
    samples: int
    seed: int
    paper: Published | None = None
    claims: Sequence[RangeClaim] = ()

    def __post_init__(self) -> None:
        TEXT.accept("title", self.title)
        whole_number("samples", self.samples, at_least=2)
        whole_number("seed", self.seed, at_least=0)
        if not isinstance(self.sizes, list | tuple) or len(self.sizes) < 2 or list(self.sizes) != sorted(self.sizes):
            raise ArgumentError("sizes", "at least two increasing integers", self.sizes)
        for size in self.sizes:
            whole_number("sizes", size, at_least=3)  # log log n is a number from 3 on
        if not isinstance(self.shown, list | tuple) or not set(self.shown) <= set(self.sizes):
            raise ArgumentError("shown", "some of the sizes", self.shown)
        for name, law in self.laws.items():
            if family_of(law) is None:
                raise ArgumentError(f"laws[{name!r}]", "a distribution of a one-parameter family", law)
            if not finite_number("target", self.targets[name]) > law.mean():
                raise ArgumentError(f"laws[{name!r}].target", f"above the mean, {law.mean()}", self.targets[name])
        for k, claim in enumerate(self.claims):
            under(f"claims[{k}]", name_list, "law", [claim.law], self.laws)

    def at_scale(self, replications: int | None, seed: int | None) -> Self:
        """Return the study with this number of samples and this seed, where they are given."""
        return dataclasses.replace(self, samples=replications or self.samples, seed=self.seed if seed is None else seed)

    def run(self, progress: bool | None = None) -> xr.Dataset:
        """Compute ``kinf`` (law, sample, size), and ``family`` (law), the Kinf in each distribution's own family."""
        root = root_sequence(self.seed)
        values = np.empty((len(self.laws), self.samples, len(self.sizes)))
        with bars({self.title: self.samples}, progress, "samples") as shown:
            for s in range(self.samples):
                seeds = stream_seeds(root, s, len(self.laws))
                for i, (name, law) in enumerate(self.laws.items()):
                    x = law.rvs(self.sizes[-1], generator(seeds[i]))
                    for j, n in enumerate(self.sizes):
                        values[i, s, j] = kinf(x[:n], self.targets[name], x[:n].max()).value
                shown.show(self.title, s + 1)
        family = [
            divergence_in_family(str(family_of(law)), deviation(law), law.mean(), self.targets[name])
            for name, law in self.laws.items()
        ]
        return xr.Dataset(
            {"kinf": (("law", "sample", "size"), values), "family": (("law",), np.array(family))},
            coords={"law": list(self.laws), "size": list(self.sizes)},
        )

    def chapter(self, name: str, values: xr.Dataset, quick: bool) -> Chapter:
        """Return what a report says about the values of this study."""
        note = f"quick run: {self.samples} replications" if quick else ""
        pictures = [
            ChapterFigure(
                f"{name}-{law.lower()}",
                draw_law(self, values, law),
                f"{law}: density of the empirical Kinf over {self.samples} samples, and Kinf in the family.",
            )
            for law in self.laws
        ]
        pictures.append(
            ChapterFigure(
                f"{name}-slopes",
                draw_slopes(self, values),
                "Log of the mean empirical Kinf against log log n. Dashed lines are fits; "
                "dotted ones, Kinf in the family.",
            )
        )
        rows = [
            {
                "law": law,
                "n": int(n),
                "mean": float(x.mean()),
                "std": float(x.std(ddof=1)),
                "q05": float(x.quantile(0.05)),
                "q95": float(x.quantile(0.95)),
                "family": float(values["family"].sel(law=law)),
            }
            for law in self.laws
            for n in self.shown
            for x in [values["kinf"].sel(law=law, size=n)]
        ]
        headers = ("distribution", "n", "mean", "std", "5%", "95%", "in the family")
        caption = f"Empirical Kinf over {self.samples} samples."
        return Chapter(
            name=name,
            title=self.title,
            paper=self.paper or NOWHERE,
            scale=f"{self.samples} samples of up to {measured(self.sizes[-1])} observations",
            seed=self.seed,
            pictures=marked(pictures, note),
            tables=[ChapterTable(name, pd.DataFrame(rows), headers, caption)],
            verdicts=[judge_kinf(claim, self, values) for claim in self.claims],
        )


def from_file(content: Mapping[str, Any], default_title: str) -> KinfStudy:
    """Make a study of the empirical Kinf from the content of its file."""
    specs.check_keys(content, ("study", "title", *_SCALE, "laws", "paper", "claims"), (*_SCALE, "laws"))
    tables = specs.all_tables(content, "laws", "law")
    names = specs.table_names("laws", tables, [f"law {k}" for k in range(len(tables))])
    laws: dict[str, Law] = {}
    targets: dict[str, float] = {}
    for k, (name, table) in enumerate(zip(names, tables, strict=True)):
        specs.check_keys(table, table, ("target",), f"laws[{k}].")
        targets[name] = table["target"]
        rest = {key: value for key, value in table.items() if key != "target"}
        laws[name] = specs.choose(f"laws[{k}]", "law", LAWS, rest)
    return KinfStudy(
        title=content.get("title", default_title),
        laws=laws,
        targets=targets,
        paper=published(content),
        claims=specs.make_all(content, "claims", "words", RangeClaim, called="a claim"),
        **{key: content[key] for key in _SCALE},
    )


def judge_kinf(claim: RangeClaim, study: KinfStudy, values: xr.Dataset) -> Verdict:
    """Judge a claim on the empirical Kinf by a bootstrap over samples."""
    kinf = values["kinf"].sel(law=claim.law).to_numpy().T  # (size, sample)
    x = np.log(np.log(np.array(study.sizes, float)))
    family = float(values["family"].sel(law=claim.law))

    def slope(rows: Floats) -> Floats:
        y = np.log(rows.mean(axis=-1))  # (size, resample)
        return np.asarray((x - x.mean()) @ y / ((x - x.mean()) ** 2).sum())

    def ratio(rows: Floats) -> Floats:
        return np.asarray(rows[-1].mean(axis=-1) / family)

    found = bootstrap(kinf, {"slope": slope, "ratio": ratio}[claim.quantity], CONFIDENCE)
    least = -math.inf if claim.low is None else claim.low
    most = math.inf if claim.high is None else claim.high
    comparison = Contrast(f"{claim.quantity}, {claim.law}", *found, least, most)
    return Verdict(claim.says, claim.reading, [comparison], kinf.shape[1])


def draw_law(study: KinfStudy, values: xr.Dataset, law: str) -> "Figure":
    """Draw the distribution of the empirical Kinf for the sizes shown, their means, and Kinf in the family."""
    from scipy.stats import gaussian_kde

    figure, axes = single(4.0)
    family = float(values["family"].sel(law=law))
    drawn = [values["kinf"].sel(law=law, size=n).to_numpy() for n in study.shown]
    high = max(float(np.quantile(x, 0.995)) for x in drawn)
    grid = np.linspace(min(float(x.min()) for x in drawn), max(high, 1.1 * family), 400)
    for i, (n, x) in enumerate(zip(study.shown, drawn, strict=True)):
        color = PALETTE[i]
        density = gaussian_kde(x)(grid)
        axes.fill_between(grid, density, color=color, alpha=0.15, linewidth=0)
        axes.plot(grid, density, **style(i), linewidth=1.2, label=f"n = {measured(n)}")
        axes.axvline(float(x.mean()), **style(i), linewidth=1.5)
    axes.axvline(family, color="0.3", linewidth=1.5, linestyle=(0, (6, 3)), label="Kinf in the family")
    axes.set_xlim(grid[0], grid[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Kinf")
    axes.set_ylabel("density over samples")
    axes.set_title(f"Empirical Kinf: {law}, target {study.targets[law]:g}", fontsize=11)
    legend(figure, *axes.get_legend_handles_labels(), "density; vertical: mean")
    return figure


def draw_slopes(study: KinfStudy, values: xr.Dataset) -> "Figure":
    """Draw the log of the mean Kinf against log log n, with the fitted line and the value in the family."""
    figure, axes = single(4.4)
    x = np.log(np.log(np.array(study.sizes, float)))
    for i, law in enumerate(study.laws):
        y = np.log(values["kinf"].sel(law=law).mean("sample").to_numpy())
        slope, start = np.polyfit(x, y, 1)
        color = PALETTE[i]
        axes.plot(x, y, color=color, marker="o", markersize=4, linewidth=1.5, label=f"{law}: slope {slope:.2f}")
        axes.plot(x, start + slope * x, color=color, linestyle=(0, (5, 2)), linewidth=1)
        axes.axhline(float(np.log(values["family"].sel(law=law))), color=color, linestyle=(0, (1, 1)), linewidth=1.5)
    axes.set_xlabel("log log n")
    axes.set_ylabel("log Kinf")
    axes.set_title("Empirical Kinf against the size of the sample", fontsize=11)
    legend(figure, *axes.get_legend_handles_labels(), "points: mean; dashed: fit; dotted: in the family")
    return figure
