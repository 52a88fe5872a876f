"""Classes written as text: what is read, what is refused with which words, and that what is written is read back."""

import math

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.written import POLICY, parse_policy
from dirichlet_bandits.specs import LONGEST
from tests.policies.twins import PAIRS

COINS = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
FEW = {"horizon": 20, "replications": 2, "seed": 0, "progress": False}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'it' must be a policy such as RDS"),
        ("RDS(", "see character 4"),
        ("UCB1(sigma=a.b)", "see character 12"),
        ("UCB1(sigma=1 + 1j)", "'UCB1.sigma' must be a finite number"),
        ("UCB1(sigma=open('x'))", "the name of a policy"),
        ("SlidingWindow(RSD, 5)", "did you mean 'RDS'"),
        ("[RDS]", "see character 1"),
        ("RDS().params", "see character 1"),
        ("UCB1(*[1])", "see character 6"),
        ("UCB1(**{'sigma': 1})", "'it' must be a policy such as RDS"),
        ("UCB1(sigma=1, sigma=2)", "with each parameter once"),
        ("UCB1({[]: 1})", "see character 6"),
        ("UCB1(1, sigma=2)", "'it' must be a policy such as RDS"),
        ("UCB1(width=1)", "'it' must be a policy such as RDS"),
        ("SlidingWindow(RDS)", r"'it' must be given with window: SlidingWindow\(window=...\)"),
        ("GLR()", "the name of a policy"),
        ("RDS\0()", "'it' must be a policy such as RDS"),
        ("f(" * 22 + "RDS" + ")" * 22, "not nested so deeply"),
        ("-" * 150 + "1", "not nested so deeply"),
        ("RDS" + " " * LONGEST, f"in at most {LONGEST} characters"),
    ],
)
def test_refusals_name_the_argument_and_the_place(text, words):
    with pytest.raises(db.ArgumentError, match=words) as caught:
        parse_policy(text, "it")
    assert caught.value.name in ("it", "UCB1.sigma")


def test_every_policy_is_written_as_it_is_read():
    for pair in PAIRS.values():
        text = POLICY.to_text(pair.policy, "policy")
        assert parse_policy(text) == pair.policy


def test_nothing_is_written_that_is_not_read():
    class RDS(type(db.RDS())):
        """A class of one's own, with a name of the library."""

    for policy in (object(), RDS()):
        with pytest.raises(db.ArgumentError, match="'mine' must be a policy of this library"):
            POLICY.to_text(policy, "mine")


def test_policies_may_be_texts_wherever_they_are_given():
    made = db.simulate(COINS, [db.RDS(), db.NPTS(upper=1)], **FEW)
    for given in (["RDS", "NPTS(upper=1)"], {"RDS": "RDS()", "NPTS": db.NPTS(upper=1)}):
        found = db.simulate(COINS, given, **FEW)
        assert found.policies == made.policies
        assert (found.reward == made.reward).all()
    assert db.simulate(COINS, "RDS", **FEW).policies == ["RDS"]
    past = [[0.1, 0.4], [0.3, 0.2]]
    assert (db.propensities("NPTS(upper=1)", past) == db.propensities(db.NPTS(upper=1), past)).all()
    study = db.create_study("s", arms=["a", "b"], policy="SlidingWindow(NPTS(upper=1), window=100)")
    assert study.policy == db.SlidingWindow(db.NPTS(upper=1), window=100)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("RSD", "'policies' must be the name of a policy; did you mean 'RDS'"),
        (["RDS", "NPTS"], r"'policies\[1\]' must be given with upper"),
        ({"mine": "NPTS"}, r"\"?'policies\['mine'\]' must be given with upper"),
    ],
)
def test_errors_of_simulate_name_what_was_given(given, words):
    with pytest.raises(db.ArgumentError, match=words):
        db.simulate(COINS, given, **FEW)


def test_a_comparison_fills_in_the_parameters_of_names_alone():
    ranking = db.compare_policies(COINS, policies=["UCB1", "IMED", "NPTS(upper=2)"], **FEW)
    assert set(ranking.policies.values()) == {db.IMED("bernoulli"), db.NPTS(upper=2)}
    assert list(ranking.left_out) == ["UCB1"]
    with pytest.raises(db.ArgumentError, match=r"'policies\[1\]' must be the name of a policy; did you mean 'IMED'"):
        db.compare_policies(COINS, policies=["IMED", "IMDE"], **FEW)
    assert not math.isnan(ranking.places[0].mean)
