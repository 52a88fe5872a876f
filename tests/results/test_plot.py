"""Pictures: what they show, at any size, and that no legend lies on the data."""

import itertools

import numpy as np
import pytest
from matplotlib.figure import Figure

import dirichlet_bandits as db
from dirichlet_bandits.results.plot import PALETTE

BANDIT = db.Bandit({"low": db.Gaussian(0.0, 1.0), "high": db.Gaussian(1.0, 1.0)})
KINDS = ("regret", "pulls", "reward", "distribution", "sweep")


@pytest.fixture(scope="module")
def result():
    policies = {"narrow": db.UCB1(sigma=0.5), "wide $5": db.UCB1(sigma=2.0)}
    return db.simulate(BANDIT, policies, horizon=400, replications=60, seed=0)


def labeled(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_the_picture_shows_every_policy_and_the_bound(result, tmp_path):
    figure = result.plot(tmp_path / "regret.png", log_time=True, lower_bound=2.0, title="Two Gaussians")
    assert (tmp_path / "regret.png").stat().st_size > 10_000
    (axes,) = figure.axes
    lines = labeled(axes)
    assert list(lines) == ["narrow", r"wide \$5", "asymptotic lower bound"]
    np.testing.assert_allclose(lines["narrow"].get_ydata(), result.regret.sel(policy="narrow").mean("replication"))
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "number of pulls"


def test_the_evident_lower_bound_begins_where_it_means_something(result, tmp_path):
    assert result.lower_bound == 2.0  # 2 sigma^2 / gap
    time, bound = labeled(result.plot().axes[0])["asymptotic lower bound"].get_data()
    np.testing.assert_allclose(bound, 2.0 * np.log(time))
    recorded = result.data["time"].values
    # Pulling both arms evenly costs t / 2, which is less than 2 log t until t = 8.6.
    np.testing.assert_array_equal(time, recorded[recorded >= 9])
    assert "asymptotic lower bound" not in labeled(result.plot(lower_bound=False).axes[0])
    assert "asymptotic lower bound" not in labeled(result.plot(lower_bound=1000.0).axes[0])  # too early to say
    result.save(tmp_path / "runs.zarr")
    assert db.load(tmp_path / "runs.zarr").lower_bound == 2.0
    with pytest.raises(db.ArgumentError, match="'lower_bound' must be a finite number"):
        result.plot(lower_bound=np.nan)
    unknown = db.Bandit([db.Gaussian(0.0, 1.0), db.Uniform(0.0, 1.0)])
    other = db.simulate(unknown, {"narrow": db.UCB1(sigma=0.5)}, horizon=10, replications=2, seed=0)
    assert other.lower_bound is None
    assert "asymptotic lower bound" not in labeled(other.plot().axes[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [None, (3.5, 2.6)])
def test_no_legend_lies_on_the_axes(result, kind, size):
    figure = result.plot(kind=kind, figsize=size)
    assert size is None or tuple(figure.get_size_inches()) == size
    figure.draw_without_rendering()
    (legend,) = figure.legends
    (axes,) = figure.axes
    box, plane = legend.get_window_extent(), axes.get_window_extent()
    assert not box.overlaps(plane)
    for text in (*legend.get_texts(), *axes.get_yticklabels(), axes.xaxis.label):  # nothing is cut off
        extent = text.get_window_extent()
        assert extent.x0 >= -1
        assert extent.x1 <= figure.bbox.width + 1
        assert extent.y0 >= -1


def test_a_long_name_is_wrapped_and_not_cut_off():
    name = "a policy with so long a name that no legend has room for it in one line, not even below"
    long = db.simulate(BANDIT, {name: db.UCB1(sigma=0.5)}, horizon=20, replications=3, seed=0)
    for size in (None, (3.5, 3.0)):
        figure = long.plot(figsize=size)
        figure.draw_without_rendering()
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert box.x0 >= -1
        assert box.x1 <= figure.bbox.width + 1
        assert " ".join(legend.get_texts()[0].get_text().split()) == name


@pytest.mark.parametrize("log_regret", [False, True])
def test_in_axes_of_ones_own_the_legend_makes_room(result, log_regret):
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert result.plot(ax=left, log_regret=log_regret) is figure
    assert right.lines[:] == []
    figure.draw_without_rendering()
    box = left.get_legend().get_window_extent()
    for line in left.lines:
        assert not any(box.contains(*point) for point in left.transData.transform(line.get_xydata()))
    result.plot(ax=right, legend=False)
    assert right.get_legend() is None


def test_bands(result):
    runs = result.regret.sel(policy="narrow").values[:, -1]
    for band, low, high in (
        (0.5, *np.quantile(runs, [0.25, 0.75])),
        # Student's t for 59 degrees of freedom at 95 %, from tables: 2.0010
        ("mean", *(runs.mean() + np.array([-2.0010, 2.0010]) * runs.std(ddof=1) / np.sqrt(60))),
    ):
        lines = result.plot(policies=["narrow"], band=band, lower_bound=False).axes[0].lines
        np.testing.assert_allclose([lines[1].get_ydata()[-1], lines[2].get_ydata()[-1]], [low, high], rtol=1e-4)
    figure = result.plot(policies=["narrow"], band=False, lower_bound=False)
    assert len(figure.axes[0].lines) == 1
    assert figure.legends[0].get_title().get_text() == "mean"
    assert result.plot(band=0.5).legends[0].get_title().get_text() == "mean, 25-75% band"


def test_pulls_reward_and_sweep_show_the_means(result):
    dots = labeled(result.plot(kind="pulls").axes[0])["narrow"]
    np.testing.assert_allclose(dots.get_xdata(), result.pulls.sel(policy="narrow").mean("replication"))
    paid = labeled(result.plot(kind="reward").axes[0])
    assert paid["narrow"].get_xdata()[0] == pytest.approx(float(result.reward.sel(policy="narrow").mean()))
    assert paid["best arm at every pull"].get_xdata()[0] == 400.0
    axes = result.plot(kind="sweep").axes[0]
    np.testing.assert_allclose(axes.lines[0].get_xdata(), [0.5, 2.0])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), result.summary()["mean"])
    assert axes.get_xlabel() == "sigma"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pie"}, "'kind' must be one of 'regret', 'pulls', 'reward', 'distribution', 'sweep' "),
        ({"kind": "sweep", "policies": ["narrow"]}, "'sweep' is for policies of one class that differ in one number"),
        ({"band": 90}, "'band' must be a number strictly between 0 and 1"),
        ({"band": "median"}, "'band' must be a share of the replications such as 0.9, 'mean', or False"),
        ({"legend": "top"}, "'legend' must be True, False or one of 'right', 'below', 'inside'"),
        ({"figsize": 3.5}, "'figsize' must be width and height in inches"),
        ({"figsize": (3.5, -1)}, r"'figsize\[1\]' must be a positive number"),
        ({"ax": "here"}, "'ax' must be axes of matplotlib"),
        ({"ax": "here", "figsize": (3, 3)}, "'figsize' must be left out where axes are given"),
    ],
)
def test_mistakes_are_named(result, options, message):
    with pytest.raises(db.ArgumentError, match=message):
        result.plot(**options)


def test_a_notebook_shows_the_figure(result):
    assert result.plot()._repr_png_().startswith(b"\x89PNG")


def test_many_policies_are_labeled_at_the_ends_of_their_lines(tmp_path):
    policies = {f"UCB1, {k}": db.UCB1(sigma=0.2 + 0.2 * k) for k in range(4)}
    result = db.simulate(BANDIT, policies, horizon=60, replications=5, seed=0)
    figure = result.plot(tmp_path / "direct.pdf")
    labels = [text for text in figure.axes[0].texts if text.get_text() in policies]
    assert sorted(text.get_text() for text in labels) == sorted(policies)
    heights = sorted(text.get_position()[1] for text in labels)
    assert min(b - a for a, b in itertools.pairwise(heights)) > 0.02  # no two of them overlap
    assert b"/Type3" not in (tmp_path / "direct.pdf").read_bytes()  # publishers want TrueType fonts
    assert result.plot(legend="right").legends  # a legend on request


def disasters():
    """Four policies, of which the third loses 1,000 in four games of sixty, and the fourth has a wide interval."""
    policies = {f"UCB1, {k}": db.UCB1(sigma=0.2 + 0.2 * k) for k in range(4)}
    result = db.simulate(BANDIT, policies, horizon=60, replications=60, seed=0)
    result = db.Result(result.data.copy(deep=True))
    result.data["regret"][2, :4, -1] = 1000.0
    result.data["regret"][3] = 0.0
    result.data["regret"][3, 0] = 100.0
    return result


def test_without_a_band_no_bars_are_at_the_ends():
    result = disasters()
    axes = result.plot(band=False).axes[0]
    assert len(axes.lines) == 5  # with the lower bound
    assert axes.get_xlabel() == "number of pulls"
    assert len(result.plot(band="mean").axes[0].lines) > 5


def test_an_arrowhead_marks_a_bar_that_goes_beyond_the_axes():
    axes = disasters().plot().axes[0]
    low, high = axes.get_ylim()
    marks = [(line.get_marker(), line.get_ydata()[0]) for line in axes.lines if line.get_marker() in ("v", "^")]
    # Of the third, both upper ends are beyond 1.5 times the largest mean; of the fourth, the interval begins below 0.
    assert sorted(marks) == [("^", high), ("^", high), ("v", low)]
    plain = db.simulate(
        BANDIT, {f"{k}": db.EpsilonGreedy(0.9 + 0.01 * k) for k in range(4)}, horizon=60, replications=60, seed=0
    )
    assert not [line for line in plain.plot().axes[0].lines if line.get_marker() in ("v", "^")]


def test_more_than_eight_policies_have_a_panel_each():
    policies = {f"UCB1, {k}": db.UCB1(sigma=0.2 + 0.1 * k) for k in range(9)}
    result = db.simulate(BANDIT, policies, horizon=40, replications=3, seed=0)
    figure = result.plot(title="nine")
    visible = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in visible] == list(policies)
    assert all(axes.get_visible() for axes in result.plot(policies=list(policies)[:2]).axes)


def test_a_policy_keeps_its_color_whichever_others_are_drawn():
    result = db.simulate(
        BANDIT,
        {"b": db.UCB1(sigma=0.3), "UCB1": db.UCB1(sigma=0.5), "a": db.UCB1(sigma=1)},
        horizon=40, replications=3, seed=0,
    )  # fmt: skip

    def color(policies):
        return result.plot(policies=policies).axes[0].lines[0].get_color()

    assert color(["a"]) == color(["a", "b"]) != color(["b"])
    assert color(["UCB1"]) == PALETTE[1]


def test_latex_tables_escape_names():
    result = db.simulate(
        BANDIT,
        {"5 % & more": db.UCB1(sigma=0.5)},
        horizon=40,
        replications=3,
        seed=0,
    )
    assert r"5 \% \& more" in result.to_latex()
    assert result.to_latex().count(r"\\") == 2


def test_latex_tables_have_no_exponents():
    result = db.simulate(BANDIT, {"UCB1": db.UCB1(sigma=0.5)}, horizon=40, replications=10, seed=0)
    result = db.Result(result.data.copy(deep=True))
    result.data["regret"][0, :, -1] = np.linspace(100.0, 12_345.0, 10)
    spread = result.summary()["std"].iloc[0]
    assert f"& {spread:.0f} &" in result.to_latex()
    assert "e+" not in result.to_latex()


@pytest.mark.parametrize("size", [None, (3.5, 2.6)])
def test_the_names_of_changing_arms_do_not_overlap(size):
    laws = [db.Bernoulli(p) for p in (0.5, 0.5, 0.51, 0.9, 0.9)]
    world = db.Piecewise({1: laws, 21: laws[::-1]}, names=["one", "two", "three", "four", "five"])
    figure = db.simulate(world, db.UCB1(0.5), horizon=40, replications=3, seed=0).plot(figsize=size)
    figure.draw_without_rendering()
    behind = figure.axes[1]
    boxes = [text.get_window_extent() for text in behind.texts]
    assert len(boxes) == 5
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(behind.get_window_extent().y0 <= box.y0 < box.y1 <= behind.get_window_extent().y1 for box in boxes)


def test_values_of_changing_arms_are_behind_the_curves_and_breakpoints_are_marked():
    coins = [db.Bernoulli(0.2), db.Bernoulli(0.7)]
    world = db.Piecewise({1: coins, 21: coins[::-1], 31: coins}, names=["A", "B"])
    result = db.simulate(world, db.UCB1(0.5), horizon=40, replications=3, seed=0)
    assert result.breakpoints == (21, 31)
    assert result.values.sel(arm="A", time=[20, 21, 30, 31]).values.tolist() == [0.2, 0.7, 0.7, 0.2]
    axes, behind = result.plot().axes
    assert axes.get_zorder() > behind.get_zorder()
    curves = {tuple(line.get_ydata()) for line in behind.lines[:2]}
    assert curves == {tuple(result.values.sel(arm=arm).values) for arm in ("A", "B")}
    assert [line.get_xdata()[0] for line in behind.lines[2:]] == [21, 31]
    assert [text.get_text() for text in behind.texts] == ["A", "B"]
    assert behind.get_ylabel() == "mean of the arms"
