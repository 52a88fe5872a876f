"""Figures of the chapters on theory, drawn from numbers that are known."""

import numpy as np
import pytest
import xarray as xr

import dirichlet_bandits as db
from dirichlet_bandits.experiments import KinfStudy
from dirichlet_bandits.experiments.qds_study import QDSPanel
from dirichlet_bandits.report import figures
from dirichlet_bandits.report.numbers import short

SIZES = [100, 1000, 10_000]


def words(figure):
    """Texts of the legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.fixture
def study():
    return KinfStudy("Kinf", {"exp": db.Exponential(2.0)}, {"exp": 3.0}, SIZES, shown=SIZES[:2], samples=5, seed=0)


@pytest.fixture
def numbers():
    """Kinf of five samples around (log n)^-2, whose mean it is."""
    spread = np.array([0.8, 0.9, 1.0, 1.1, 1.2])
    kinf = spread[:, None] * np.log(SIZES) ** -2.0
    coordinates = {"law": ["exp"], "sample": range(5), "size": SIZES}
    return xr.Dataset({"kinf": (tuple(coordinates), kinf[None]), "family": ("law", [0.07])}, coordinates)


def test_the_slope_of_kinf_is_that_of_the_numbers(study, numbers):
    figure = figures.kinf_slopes(study, numbers)
    assert words(figure) == ["exp: slope -2.00"]
    points = figure.axes[0].lines[0].get_xydata()
    assert points == pytest.approx(np.column_stack([np.log(np.log(SIZES)), -2.0 * np.log(np.log(SIZES))]))


def test_densities_of_kinf_have_their_means_marked(study, numbers):
    figure = figures.kinf_laws(study, numbers, "exp")
    assert words(figure) == ["n = 100", f"n = {short(1000)}", "Kinf in the family"]
    upright = [line.get_xdata()[0] for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert upright == pytest.approx([np.log(100) ** -2.0, np.log(1000) ** -2.0, 0.07])


def test_admissible_parameters_are_shaded():
    panel = QDSPanel("exp, alpha", db.Exponential(2.0), target=3.0, vary="rho", start=1.0, stop=3.0, fixed=0.05)
    truncated, rho = [0.3, 0.2, 0.1], [1.0, 2.0, 3.0]
    data = {
        "truncated": (("panel", "step"), [truncated]),
        "value": (("panel", "step"), [rho]),
        "family": ("panel", [0.2]),
    }
    figure = figures.qds(panel, xr.Dataset(data, {"panel": [panel.name]}))
    assert words(figure) == ["admissible", "tail summarised", "in the family"]
    (shaded,) = (patch.get_paths()[0].vertices for patch in figure.axes[0].collections)
    assert (shaded[:, 0].min(), shaded[:, 0].max()) == (2.0, 3.0)
