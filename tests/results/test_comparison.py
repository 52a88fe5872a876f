"""All pairs of policies: what is said of them, and how often it is wrong."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.results.comparison import compare_all_pairs, holm
from dirichlet_bandits.results.layout import labels


def made_up(finals):
    """A result of one recorded time whose final regrets are these."""
    regret = np.stack(list(finals.values()))[:, :, None]
    told = labels(
        policies={name: f"{name}()" for name in finals},
        arms={"a": "", "b": ""},
        means=np.array([0.0, 1.0]),
        times=np.array([9]),
        replications=regret.shape[1],
        seed=np.random.SeedSequence(0),
    )
    pulls = np.ones((*regret.shape[:2], 2), np.int64)
    return db.Result.from_arrays(told, regret, pulls, np.where(np.isnan(regret[:, :, 0]), np.nan, 1.0))


def test_all_pairs_are_ordered_and_say_which_is_better():
    rng = np.random.default_rng(0)
    base = rng.normal(10.0, 1.0, 100)
    noise = rng.normal(0.0, 1.0, 100)
    found = made_up({"bad": base + 5.0, "good": base, "same": base + noise - noise.mean() + 0.01}).compare_all()
    assert [(pair.first, pair.second) for pair in found][-1] == ("same", "bad")
    assert [pair.better for pair in found if "bad" in pair[:2]] == ["good", "same"]
    assert found.verdict == "good has the least mean regret, not clearly less than same"
    frame = found.to_dataframe()
    assert list(frame["better"]) == [None, "good", "same"]
    assert list(frame.columns[:5]) == ["first", "second", "difference", "low", "high"]
    assert "95% intervals for all pairs together" in str(found)
    shown = found._repr_html_()
    assert "&lt; 0.001" in shown
    assert "good is better" in shown
    assert "no clear difference" in found[0]._repr_html_()


def test_intervals_and_p_values_agree():
    """Bonferroni's intervals are those of Student at a higher level; where one leaves 0 out, Holm finds it too."""
    rng = np.random.default_rng(1)
    result = made_up({name: rng.normal(shift, 1.0, 40) for name, shift in {"a": 0.0, "b": 0.4, "c": 0.8}.items()})
    found = result.compare_all()
    for pair in found:
        alone = result.compare(pair.first, pair.second, confidence=1 - 0.05 / 3)
        assert (pair.low, pair.high) == (alone.low, alone.high)
        assert pair.p_value >= alone.p_value
        assert pair.better is not None or pair.low <= 0 <= pair.high


def test_holm_is_that_of_the_definition():
    p_values = np.random.default_rng(2).random(12) ** 3
    order = np.argsort(p_values)
    stepped = np.minimum(1.0, np.maximum.accumulate(p_values[order] * np.arange(12, 0, -1)))
    np.testing.assert_allclose(np.array(holm(list(p_values)))[order], stepped)


def test_false_alarms_are_as_rare_as_promised():
    """Of 600 results without any difference at most 5 % may name one: at 5 %, one seed in 300 gives 47 or more."""
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(600):
        finals = {name: rng.normal(size=20) for name in "abcd"}
        alarms += any(pair.better for pair in compare_all_pairs(finals, 0.95, "regret"))
    assert 5 < alarms < 47


def test_undone_replications_and_lonely_policies():
    finals = {"a": np.arange(4.0), "b": np.array([1.0, 1.0, np.nan, np.nan]), "c": np.full(4, np.nan)}
    found = made_up(finals).compare_all()
    assert [(pair.first, pair.second, pair.replications) for pair in found] == [("b", "a", 2)]
    with pytest.raises(db.ArgumentError, match="two policies with two common replications"):
        made_up({"a": np.arange(4.0)}).compare_all()
    with pytest.raises(db.ArgumentError, match="'confidence'"):
        made_up(finals).compare_all(confidence=95)


def test_equal_regrets_are_no_difference():
    found = made_up({"a": np.ones(5), "b": np.ones(5), "c": np.zeros(5)}).compare_all()
    assert {(pair.first, pair.second): pair.better for pair in found} == {
        ("c", "a"): "c",
        ("c", "b"): "c",
        ("a", "b"): None,
    }
