"""The pictures: well-formed and finite, whatever the rewards and the names."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.service import charts

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


@pytest.mark.parametrize("name", list(REWARDS))
def test_pictures_can_be_drawn(name):
    arms = ["<script>&\"'", "b", "x" * 200]
    study = db.create_study("s", arms=arms, seed=1)
    rewards = REWARDS[name]
    for k in range(3 * len(rewards)):
        study.tell(study.ask().id, rewards[k % len(rewards)])
    trials = study.trials_dataframe()
    drawn = [
        charts.pulls(arms, trials),
        charts.means(study.summary()),
        charts.histograms(arms, trials),
        charts.propensities(arms, study.propensities()),
    ]
    for picture in drawn:
        if not rewards and not picture:
            continue
        root = ElementTree.fromstring(str(picture))
        assert root.attrib["aria-label"]
        for element in root.iter():
            for key in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"):
                assert math.isfinite(float(element.attrib.get(key, 0)))
                assert -1 <= float(element.attrib.get(key, 0)) <= 1000
            assert "nan" not in element.attrib.get("points", "") + element.attrib.get("d", "")
    assert [bool(picture) for picture in drawn] == [True, bool(rewards), bool(rewards), True]


def test_the_lines_count_the_trials():
    study = db.create_study("s", arms=["a", "b"], seed=1)
    study.ask(500)
    root = ElementTree.fromstring(str(charts.pulls(["a", "b"], study.trials_dataframe())))
    lines = [line.attrib["points"].split() for line in root.iter("polyline")]
    assert len(lines) == 2
    assert all(100 <= len(line) <= 151 for line in lines)
    for line in lines:
        heights = [float(point.split(",")[1]) for point in line]
        assert (np.diff(heights) <= 0).all()  # up is less, in a picture


def test_every_bar_is_drawn():
    study = db.create_study("s", arms=["a", "b"], seed=1)
    for k in range(40):
        study.tell(study.ask().id, float(k % 4))
    root = ElementTree.fromstring(str(charts.histograms(["a", "b"], study.trials_dataframe())))
    told = study.trials_dataframe().groupby("arm")["reward"].nunique()
    assert len(list(root.iter("rect"))) == told.sum()
