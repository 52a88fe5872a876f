"""Find the parameters for which the quantile condition of QDS holds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported when they are used
import xarray as xr

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments.claims import Published
from dirichlet_bandits.experiments.fields import name_list, text
from dirichlet_bandits.specs import under
from dirichlet_bandits.theory.conditions import QDSCondition, qds_condition
from dirichlet_bandits.theory.laws import ContinuousLaw
from dirichlet_bandits.validation import finite_number, positive_number

VARIED = ("rho", "alpha")
SIDES = ("above", "below")
_POINTS = 400


@dataclass(frozen=True)
class QDSPanel:
    """The condition for one distribution, as one parameter of QDS varies from ``start`` to ``stop``.

    The other parameter is ``fixed``.

    >>> from dirichlet_bandits import Exponential
    >>> panel = QDSPanel("exponential", Exponential(2.0), target=3.0, vary="rho", start=1.0, stop=20.0, fixed=0.05)
    >>> panel.at(8.0).holds, panel.at(2.0).holds
    (True, False)
    """

    name: str
    law: ContinuousLaw
    target: float
    vary: str
    start: float
    stop: float
    fixed: float

    def __post_init__(self) -> None:
        text("name", self.name)
        if self.vary not in VARIED:
            raise ArgumentError("vary", one_of(VARIED), self.vary)
        positive_number("from", self.start)
        if not finite_number("to", self.stop) > self.start:
            raise ArgumentError("to", f"above from = {self.start}", self.stop)
        self.at(self.start), self.at(self.stop)  # refuses what the condition refuses

    @property
    def stays(self) -> str:
        """The name of the parameter that does not vary."""
        return VARIED[1 - VARIED.index(self.vary)]

    def at(self, value: float) -> QDSCondition:
        """Return the condition at one value of the parameter that varies."""
        return qds_condition(self.law, self.target, **{self.vary: value, self.stays: self.fixed})

    def gap(self, value: float) -> float:
        """Return the left side minus the right side: a value is admissible if this is not positive."""
        condition = self.at(value)
        return condition.truncated - condition.family


@dataclass(frozen=True)
class AdmissibleClaim:
    """The claim that the admissible values of a panel are all those "above", or all those "below", some limit.

    If ``easier_than`` names another panel, the limit also leaves more values admissible than that panel's.
    """

    says: str
    panel: str
    admissible: str
    easier_than: str | None = None
    reading: str = ""

    def __post_init__(self) -> None:
        text("says", self.says)
        text("reading", self.reading)
        if self.admissible not in SIDES:
            raise ArgumentError("admissible", one_of(SIDES), self.admissible)


@dataclass(frozen=True)
class QDSStudy:
    """A study of the quantile condition in several panels.

    Reference: Baudry, Saux and Maillard (2021), appendix with examples of distributions.
    """

    title: str
    panels: Sequence[QDSPanel]
    paper: Published | None = None
    claims: Sequence[AdmissibleClaim] = ()

    def __post_init__(self) -> None:
        text("title", self.title)
        known = [panel.name for panel in self.panels]
        for k, claim in enumerate(self.claims):
            under(f"claims[{k}]", name_list, "panel", [claim.panel], known)
            if claim.easier_than is not None:
                under(f"claims[{k}]", name_list, "easier_than", [claim.easier_than], known)

    def run(self) -> xr.Dataset:
        """Compute both sides of the condition and its limits for each panel.

        The arrays are the ``value`` of the parameter, both sides ``truncated`` and ``family``, and the limits of the
        admissible values (``limit``, NaN if the whole range or none of it is admissible).
        """
        values = np.array([np.linspace(panel.start, panel.stop, _POINTS) for panel in self.panels])
        found = [[panel.at(x) for x in row] for panel, row in zip(self.panels, values, strict=True)]
        return xr.Dataset(
            {
                "value": (("panel", "point"), values),
                "truncated": (("panel", "point"), [[c.truncated for c in row] for row in found]),
                "family": (("panel",), [row[0].family for row in found]),
                "limit": (("panel",), [_limit(p, v) for p, v in zip(self.panels, values, strict=True)]),
            },
            coords={"panel": [panel.name for panel in self.panels]},
        )


def _limit(panel: QDSPanel, values: np.ndarray) -> float:
    """Return the value at which the condition begins or ceases to hold, if it does so once in the range."""
    gaps = np.array([panel.gap(x) for x in values])
    changes = np.flatnonzero(np.diff(np.sign(gaps)) != 0)
    if changes.size != 1:
        return float("nan")
    return float(scipy.optimize.brentq(panel.gap, values[changes[0]], values[changes[0] + 1], xtol=1e-10))
