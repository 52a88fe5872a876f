"""Claims are judged by intervals: right, wrong and undecided ones, on regrets with known answers."""

import math

import numpy as np
import pytest
import xarray as xr

import dirichlet_bandits as db
from dirichlet_bandits.experiments import Claim, KinfStudy
from dirichlet_bandits.experiments.kinf_study import RangeClaim, judge_kinf
from dirichlet_bandits.experiments.qds_study import AdmissibleClaim, judge_qds
from dirichlet_bandits.report import judging
from dirichlet_bandits.report.judging import Contrast
from dirichlet_bandits.results.comparison import bootstrap, student
from tests.report.made_up import result

N = 400


@pytest.fixture(scope="module")
def regrets():
    """Both met the same rewards, so a common part drowns the difference unless replications are paired."""
    rng = np.random.default_rng(7)
    common = 100 + 30 * rng.standard_normal(N)
    good, extra = common + rng.standard_normal(N), rng.standard_normal(N)
    return {
        "good": good,
        "bad": common + 2 + rng.standard_normal(N),
        "equal": good + extra - extra.mean(),
        "wild": common + 40 * rng.standard_normal(N),
        "double": 2 * common,
    }


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        ({"lower": ["good"], "than": ["bad"]}, "supported"),
        ({"lower": ["bad"], "than": ["good"]}, "not supported"),
        ({"lower": ["good"], "than": ["equal"]}, "undecided"),
        ({"lower": ["good"], "than": ["good"]}, "undecided"),
        ({"lower": ["bad"], "than": ["good"], "times": 1.05}, "supported"),  # 2 % above is a tie
        ({"lower": ["good"], "than": ["bad"], "times": 0.9}, "not supported"),  # better, but not by 10 %
        ({"lower": ["good", "equal"], "than": ["bad", "double"]}, "supported"),
        ({"lower": ["good", "bad"], "than": ["equal", "double"]}, "not supported"),  # one wrong comparison is enough
        ({"lower": ["good", "equal"], "than": ["equal", "double"]}, "undecided"),
        ({"lower": ["good"], "than": ["wild"], "statistic": "std"}, "supported"),
        ({"lower": ["wild"], "than": ["good"], "statistic": "std"}, "not supported"),
        ({"lower": ["good"], "than": ["equal"], "statistic": "std"}, "undecided"),
        ({"lower": ["good"], "than": ["wild"], "statistic": "q95"}, "supported"),
        ({"lower": ["wild"], "than": ["good"], "statistic": "q95"}, "not supported"),
        ({"lower": ["good", "bad"], "than": ["good", "double"], "statistic": "spread"}, "supported"),
        ({"lower": ["good", "double"], "than": ["good", "bad"], "statistic": "spread"}, "not supported"),
    ],
)
def test_regret_claims(regrets, claim, outcome):
    assert judging.judge_regret(Claim("words", **claim), result(regrets)).outcome == outcome


def test_growth_is_the_exponent_over_the_second_half():
    rng = np.random.default_rng(0)
    end = 100 + rng.standard_normal(N)  # of both
    made = result({"flat": end, "steep": end}, half={"flat": end / 2**0.2, "steep": end / 2 + rng.uniform(-1, 1, N)})
    verdicts = [
        judging.judge_regret(Claim("words", lower=["flat"], than=["steep"], times=times, statistic="growth"), made)
        for times in (0.5, 0.1)
    ]
    assert [verdict.outcome for verdict in verdicts] == ["supported", "not supported"]
    assert verdicts[0].comparisons[0].ratio == pytest.approx(0.2, rel=0.01)
    assert judging.judge_regret(Claim("words", lower=["flat"], than=["steep"]), made).outcome == "undecided"


def test_replications_that_are_not_done_are_left_out(regrets):
    some = {name: values.copy() for name, values in regrets.items()}
    some["good"][:100] = np.nan
    verdict = judging.judge_regret(Claim("words", lower=["good"], than=["bad"]), result(some))
    assert (verdict.outcome, verdict.pairs) == ("supported", 300)


def test_one_replication_decides_nothing(regrets):
    one = {name: values[:1] for name, values in regrets.items()}
    assert judging.judge_regret(Claim("words", lower=["good"], than=["bad"]), result(one)).outcome == "undecided"


def test_the_closest_comparison_is_shown(regrets):
    verdict = judging.judge_regret(Claim("words", lower=["good"], than=["bad", "double", "equal"]), result(regrets))
    assert "good" in verdict.closest.what
    assert "equal" in verdict.closest.what


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.1, 0.9, "supported"),
        (1.1, 1.2, "not supported"),
        (-0.3, -0.1, "not supported"),
        (0.5, 1.1, "undecided"),
        (-0.1, 1.1, "undecided"),
        (0.0, 0.5, "undecided"),  # touches the limit
    ],
)
def test_limits_on_both_sides(low, high, outcome):
    assert Contrast("x", (low + high) / 2, low, high, 0.0, 1.0).outcome == outcome


def test_false_alarms_stay_below_their_rate():
    """Four comparisons exactly on the limit: "not supported" is wrong here, and so is "supported".

    Of 400 claims each comes with probability 2.5 % at most: 10 expected. More than 26 has probability below 1e-5.
    """
    rng = np.random.default_rng(1)
    claim = Claim("words", lower=["a", "b"], than=["c", "d"])
    outcomes = [
        judging.judge_regret(claim, result(dict(zip("abcd", rng.standard_normal((4, 50)), strict=True)))).outcome
        for _ in range(400)
    ]
    assert outcomes.count("not supported") <= 26
    assert outcomes.count("supported") <= 26
    assert outcomes.count("not supported") > 0  # the alarm is connected: P(none) < 1e-3 for comparisons that are linked


def test_intervals_have_their_level():
    """Of 1000 95 % intervals 50 miss on average: 20 to 90 but for a probability below 1e-5."""
    rng = np.random.default_rng(2)
    missed = {"student": 0, "bootstrap": 0}
    for sample in rng.standard_normal((1000, 200)):
        found = student(sample, 0.95)
        missed["student"] += not found.low < 0 < found.high
    for sample in rng.standard_normal((60, 200)):
        found = bootstrap(sample[None, :], lambda rows: rows[0].std(axis=-1), 0.95)
        missed["bootstrap"] += not found.low < 1 < found.high
    assert 20 <= missed["student"] <= 90
    assert missed["bootstrap"] <= 14  # of 60, 3 expected; the probability of 15 is below 1e-5 even at a level of 90 %


def kinf_values(slope, ratio):
    sizes = [100, 1000, 10_000]
    x = np.log(np.log(np.array(sizes, float)))
    mean = ratio * np.exp(slope * (x - x[-1]))
    noise = np.random.default_rng(0).uniform(0.9, 1.1, (1, 300, 3))
    data = xr.Dataset(
        {"kinf": (("law", "sample", "size"), mean * noise), "family": (("law",), [1.0])},
        coords={"law": ["exp"], "size": sizes},
    )
    study = KinfStudy("t", {"exp": db.Exponential(2.0)}, {"exp": 3.0}, sizes=sizes, shown=[], samples=300, seed=0)
    return study, data


@pytest.mark.parametrize(
    ("quantity", "limits", "outcome"),
    [
        ("slope", {"low": -1.1, "high": -0.9}, "supported"),
        ("slope", {"high": -1.1}, "not supported"),
        ("slope", {"low": -0.9}, "not supported"),
        ("slope", {"low": -1.0}, "undecided"),
        ("ratio", {"high": 0.6}, "supported"),
        ("ratio", {"low": 0.6}, "not supported"),
    ],
)
def test_kinf_claims(quantity, limits, outcome):
    study, values = kinf_values(slope=-1.0, ratio=0.5)
    claim = RangeClaim("words", law="exp", quantity=quantity, **limits)
    assert judge_kinf(claim, study, values).outcome == outcome


def qds_values(**admissible):
    value = np.linspace(1.0, 10.0, 10)
    truncated = [np.where(np.array(flags), 0.0, 2.0) for flags in admissible.values()]
    return xr.Dataset(
        {
            "value": (("panel", "point"), [value] * len(truncated)),
            "truncated": (("panel", "point"), truncated),
            "family": (("panel",), [1.0] * len(truncated)),
        },
        coords={"panel": list(admissible)},
    )


def test_qds_claims():
    late, early, none = [0] * 5 + [1] * 5, [0] * 2 + [1] * 8, [0] * 10
    values = qds_values(late=late, early=early, hole=[0, 1, 0, 1, 1, 1, 1, 1, 1, 1], none=none, all=[1] * 10)

    def outcome(panel, side, easier_than=None):
        return judge_qds(AdmissibleClaim("words", panel, side, easier_than), values).outcome

    assert outcome("late", "above") == "supported"
    assert outcome("late", "below") == "not supported"
    assert outcome("hole", "above") == "not supported"
    assert outcome("all", "below") == "supported"
    assert outcome("early", "above", "late") == "supported"
    assert outcome("late", "above", "early") == "not supported"
    assert outcome("none", "above") == "not supported"


def test_a_claim_of_no_width_at_its_limit_is_undecided():
    assert Contrast("x", 0.0, 0.0, 0.0, -math.inf, 0.0).outcome == "undecided"
