"""Bandits with randomly drawn arms: one run of every policy on each of many problems."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import xarray as xr

from dirichlet_bandits import specs
from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.environments import Bandit, Empirical, Law, Objective
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.experiments.experiment import Experiment
from dirichlet_bandits.experiments.reading import objective_of, policies, published
from dirichlet_bandits.report.claims import Claim, Published
from dirichlet_bandits.results import Result
from dirichlet_bandits.seeding import generator, root_sequence, stream_seeds
from dirichlet_bandits.simulation import python_loop, simulate
from dirichlet_bandits.simulation.plan import AnyPolicy
from dirichlet_bandits.sources import source_stamp
from dirichlet_bandits.validation import finite_array, whole_number

if TYPE_CHECKING:
    from dirichlet_bandits.report import Chapter

_SHARES = 10_000  # probabilities are rounded to 1/10 000; 10 000 rewards represent a distribution without closed form


class RandomLaw(Protocol):
    """A distribution over reward distributions."""

    def draw(self, rng: np.random.Generator) -> Law:
        """Draw the distribution of one arm."""


@dataclass(frozen=True)
class RandomMultinomial:
    """Fixed values whose probabilities are uniform on the simplex, rounded to 1/10 000.

    >>> RandomMultinomial([0, 0.5, 1]).draw(np.random.default_rng(0)).support()
    (0.0, 1.0)
    """

    values: Sequence[float]

    def __post_init__(self) -> None:
        if finite_array("values", self.values).size < 2:
            raise ArgumentError("values", "at least two numbers", self.values)

    def draw(self, rng: np.random.Generator) -> Law:
        ends = np.cumsum([0.0, *rng.dirichlet(np.ones(len(self.values)))])
        return Empirical(np.repeat(np.asarray(self.values, float), np.diff(np.rint(_SHARES * ends).astype(int))))


@dataclass(frozen=True)
class RandomClippedMixture:
    """A mixture of Gaussians clipped to [0, 1], with random means, standard deviations and weights.

    Means and standard deviations are uniform between their limits, and weights are uniform on the simplex. The arm's
    distribution is that of 10 000 rewards drawn from the mixture.

    >>> law = RandomClippedMixture(modes=10, means=[0.25, 1.0], stds=[0.0, 0.1]).draw(np.random.default_rng(0))
    >>> 0 <= law.support()[0] < law.mean() < law.support()[1] <= 1
    True
    """

    modes: int
    means: Sequence[float]
    stds: Sequence[float]

    def __post_init__(self) -> None:
        whole_number("modes", self.modes, at_least=1)
        for name in ("means", "stds"):
            ends = finite_array(name, getattr(self, name))
            if ends.size != 2 or not 0.0 <= ends[0] <= ends[1]:
                raise ArgumentError(name, "two numbers of at least 0, the smaller first", getattr(self, name))

    def draw(self, rng: np.random.Generator) -> Law:
        means, stds = (rng.uniform(ends[0], ends[1], self.modes) for ends in (self.means, self.stds))
        mode = rng.choice(self.modes, _SHARES, p=rng.dirichlet(np.ones(self.modes)))
        return Empirical(np.clip(rng.normal(means[mode], stds[mode]), 0.0, 1.0))


@dataclass(frozen=True)
class RandomArms:
    """One run of every policy on each of many random problems; a problem depends only on the seed and its number.

    >>> from dirichlet_bandits import CVaR, MCVTS
    >>> law, policies = RandomMultinomial([0, 0.5, 1]), {"M-CVTS": MCVTS([0, 0.5, 1], level=0.2)}
    >>> study = RandomArms("Coins", law, 3, CVaR(0.2), policies, horizon=50, problems=4, seed=0)
    >>> study.run(progress=False)
    Result(1 policies, 3 arms, horizon 50, 4 replications)
    """

    title: str
    law: RandomLaw
    n_arms: int
    objective: Objective | None
    policies: Mapping[str, AnyPolicy]
    horizon: int
    problems: int
    seed: int
    paper: Published | None = None
    claims: Sequence[Claim] = ()

    def __post_init__(self) -> None:
        whole_number("arms", self.n_arms, at_least=2)
        whole_number("problems", self.problems, at_least=1)
        whole_number("seed", self.seed, at_least=0)
        self.experiment()  # which checks the rest

    @property
    def identity(self) -> str:
        """JSON of everything the numbers depend on, including the sources, to recognize a stored result."""
        names = ("law", "n_arms", "objective", "policies", "horizon", "problems", "seed")
        parts = {name: repr(getattr(self, name)) for name in names}
        return json.dumps({**parts, "version of the sources": source_stamp(python_loop.__file__)})

    def bandit(self, problem: int) -> Bandit:
        """Return the arms of one problem."""
        rng = generator(stream_seeds(root_sequence(self.seed), problem, 1)[0])
        return Bandit([self.law.draw(rng) for _ in range(self.n_arms)], objective=self.objective)

    def experiment(self) -> Experiment:
        """Return the first problem as an experiment, to show an example."""
        return Experiment(
            self.title,
            self.bandit(0),
            self.policies,
            horizon=self.horizon,
            replications=self.problems,
            seed=self.seed,
            paper=self.paper,
            claims=self.claims,
        )

    def at_scale(self, replications: int | None, seed: int | None) -> Self:
        """Return the study with this number of problems and this seed, where they are given."""
        return dataclasses.replace(
            self, problems=replications or self.problems, seed=self.seed if seed is None else seed
        )

    def run(self, progress: bool | None = None, **options: Any) -> Result:
        """Run the study and return one result in which each replication is a problem.

        The options are those of :func:`simulate`.
        """
        found = []
        with bars({self.title: self.problems}, progress, "problems") as shown:
            for problem in range(self.problems):
                # The first stream of (seed, problem) drew the arms; the run's own seeds lie one level below.
                seed = np.random.SeedSequence(self.seed, spawn_key=(problem,))
                result = simulate(
                    self.bandit(problem),
                    self.policies,
                    horizon=self.horizon,
                    replications=1,
                    seed=seed,
                    progress=False,
                    **options,
                )
                if result.undone:
                    raise KeyboardInterrupt
                found.append(result.data.drop_vars("mean").assign_coords(replication=[problem]))
                shown.show(self.title, problem + 1)
        joined = xr.concat(found, "replication", combine_attrs="override", join="override")
        joined.attrs.pop("lower_bound", None)  # that of the first problem
        joined.attrs |= {"seed": found[0].attrs["seed"], "identity": self.identity}
        return Result(joined)

    def chapter(self, name: str, result: Result, quick: bool) -> "Chapter":
        """Return what a report says about a result; its figure of distributions shows the first problem."""
        from dirichlet_bandits.report import regret_chapter  # needs pandas

        return regret_chapter(name, self.experiment(), result, quick, runs_are="random problems")


RANDOM_LAWS: dict[str, Callable[..., RandomLaw]] = {
    "multinomial": RandomMultinomial,
    "clipped-mixture": RandomClippedMixture,
}


def from_file(content: Mapping[str, Any], default_title: str) -> RandomArms:
    """Make random problems from the content of their file; the table ``[random]`` describes how arms are drawn."""
    scale = ("horizon", "problems", "seed")
    needed = (*scale, "random", "policies")
    specs.check_keys(content, ("study", "title", "objective", *needed, "paper", "claims"), needed)
    table = specs.one_table(content, "random") or {}
    specs.check_keys(table, table, ("arms",), "random.")
    rest = {key: value for key, value in table.items() if key != "arms"}
    return RandomArms(
        title=content.get("title", default_title),
        law=specs.choose("random", "law", RANDOM_LAWS, rest),
        n_arms=table["arms"],
        objective=objective_of(content),
        policies=policies(content),
        paper=published(content),
        claims=specs.make_all(content, "claims", "words", Claim, called="a claim"),
        **{key: content[key] for key in scale},
    )
