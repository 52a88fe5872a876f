"""The empirical Kinf of growing samples, with the largest observation as the upper bound."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.environments import Law
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments.claims import Published
from dirichlet_bandits.experiments.fields import name_list, text
from dirichlet_bandits.numerics.kinf import kinf
from dirichlet_bandits.seeding import generator, root_sequence, stream_seeds
from dirichlet_bandits.specs import under
from dirichlet_bandits.theory.laws import deviation, divergence_in_family, family_of
from dirichlet_bandits.validation import finite_number, whole_number

QUANTITIES = ("slope", "ratio")


@dataclass(frozen=True)
class RangeClaim:
    """The claim that a quantity of one distribution lies between two limits.

    The quantity is the "slope" of log Kinf on log log n, or the "ratio" of the mean empirical Kinf at the largest size
    to Kinf in the family.
    """

    says: str
    law: str
    quantity: str
    low: float | None = None
    high: float | None = None
    reading: str = ""

    def __post_init__(self) -> None:
        text("says", self.says)
        text("reading", self.reading)
        if self.quantity not in QUANTITIES:
            raise ArgumentError("quantity", one_of(QUANTITIES), self.quantity)
        for name in ("low", "high"):
            if getattr(self, name) is not None:
                finite_number(name, getattr(self, name))


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
        text("title", self.title)
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
