"""The ranking of policies: order, paired intervals, ties, and who has no place."""

import json

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments.ranking import ranked

PAST = db.Bandit([db.Empirical([3, 4, 5, 4.5]), db.Empirical([4, 5, 6, 5.5])], names=["a", "b"])


@pytest.fixture(scope="module")
def ranking():
    own = db.UCB1(sigma=5)
    return db.compare_policies(
        PAST, horizon=200, replications=40, policies=["UCB1", "RUCBLT", "NPTS", own], sigma=0.8, seed=0, workers=1
    )


def test_places_are_in_the_order_of_the_mean(ranking):
    names = [place.policy for place in ranking.places]
    assert set(names) == {"UCB1", "RUCBLT", "UCB1(sigma=5)"}
    assert names[0] == "UCB1"  # told the right width: 200 pulls are plenty to see it
    assert ranking.best == db.UCB1(sigma=0.8)
    means = [place.mean for place in ranking.places]
    assert means == sorted(means)
    assert means == [ranking.result.summary().loc[name, "mean"] for name in names]


def test_intervals_are_paired_and_hold_together(ranking):
    for place in ranking.places[1:]:
        same = ranking.result.compare(place.policy, "UCB1", 1 - 0.05 / 2)  # three policies: two comparisons
        assert (place.difference, place.low, place.high) == pytest.approx((same.difference, same.low, same.high))
        assert place.tied == (same.low <= 0 <= same.high)


def test_what_is_left_out_has_a_reason(ranking):
    assert ranking.left_out == {"NPTS": "needs an upper bound of the rewards (bounds)"}


def test_summary_json_and_picture(ranking, tmp_path):
    assert list(ranking.summary().index) == [place.policy for place in ranking.places]
    told = json.loads(json.dumps(ranking.as_json()))
    assert told["ranking"][0]["parameters"] == "UCB1(sigma=0.8)"
    assert (told["horizon"], told["objective"]) == (200, "mean")
    shown = ranking._repr_html_()
    assert shown.count("<tr>") == 1 + len(ranking.places)
    assert "left out: NPTS" in shown
    figure = ranking.plot(tmp_path / "ranking.png", most=2)
    assert (tmp_path / "ranking.png").read_bytes().startswith(b"\x89PNG")
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == [f"{k}. {place.policy}" for k, place in enumerate(ranking.places[:2], start=1)]
    assert ranking.to_latex().count("[") == len(ranking.places) - 1


def test_same_policy_twice_is_a_tie():
    own = [db.UCB1(sigma=0.8), db.KLUCB("gaussian", sigma=0.8)]
    one, other = db.compare_policies(PAST, horizon=50, replications=3, policies=own, seed=0, workers=1).places
    assert one.mean == pytest.approx(other.mean)  # the same index, written in two ways
    assert other.tied


def test_what_an_interruption_leaves(ranking):
    cut = db.Result(ranking.result.data.copy(deep=True))
    row = cut.policies.index("RUCBLT")
    cut.data["regret"][row, 1:] = np.nan
    assert "RUCBLT" not in [place.policy for place in ranked(cut, 0.95)]
    cut.data["regret"][:] = np.nan
    assert ranked(cut, 0.95) == []


@pytest.mark.parametrize(
    ("bandit", "options", "message"),
    [
        ([1, 2], {}, "'bandit' must be a Bandit, or another environment"),
        (
            db.Bandit([db.Empirical([1, 3]), db.Empirical([2, 2])]),
            {},
            "'bandit' must be arms that differ in their mean",
        ),
        (PAST, {"horizon": 1}, "'horizon' must be an integer of at least 2 (got 1)"),
        (PAST, {"replications": 1}, "'replications' must be an integer of at least 2 (got 1)"),
        (PAST, {"confidence": 1}, "'confidence' must be a number strictly between 0 and 1 (got 1)"),
        (PAST, {"ordered": 1}, "'ordered' must be True or False (got 1)"),
        (PAST, {"policies": "RSD"}, "'policies' must be the name of a policy"),
        (PAST, {"policies": []}, "'policies' must be at least one policy"),
        (PAST, {"policies": ["RSD"]}, "'policies[0]' must be the name of a policy"),
        (PAST, {"policies": ["NPTS"]}, "'policies' must be at least one that applies: NPTS needs an upper bound"),
    ],
)
def test_what_is_refused(bandit, options, message):
    with pytest.raises(db.ArgumentError) as refusal:
        db.compare_policies(bandit, **{"horizon": 10, **options})
    assert str(refusal.value).startswith(message)


def test_the_bandit_of_a_file_with_arms_only(tmp_path):
    file = tmp_path / "arms.toml"
    file.write_text('[[arms]]\nlaw = "Bernoulli"\np = 0.4\n[[arms]]\nlaw = "Bernoulli"\np = 0.6\n')
    assert db.experiments.read_bandit(file).best == "arm 1"
    file.write_text(file.read_text() + "[arm]\n")
    with pytest.raises(db.FormatError, match="'arm' is not a key of an experiment"):
        db.experiments.read_bandit(file)


def test_worlds_tell_bounds_families_and_changes():
    coins = [db.Bernoulli(0.3), db.Bernoulli(0.6)]
    world = db.Piecewise({1: coins, 51: coins[::-1]})
    names = ["UCB1", "KLUCB", "CUSUMUCB", "EXP3S"]
    ranking = db.compare_policies(world, horizon=100, replications=3, policies=names, seed=0, workers=1, delay=2)
    assert ranking.policies == {
        "KLUCB": db.KLUCB("bernoulli"),
        "CUSUMUCB": db.CUSUMUCB(100, changes=1),
        "EXP3S": db.EXP3S(100, segments=2),
    }
    assert ranking.left_out == {"UCB1": "needs the standard deviation of the rewards (sigma)"}
    assert ranking.as_json()["breakpoints"] == [51]
    same = db.simulate(world, dict(ranking.policies), horizon=100, replications=3, seed=0, workers=1, delay=2)
    assert [place.mean for place in ranking.places] == sorted(same.summary()["mean"])


def test_drifting_arms_have_no_family():
    from dirichlet_bandits.experiments.applicable import reward_facts

    world = db.Drifting(lambda t: [0.0, t / 100], noise=db.Uniform(-1, 1))
    known = reward_facts(world, horizon=100)
    assert known.bounds == (-1.0, 2.0)
    assert known.facts["family"] == known.facts["support"] == known.facts["changes"] == ()
    with pytest.raises(db.ArgumentError, match="'bandit' must be arms that differ"):
        db.compare_policies(db.Drifting(lambda t: [0.0, 0.0]), horizon=10)
