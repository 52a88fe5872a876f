"""The Python interface of a policy: checked parameters in front, compiled verbs behind."""

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np

from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import next_round
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.environments.objective import Mean, Objective
from dirichlet_bandits.errors import ArgumentError, RewardError, one_of
from dirichlet_bandits.validation import LARGEST_SCALE

# Optimal: no policy that is good on all problems has a smaller constant before log T. Almost logarithmic: log T times a
# factor that is itself a power of log T or smaller. Linear: for fixed parameters, a share of all pulls goes to bad arms
# forever, and this is proved, as for a constant probability of exploration. None known: nothing is proved, neither good
# nor bad.
GUARANTEES: Final = ("optimal", "logarithmic", "almost logarithmic", "linear", "none known")


class Policy:
    """A decision rule: a frozen dataclass of the user's parameters.

    ``params`` is the NamedTuple of numbers on which the compiled verbs are registered. It has at least one field
    (``check_policy`` refuses an empty one); a policy without parameters adds a number that no verb uses. ``assumes``,
    ``guarantee`` and ``reference`` fill the table of ``dirichlet-bandits policies``. The guarantee is what is proved
    about the regret when the assumptions hold: one of ``GUARANTEES``. ``ordered_arms`` is true if the order of the arms
    matters to the policy. ``waits_for_all_arms`` is true if the policy cannot decide before every arm has a reward;
    other policies choose among the arms that have one, as soon as there are two. ``wraps`` names the policy classes
    that this one can wrap and for which it is compiled ahead of time; such a wrapper has a field ``policy``, and that
    policy's ``params`` are among its own. ``example_parameters`` are sound values of the parameters without a default.
    """

    assumes: ClassVar[str] = "unknown"
    guarantee: ClassVar[str] = "none known"
    reference: ClassVar[str] = ""
    ordered_arms: ClassVar[bool] = False
    waits_for_all_arms: ClassVar[bool] = False
    wraps: ClassVar[tuple[str, ...]] = ()
    example_parameters: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def example(cls) -> Self:
        """Return a sound policy of this class, for example to compile it: its type decides, not its parameters.

        >>> from dirichlet_bandits import SlidingWindow
        >>> SlidingWindow.example()
        SlidingWindow(policy=UCB1(sigma=1.0), window=100)
        """
        return cls(**cls.example_parameters)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return sound policies with which all verbs of this class are compiled."""
        return [cls.example()]

    @property
    def params(self) -> tuple[Any, ...]:
        """Parameters in the form that the compiled verbs use: a NamedTuple of numbers with at least one field."""
        raise NotImplementedError

    @property
    def bibtex(self) -> str:
        """The papers to cite for this policy, as BibTeX entries.

        >>> from dirichlet_bandits import NPTS
        >>> print(NPTS(upper=1).bibtex)
        @inproceedings{riou2020,
          author = {Riou, Charles and Honda, Junya},
          title = {Bandit algorithms based on {T}hompson sampling for bounded reward distributions},
          booktitle = {Algorithmic Learning Theory},
          year = {2020},
        }
        """
        entries = Path(__file__).with_name("references.bib").read_text(encoding="utf-8").strip().split("\n\n")
        known = dict(entry.split("\n", 1) for entry in entries)  # by a comment, the label in ``reference``
        return "\n\n".join(known[f"% {label}"] for label in self.reference.split("; ") if f"% {label}" in known)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        """The interval in which this policy expects every reward."""
        return -math.inf, math.inf

    @property
    def reward_limits(self) -> tuple[float, float]:
        """The interval outside of which rewards are refused: the bounds, but never more than 1e100 in absolute value.

        Sums of squares of larger rewards would overflow.
        """
        low, high = self.reward_bounds
        return max(low, -LARGEST_SCALE), min(high, LARGEST_SCALE)

    @property
    def objective(self) -> Objective:
        """The quantity that this policy maximizes; a live study names its best arm by it."""
        return Mean()

    def check_arms(self, n_arms: int) -> None:
        """Refuse a number of arms that does not fit the parameters; most policies accept any number."""

    def init(self, n_arms: int) -> Any:
        """Return the state before the first reward."""
        return specialized(_init, self.params)(self.params, n_arms)

    def select(self, state: Any, rng: np.random.Generator) -> list[int]:
        """Return the arms of the next round in the order of their pulls, without changing the state."""
        return [int(arm) for arm in specialized(_select, self.params)(self.params, state, rng)]

    def update(self, state: Any, arm: int, reward: float, rng: np.random.Generator) -> Any:
        """Return the state after one more reward; the given state must not be used again."""
        if not 0 <= arm < len(state.pulls):
            raise ArgumentError("arm", f"an index below {len(state.pulls)}", arm)
        self.check_reward(reward)
        return specialized(_update, self.params)(self.params, state, arm, float(reward), rng)

    def check_reward(self, reward: float) -> None:
        """Refuse a reward that is not finite, too large to be squared, or outside the declared bounds."""
        low, high = self.reward_bounds
        if not math.isfinite(reward):
            raise RewardError(f"a reward must be a finite number (got {reward!r})")
        if abs(reward) > LARGEST_SCALE:
            raise RewardError(f"a reward must be between -{LARGEST_SCALE:g} and {LARGEST_SCALE:g} (got {reward!r})")
        if not low <= reward <= high:
            raise RewardError(f"{self!r} expects rewards in [{low:g}, {high:g}] (got {reward!r})")


def _init(policy: Any, n_arms: int) -> Any:
    return verbs.init(policy, n_arms)


def _select(policy: Any, state: Any, rng: Any) -> Any:
    return next_round(policy, state, rng)


def _update(policy: Any, state: Any, arm: int, reward: float, rng: Any) -> Any:
    return verbs.update(policy, state, arm, reward, rng)


def choice(name: str, value: str, choices: dict[str, int]) -> int:
    """Return the code of a named choice."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(name, one_of(choices), value)
    return choices[value]


def parameters(policy_class: type[Policy]) -> str:
    """Return the signature of a policy for tables, for instance ``rho='sqrt-log'``."""
    shown = []
    for field in dataclasses.fields(policy_class):  # type: ignore[arg-type]
        default = "" if field.default is dataclasses.MISSING else f"={field.default!r}"
        shown.append(f"{field.name}{default}")
    return ", ".join(shown)
