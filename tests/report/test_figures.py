"""Figures drawn from numbers that are known."""

import numpy as np
import pytest
import xarray as xr

import dirichlet_bandits as db
from dirichlet_bandits.display.numbers import measured as short
from dirichlet_bandits.experiments import KinfStudy, PlotSettings
from dirichlet_bandits.experiments.kinf_study import draw_law, draw_slopes
from dirichlet_bandits.experiments.qds_study import QDSPanel, draw_panel
from dirichlet_bandits.report import figures
from tests.report import made_up

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
    figure = draw_slopes(study, numbers)
    assert words(figure) == ["exp: slope -2.00"]
    points = figure.axes[0].lines[0].get_xydata()
    assert points == pytest.approx(np.column_stack([np.log(np.log(SIZES)), -2.0 * np.log(np.log(SIZES))]))


def test_densities_of_kinf_have_their_means_marked(study, numbers):
    figure = draw_law(study, numbers, "exp")
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
    figure = draw_panel(panel, xr.Dataset(data, {"panel": [panel.name]}))
    assert words(figure) == ["admissible", "tail summarized", "in the family"]
    (shaded,) = (patch.get_paths()[0].vertices for patch in figure.axes[0].collections)
    assert (shaded[:, 0].min(), shaded[:, 0].max()) == (2.0, 3.0)


REGRETS = {"good": [8.0, 10.0, 12.0], "fair": [18.0, 20.0, 22.0], "poor": [700.0, 1000.0, 9000.0]}


def test_the_final_regret_has_one_row_per_policy():
    (axes,) = figures.final("Title", PlotSettings(reward_unit="kg/ha"), made_up.result(REGRETS)).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(REGRETS)
    assert [line.get_xydata().tolist() for line in axes.lines] == [
        [[np.mean(regret), row]] for row, regret in enumerate(REGRETS.values())
    ]
    ranges = [lines.get_segments()[0][:, 0] for lines in axes.collections]
    np.testing.assert_allclose(ranges, [np.quantile(regret, [0.05, 0.95]) for regret in REGRETS.values()])
    assert axes.get_xscale() == "log"
    assert "after 100 pulls (kg/ha)" in axes.get_xlabel()


def test_a_policy_that_flattens_the_others_gets_a_second_scale():
    figure = figures.regret("Title", PlotSettings(lower_bound=2.0), made_up.result(REGRETS), None)
    upper, beside, lower, _ = figure.axes
    assert words(figure) == ["poor", "fair", "good", "asymptotic lower bound"]
    assert lower.get_title(loc="left") == "second scale: the lowest 2"
    assert beside.get_title() == "▲ beyond"  # one run of "poor" lost twice the mean and more
    assert upper.get_ylim()[1] == pytest.approx(2 * np.mean(REGRETS["poor"]))
    bound = upper.lines[-1].get_xydata()
    assert bound == pytest.approx(np.column_stack([[50, 100], 2.0 * np.log([50, 100])]))


def test_on_a_logarithmic_scale_one_is_enough():
    figure = figures.regret("Title", PlotSettings(log_regret=True, log_time=True), made_up.result(REGRETS), None)
    left, _ = figure.axes
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
