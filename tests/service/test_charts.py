"""The pictures: well-formed and finite, whatever the rewards and the names; and the numbers behind them."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.service.dashboard import charts
from dirichlet_bandits.service.dashboard.overview import overview
from dirichlet_bandits.service.dashboard.series import DRAWN, bands, drawn_arms, mean_bands, moments, series

REWARDS = {
    "plain": [1.0, 2.0, 5.5, 3.0],
    "equal": [3.0, 3.0, 3.0, 3.0],
    "zero": [0.0, 0.0, 0.0, 0.0],
    "largest": [1e100, -1e100, 1e100, 0.0],
    "smallest": [5e-324, 0.0, -5e-324, 1e-310],
    "almost equal": [1e9, 1e9 + 1e-6, 1e9, 1e9],
    "mixed": [1e100, 1.0, 2.0, 3.0],
    "none": [],
}


def filled(arms, rewards, **settings):
    study = db.create_study("s", arms=arms, seed=1, **settings)
    for reward in rewards:
        study.tell(study.ask().id, reward)
    return study


@pytest.mark.parametrize("name", list(REWARDS))
def test_pictures_can_be_drawn(name):
    arms = ["<script>&\"'", "b", "x" * 200]
    rewards = REWARDS[name] * 3
    seen = overview(filled(arms, rewards))
    for picture in (seen["histograms"], seen["forest"]):
        if not rewards and not picture:
            continue
        root = ElementTree.fromstring(str(picture))
        assert root.attrib.get("aria-label") or root.attrib["aria-hidden"]
        for element in root.iter():
            for key in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"):
                assert math.isfinite(float(element.attrib.get(key, 0)))
                assert -1 <= float(element.attrib.get(key, 0)) <= 1000
            assert "nan" not in element.attrib.get("points", "") + element.attrib.get("d", "")
    assert bool(seen["histograms"]) == bool(seen["forest"]) == bool(rewards)


def test_the_series_are_those_of_the_log():
    rng = np.random.default_rng(0)
    study = filled(["a", "b", "c"], rng.normal(size=60).tolist())
    study.abandon(study.ask().id)
    study.ask(3)
    log = study.trials_dataframe()
    found = series(["a", "b"], 3, log)
    assert found.at == list(range(1, 65))
    assert found.window == 20
    for k, at in enumerate(found.at):
        past, recent = log.iloc[:at], log.iloc[max(at - 20, 0) : at]
        shares = [(recent["arm"] == arm).mean() for arm in ("a", "b", "c")]
        assert found.share[:, k] == pytest.approx(shares, abs=1e-12)  # the last row is all others: c
        means = [past.loc[past["arm"] == arm, "reward"].mean() for arm in ("a", "b")]
        assert found.means[:, k] == pytest.approx(means, abs=1e-12, nan_ok=True)
        assert found.total[k] == pytest.approx(past["reward"].sum(), abs=1e-12)
        assert found.times[k] == pytest.approx(past["asked_at"].iloc[-1].timestamp(), abs=1e-5)


@pytest.mark.parametrize("bounds", [(0, 1), None])
def test_the_bands_are_the_intervals_of_the_first_trials(bounds):
    rewards = np.random.default_rng(2).random((200, 2))
    past = {"arm": ["a", "b"] * 200, "reward": rewards.ravel()}
    study = db.create_study("s", arms=["a", "b"], bounds=bounds, seed=1)
    study.add_trials(past)
    found = series(["a", "b"], 2, study.trials_dataframe())
    low, high = bands(study, found)
    assert np.isnan(low[:, 0]).all()  # before the tenth trial
    assert np.isfinite(low[:, -1]).all()
    for n in (300, 400):
        first = db.create_study("s", arms=["a", "b"], bounds=bounds, seed=1)
        first.add_trials({key: values[:n] for key, values in past.items()})
        ends = first.summary()[["low", "high"]].to_numpy()
        np.testing.assert_array_equal(mean_bands(study, ["a", "b"], [n])[:, 0], ends)
        # A band is exact at the end, and interpolated before.
        drawn, wide = np.stack([low, high], axis=2)[:, found.at.index(n)], ends[:, 1] - ends[:, 0]
        assert np.abs(drawn - ends).max() <= (0.0 if n == 400 else 0.2 * wide.min())


def test_the_control_is_marked_among_the_intervals():
    rewards = np.random.default_rng(3).normal(size=120).tolist()
    seen = overview(filled([f"arm {k}" for k in range(30)], rewards, control="arm 7"))
    shapes = list(ElementTree.fromstring(str(seen["forest"])).iter())
    assert sum(shape.tag == "circle" for shape in shapes) in (charts.MOST_INTERVALS, charts.MOST_INTERVALS + 1)
    (line,) = (shape for shape in shapes if shape.attrib.get("class") == "control")
    words = [shape.text for shape in shapes if shape.tag == "text"]
    k = [word for word in words if word.startswith("arm ")].index("arm 7 (control)")
    at = [shape.attrib["cx"] for shape in shapes if shape.tag == "circle"][k]
    assert line.attrib["d"].startswith(f"M{at} ")
    assert sum(shape.attrib.get("class") == "axis" for shape in shapes) > 2  # the axis and its ticks
    assert [
        shape
        for shape in ElementTree.fromstring(str(overview(filled(["a"], rewards))["forest"])).iter("path")
        if shape.attrib["class"] == "control"
    ] == []


def test_the_table_over_time_ends_with_the_last_trial():
    study = filled(["a", "b"], [float(k % 4) for k in range(40)])
    found = series(["a", "b"], 2, study.trials_dataframe())
    rows = moments(found)
    assert [row.at for row in rows] == [1, 6, 12, 17, 23, 28, 34, 40]
    for row in rows:
        k = found.at.index(row.at)
        np.testing.assert_array_equal(row.share, found.share[:, k])
        np.testing.assert_array_equal(row.means, found.means[:, k])
        assert row.total == found.total[k]
    assert moments(series(["a", "b"], 2, filled(["a", "b"], []).trials_dataframe())) == []


def test_with_many_arms_the_most_tried_have_colors():
    arms = [f"arm {k}" for k in range(40)]
    study = filled(arms, [float(k % 7) for k in range(120)], control="arm 39")
    log = study.trials_dataframe()
    counts = log["arm"].value_counts()
    drawn = drawn_arms(study.summary(), log)
    assert len(drawn) == DRAWN
    assert "arm 39" in drawn
    assert drawn == [arm for arm in arms if arm in drawn]
    least = min(counts[arm] for arm in drawn if arm != "arm 39")
    assert all(counts[arm] <= least for arm in arms if arm not in drawn)
    picture = charts.sparkline(series(drawn, len(arms), log))
    assert len(list(ElementTree.fromstring(str(picture)).iter("polygon"))) == DRAWN + 1


def bars(picture, kind):
    shapes = ElementTree.fromstring(str(picture)).iter("rect")
    return [shape for shape in shapes if kind in shape.attrib["class"].split()]


def test_every_bar_is_drawn_and_says_its_count():
    study = filled(["a", "b"], [float(k % 4) for k in range(40)])
    log = study.trials_dataframe()
    shapes = bars(charts.histograms(["a", "b"], log), "fill")
    assert len(shapes) == log.groupby("arm")["reward"].nunique().sum()
    assert sum(int(shape[0].text.rpartition(": ")[2]) for shape in shapes) == 40


def test_the_lower_tail_is_shaded():
    policy = db.BCVTS(upper=10, level=0.2)
    study = filled(["a", "b"], [float(k % 10) for k in range(60)], policy=policy)
    picture = overview(study)["histograms"]
    log = study.trials_dataframe()
    for k, arm in enumerate(["a", "b"]):
        values = np.sort(log.loc[log["arm"] == arm, "reward"])
        lowest = values[: math.ceil(0.2 * values.size)]
        shaded = [shape for shape in bars(picture, "tail") if f"c{k}" in shape.attrib["class"].split()]
        assert len(shaded) == len(set(lowest.tolist()))
    assert "the lowest 20% are shaded" in picture
    assert bars(overview(filled(["a", "b"], [1.0, 2.0, 3.0]))["histograms"], "tail") == []
