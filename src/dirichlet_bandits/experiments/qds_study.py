"""Find the parameters for which the quantile condition of QDS holds: the study and its chapter."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
import pandas as pd
import scipy  # its parts are imported when they are used
import xarray as xr

from dirichlet_bandits import specs
from dirichlet_bandits.declared import Declared, choice, declared
from dirichlet_bandits.display.numbers import measured
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments.reading import LAWS, published
from dirichlet_bandits.report.chapters import Chapter, ChapterFigure, ChapterTable, marked
from dirichlet_bandits.report.claims import NOWHERE, TEXT, Published
from dirichlet_bandits.report.figures import legend, single
from dirichlet_bandits.report.judging import Contrast, Verdict
from dirichlet_bandits.results.plot import PALETTE, style
from dirichlet_bandits.specs import FieldError, name_list, under
from dirichlet_bandits.theory.bounds import QDSCondition, qds_condition
from dirichlet_bandits.theory.laws import ContinuousLaw, continuous
from dirichlet_bandits.types import Flags, Floats
from dirichlet_bandits.validation import finite_number, positive_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIED = ("rho", "alpha")
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
        TEXT.accept("name", self.name)
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


@declared
class AdmissibleClaim(Declared):
    """The claim that the admissible values of a panel are all those "above", or all those "below", some limit.

    If ``easier_than`` names another panel, the limit also leaves more values admissible than that panel's.
    """

    says: Annotated[str, TEXT]
    panel: Annotated[str, TEXT]
    admissible: Annotated[str, choice("above", "below")]
    easier_than: Annotated[str | None, TEXT] = None
    reading: Annotated[str, TEXT] = ""


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
        TEXT.accept("title", self.title)
        known = [panel.name for panel in self.panels]
        for k, claim in enumerate(self.claims):
            under(f"claims[{k}]", name_list, "panel", [claim.panel], known)
            if claim.easier_than is not None:
                under(f"claims[{k}]", name_list, "easier_than", [claim.easier_than], known)

    def at_scale(self, replications: int | None, seed: int | None) -> Self:
        """Return the study as it is: its numbers are exact."""
        return self

    def run(self, progress: bool | None = None) -> xr.Dataset:
        """Compute both sides of the condition and its limits for each panel, which takes no time to report.

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

    def chapter(self, name: str, values: xr.Dataset, quick: bool) -> Chapter:
        """Return what a report says about the values of this study."""
        pictures = [
            ChapterFigure(
                f"{name}-{panel.name.lower().replace(', ', '-')}",
                draw_panel(panel, values),
                f"{panel.name}: both sides of the condition, with {panel.stays} = {panel.fixed:g}. "
                "Admissible values are shaded.",
            )
            for panel in self.panels
        ]
        rows = []
        for panel in self.panels:
            chosen = values.sel(panel=panel.name)
            holds = (chosen["truncated"] <= chosen["family"]).to_numpy()
            limit = float(chosen["limit"])
            rows.append(
                {
                    "panel": panel.name,
                    "fixed": f"{panel.stays} = {panel.fixed:g}",
                    "range": f"{measured(panel.start)} to {measured(panel.stop)}",
                    "admissible": _in_words(panel.vary, holds.tolist(), limit),
                    "limit": limit,
                    "family": float(chosen["family"]),
                }
            )
        headers = ("panel", "fixed", "range", "admissible", "limit", "Kinf in the family")
        return Chapter(
            name=name,
            title=self.title,
            paper=self.paper or NOWHERE,
            scale="exact numbers, no randomness",
            seed=None,
            pictures=marked(pictures, "quick run: this figure is the same at full scale" if quick else ""),
            tables=[ChapterTable(name, pd.DataFrame(rows), headers, "Admissible values within the range drawn.")],
            verdicts=[judge_qds(claim, values) for claim in self.claims],
        )


def from_file(content: Mapping[str, Any], default_title: str) -> QDSStudy:
    """Make a study of the quantile condition from the content of its file."""
    specs.check_keys(content, ("study", "title", "panels", "paper", "claims"))
    return QDSStudy(
        title=content.get("title", default_title),
        panels=tuple(
            _panel(f"panels[{k}]", table) for k, table in enumerate(specs.all_tables(content, "panels", "law"))
        ),
        paper=published(content),
        claims=specs.make_all(content, "claims", "words", AdmissibleClaim, called="a claim"),
    )


def _panel(where: str, table: dict[str, Any]) -> QDSPanel:
    """Make one panel of the quantile condition from its table."""
    needed = ("name", "law", "target", "vary", "from", "to")
    specs.check_keys(table, (*needed, *VARIED), needed, f"{where}.")
    if table["vary"] not in VARIED:
        raise ArgumentError(f"{where}.vary", one_of(VARIED), table["vary"])
    (stays,) = (name for name in VARIED if name != table["vary"])
    if stays not in table:
        raise FieldError(f"'{where}.{stays}' is missing: its value while '{table['vary']}' varies")
    if not isinstance(table["law"], dict):
        raise ArgumentError(f"{where}.law", "a table, such as { law = 'Exponential', mean = 2.0 }", table["law"])
    law = specs.under(where, continuous, "law", specs.choose(f"{where}.law", "law", LAWS, table["law"]))
    fixed = {name: table[name] for name in ("name", "target", "vary")}
    return specs.under(where, QDSPanel, law=law, start=table["from"], stop=table["to"], fixed=table[stays], **fixed)


def _limit(panel: QDSPanel, values: np.ndarray) -> float:
    """Return the value at which the condition begins or ceases to hold, if it does so once in the range."""
    gaps = np.array([panel.gap(x) for x in values])
    changes = np.flatnonzero(np.diff(np.sign(gaps)) != 0)
    if changes.size != 1:
        return float("nan")
    return float(scipy.optimize.brentq(panel.gap, values[changes[0]], values[changes[0] + 1], xtol=1e-10))


def judge_qds(claim: AdmissibleClaim, values: xr.Dataset) -> Verdict:
    """Judge a claim on the quantile condition; its numbers are exact, so intervals have no width."""
    _, holds = _admissible(values, claim.panel)
    upwards = holds if claim.admissible == "above" else holds[::-1]
    beyond = upwards[np.argmax(upwards) :] if upwards.any() else upwards  # from the first admissible value on
    comparisons = [_exact(f"values out of order, {claim.panel}", (~beyond).sum(), -math.inf, 0.5)]
    if claim.easier_than is not None:
        ours, theirs = (
            _extreme(*_admissible(values, panel), claim.admissible) for panel in (claim.panel, claim.easier_than)
        )
        gain = theirs - ours if claim.admissible == "above" else ours - theirs
        comparisons.append(_exact(f"limit, {claim.panel} against {claim.easier_than}", gain, 0.0, math.inf))
    return Verdict(claim.says, claim.reading, comparisons, 0)


def _admissible(values: xr.Dataset, panel: str) -> tuple[Floats, Flags]:
    """Return the values of a panel's parameter, and which of them are admissible."""
    chosen = values.sel(panel=panel)
    return chosen["value"].to_numpy(), (chosen["truncated"] <= chosen["family"]).to_numpy()


def _extreme(value: Floats, holds: Flags, side: str) -> float:
    """Return the least or the largest admissible value; infinite if no value is admissible."""
    if not holds.any():
        return math.inf if side == "above" else -math.inf
    return float(value[holds].min() if side == "above" else value[holds].max())


def _exact(what: str, value: float, least: float, most: float) -> Contrast:
    """Make a comparison of a number without error."""
    return Contrast(what, float(value), float(value), float(value), least, most)


def _in_words(parameter: str, holds: list[bool], limit: float) -> str:
    """Describe the admissible values of a parameter in words."""
    if all(holds) or not any(holds):
        return "all" if all(holds) else "none"
    return f"{parameter} {'≤' if holds[0] else '≥'} {measured(limit)}"


def draw_panel(panel: QDSPanel, values: xr.Dataset) -> "Figure":
    """Draw both sides of the condition, and shade the admissible values."""
    figure, axes = single(3.8)
    chosen = values.sel(panel=panel.name)
    x, truncated, family = (chosen[key].to_numpy() for key in ("value", "truncated", "family"))
    top = 1.1 * max(float(truncated.max()), float(family))
    axes.fill_between(
        x, 0, top, where=list(truncated <= family), color=PALETTE[2], alpha=0.15, linewidth=0, label="admissible"
    )
    axes.plot(x, truncated, **style(0), linewidth=1.8, label="tail summarized")
    axes.axhline(float(family), **style(1), linewidth=1.5, label="in the family")
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(0, top)
    axes.set_xlabel(panel.vary)
    axes.set_ylabel("Kinf")
    kind = panel.name.split(",")[0]
    axes.set_title(f"Quantile condition: {kind}, {panel.stays} = {panel.fixed:g}", fontsize=11)
    legend(figure, *axes.get_legend_handles_labels(), "")
    return figure
