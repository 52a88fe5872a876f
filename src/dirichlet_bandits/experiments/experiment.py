"""An experiment: a bandit, policies, a scale and a seed, and how to show its result."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from dirichlet_bandits.environments import Environment
from dirichlet_bandits.environments.feedback import AT_ONCE, make_feedback
from dirichlet_bandits.report.claims import TEXT, Claim, Panel, PlotSettings, Published
from dirichlet_bandits.results import Result
from dirichlet_bandits.simulation import simulate
from dirichlet_bandits.specs import name_list, under
from dirichlet_bandits.validation import large_count, whole_number

if TYPE_CHECKING:
    from dirichlet_bandits.report import Chapter


@dataclass(frozen=True)
class Experiment:
    """Everything that determines the numbers of a simulation; other options (threads, progress) go to :meth:`run`.

    ``figures``, ``paper`` and ``claims`` do not change the numbers: a report shows and tests them.

    >>> from dirichlet_bandits import Bandit, Bernoulli, UCB1
    >>> coins = Bandit([Bernoulli(0.4), Bernoulli(0.6)])
    >>> experiment = Experiment("Two coins", coins, {"UCB1": UCB1(sigma=0.5)}, horizon=100, replications=5, seed=0)
    >>> experiment.run()
    Result(1 policies, 2 arms, horizon 100, 5 replications)
    """

    title: str
    bandit: Environment
    policies: Mapping[str, Any]  # of the library, or the user's own
    horizon: int
    replications: int
    seed: int
    plot: PlotSettings = field(default_factory=PlotSettings)
    figures: Sequence[Panel] = ()
    paper: Published | None = None
    claims: Sequence[Claim] = ()
    feedback: Mapping[str, Any] = field(default_factory=dict)  # delay, window, late and batch, as simulate takes them

    def __post_init__(self) -> None:
        TEXT.accept("title", self.title)
        large_count("horizon", self.horizon, at_least=len(self.bandit))
        large_count("replications", self.replications, at_least=1)
        whole_number("seed", self.seed, at_least=0)
        make_feedback(**{**AT_ONCE, **self.feedback}, horizon=self.horizon, n_arms=len(self.bandit))
        for k, panel in enumerate(self.figures):
            under(f"figures[{k}]", name_list, "policies", panel.policies, self.policies)
        for k, claim in enumerate(self.claims):
            under(f"claims[{k}]", name_list, "lower", claim.lower, self.policies)
            under(f"claims[{k}]", name_list, "than", claim.than, self.policies)
        if self.paper is not None and self.paper.printed:
            name_list("paper.printed", list(self.paper.printed), self.policies)
        if self.paper is not None and self.paper.values:
            name_list("paper.values", list(self.paper.values), self.bandit.names)

    def at_scale(self, replications: int | None, seed: int | None) -> Self:
        """Return the experiment with this number of replications and this seed, where they are given."""
        return dataclasses.replace(
            self,
            replications=replications or self.replications,
            seed=self.seed if seed is None else seed,
        )

    def run(self, **options: Any) -> Result:
        """Run the simulation; the options are those of :func:`simulate`: ``workers``, ``store``, ``executor``..."""
        return simulate(
            self.bandit,
            self.policies,
            horizon=self.horizon,
            replications=self.replications,
            seed=self.seed,
            **self.feedback,
            **options,
        )

    def picture(self, result: Result, path: str | PathLike[str] | None = None, panel: Panel | None = None) -> Any:
        """Plot a result of this experiment with the settings of its file: all policies, or those of a panel."""
        return result.plot(
            path,
            policies=None if panel is None else panel.policies,
            title=self.title if panel is None else f"{self.title}: {panel.title}",
            **vars(self.plot),
        )

    def chapter(self, name: str, result: Result, quick: bool) -> "Chapter":
        """Return what a report says about a result of this experiment."""
        from dirichlet_bandits.report import regret_chapter  # needs pandas

        return regret_chapter(name, self, result, quick)
