"""A plan decides all numbers: a store knows a simulation by its fields, and a shortcut needs its environment."""

import dataclasses
import json

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.engine.loop import runner
from dirichlet_bandits.simulation.collect import identity
from dirichlet_bandits.simulation.plan import Plan, make_plan
from tests.environments.test_objective import ARMS, Cautious

BANDIT = db.Bandit(ARMS, names=["safe", "bold"])
CAUTIOUS = db.Bandit(ARMS, names=["safe", "bold"], objective=Cautious())
POLICY = db.RDS()  # its shortcut draws other numbers than the plain loop


def plan(**changes):
    settings = {"horizon": 10, "replications": 3, "seed": 1, "record": 5, "fast": True, **changes}
    return make_plan(BANDIT, POLICY, **settings)


def run(bandit, **changes):
    return db.simulate(bandit, {"TS": POLICY}, horizon=200, replications=8, **{"seed": 2, **changes})


def test_a_new_field_is_part_of_the_identity():
    @dataclasses.dataclass(frozen=True)
    class Later(Plan):
        delay: int

    fields = {field.name: getattr(plan(), field.name) for field in dataclasses.fields(Plan)}
    assert json.loads(identity(Later(**fields, delay=3)))["delay"] == 3
    assert identity(Later(**fields, delay=3)) != identity(Later(**fields, delay=4))
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        identity(Later(**fields, delay={3}))


def test_equal_plans_have_one_identity():
    assert identity(plan()) == identity(plan())
    for change in ({"horizon": 11}, {"replications": 4}, {"seed": 2}, {"record": 4}, {"fast": False}):
        assert identity(plan(**change)) != identity(plan())


class Own(db.Bandit):
    """A bandit of a class of its own."""


class Seasonal(db.Bandit):
    """A bandit with a field more than those of the library."""

    def __init__(self, period):
        super().__init__(ARMS, names=["safe", "bold"])
        self.period = period


def identity_of(bandit):
    return identity(dataclasses.replace(plan(), bandit=bandit))


def test_every_field_of_a_bandit_is_part_of_the_identity():
    assert identity_of(Seasonal(3)) == identity_of(Seasonal(3))
    assert identity_of(Seasonal(3)) != identity_of(Seasonal(4))
    assert identity_of(Own(ARMS, names=["safe", "bold"])) != identity_of(BANDIT)  # its methods may differ
    new = db.Bandit(ARMS, names=["safe", "bold"])
    new.period = 3
    assert identity_of(new) != identity_of(BANDIT)
    with pytest.raises(db.ArgumentError, match="'bandit' must be picklable"):
        identity_of(Seasonal(lambda t: t))


def test_two_bandits_that_differ_in_a_new_field_do_not_mix_in_a_store(tmp_path):
    run(Seasonal(3), store=tmp_path / "runs.zarr")
    run(Seasonal(3), store=tmp_path / "runs.zarr")
    with pytest.raises(db.ArgumentError, match="other bandit"):
        run(Seasonal(4), store=tmp_path / "runs.zarr")


def test_stores_of_plain_bandits_keep_their_identity():
    bandit = db.Bandit([db.Bernoulli(0.25), db.Gaussian(0.5, 2.0)], names=["safe", "bold"])
    before = identity_of(bandit)
    bandit.table.data.size  # noqa: B018 - computed when first used, and no part of the identity
    assert identity_of(bandit) == before
    found = json.loads(before)
    assert list(found) == [
        "seed",
        "horizon",
        "replications",
        "recorded times",
        "policies",
        "arms",
        "objective",
        "value of 'fast'",
        "version of the sources",
    ]
    assert found["objective"] == ["mean", "ae5ee4d073cb0184"]
    assert found["arms"] == {
        "safe": ["Bernoulli(p=0.25)", "5216361c61e08d6a"],
        "bold": ["Gaussian(mean=0.5, std=2.0)", "e9cacd36c2691c87"],
    }


def test_regret_and_labels_come_from_the_objective(tmp_path):
    result = run(CAUTIOUS)
    np.testing.assert_allclose(result.regret.isel(time=-1), result.pulls.values @ CAUTIOUS.gaps, rtol=1e-12)
    result.save(tmp_path / "runs.zarr")
    for found in (result, db.load(tmp_path / "runs.zarr")):
        assert (found.objective, found.regret_label) == ("mean less deviation", "cautious regret")
        assert found.lower_bound is None  # that of the mean would be wrong
        assert found.plot().axes[0].get_ylabel() == "cautious regret"
    usual = run(BANDIT)
    assert (usual.objective, usual.regret_label) == ("mean", "regret")
    assert usual.plot().axes[0].get_ylabel() == "regret"


def test_two_objectives_do_not_mix_in_a_store(tmp_path):
    run(BANDIT, store=tmp_path / "runs.zarr")
    with pytest.raises(db.ArgumentError, match="other objective"):
        run(CAUTIOUS, store=tmp_path / "runs.zarr")


def test_the_lower_bound_is_computed_when_it_is_asked_for(monkeypatch, tmp_path):
    computed = []
    fake = "dirichlet_bandits.simulation.collect.evident_lower_bound"
    monkeypatch.setattr(fake, lambda laws: computed.append(len(laws)) or 7.0)
    result = run(BANDIT)
    assert result.undone == 0
    assert computed == []
    assert result.lower_bound == result.lower_bound == 7.0
    result.save(tmp_path / "saved.zarr")
    assert computed == [len(BANDIT)]
    assert run(BANDIT, store=tmp_path / "stored.zarr").lower_bound == 7.0
    assert db.load(tmp_path / "stored.zarr").lower_bound == db.load(tmp_path / "saved.zarr").lower_bound == 7.0


def test_shortcuts_are_taken_where_they_are_allowed_and_do_not_look_at_gaps():
    assert not run(BANDIT, fast=True).data.identical(run(BANDIT, fast=False).data)
    assert run(BANDIT, fast=True, delay=1).data.identical(run(BANDIT, fast=False, delay=1).data)
    np.testing.assert_array_equal(run(CAUTIOUS).pulls, run(BANDIT).pulls)


@pytest.mark.parametrize(("policy", "functions"), [(db.policies.EqualSplit(), 1), (db.RDS(), 2)], ids=repr)
def test_a_policy_without_a_shortcut_compiles_one_function(policy, functions):
    assert len({runner(policy.params, shortcut) for shortcut in (True, False)}) == functions
