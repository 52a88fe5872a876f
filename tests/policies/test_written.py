"""Policies may be given as objects or texts, alone, in a list or in a dict, wherever policies are asked for."""

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.written import as_policies, policy_from_table
from dirichlet_bandits.service.calls import PlanStudies
from dirichlet_bandits.specs import FieldError

FORMS = ["RDS", "RDS()", db.RDS(), ["RDS"], (db.RDS(),), {"RDS": "RDS"}, {"RDS": db.RDS()}]
COINS = db.Bandit([db.Bernoulli(0.3), db.Bernoulli(0.6)])


@pytest.mark.parametrize("given", FORMS, ids=repr)
def test_every_form_is_accepted_everywhere(given):
    short = {"horizon": 10, "replications": 2, "seed": 0, "progress": False}
    assert as_policies(given) == {"RDS": db.RDS()}
    assert db.simulate(COINS, given, **short).policies == ["RDS"]
    assert db.compare_policies(COINS, policies=given, **short).policies == {"RDS": db.RDS()}
    planned = db.plan(COINS, policies=given, floors=[0.0], **short | {"horizon": 100})
    assert [row.policy for row in planned.rows] == ["EqualSplit", "RDS"]


def test_a_class_alone_gets_its_parameters_only_where_they_are_known():
    assert as_policies("NPTS", classes=["NPTS"]) == {"NPTS": "NPTS"}
    with pytest.raises(db.errors.ArgumentError, match=r"^'policies' must be given with upper: NPTS"):
        as_policies("NPTS")
    with pytest.raises(db.errors.ArgumentError, match=r"^'policies\['mine'\]' must be given with upper: NPTS"):
        as_policies({"mine": "NPTS"}, classes=["NPTS"])


def test_names_are_short_and_differ():
    assert list(as_policies(["UCB1(1)", db.UCB1(2.0), "UCB1"], classes=["UCB1"])) == [
        "UCB1(sigma=1)",
        "UCB1(sigma=2.0)",
        "UCB1",
    ]
    with pytest.raises(db.errors.ArgumentError, match="different from each other, or named by a dict"):
        as_policies(["RDS", db.RDS()])


def test_a_table_may_have_a_text_instead_of_parameters():
    table = {"policy": "SlidingWindow(NPTS(upper=1), window=5)", "name": "recent"}
    assert policy_from_table("policies[0]", table) == db.SlidingWindow(db.NPTS(1), 5)
    with pytest.raises(
        FieldError, match=r"^'policies\[0\].upper' is not needed: the policy is written with its parameters"
    ):
        policy_from_table("policies[0]", {"policy": "NPTS(upper=1)", "upper": 2})
    with pytest.raises(db.errors.ArgumentError, match=r"^'policies\[0\].policy' must be given with upper"):
        policy_from_table("policies[0]", {"policy": "NPTS()"})


def test_the_names_of_a_plan_are_its_own():
    with pytest.raises(db.errors.ArgumentError, match="named otherwise than EqualSplit"):
        db.plan(COINS, policies={"EqualSplit": "RDS"})
    with pytest.raises(db.errors.ArgumentError, match="a list of policies, because a service names them itself"):
        PlanStudies(baseline=0.5, lift=0.1, policies={"mine": "RDS"}).as_json()
