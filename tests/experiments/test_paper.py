"""The paper's experiments as data: they agree with the paper's parameters, and all of them run."""

import dataclasses
import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments import (
    SHIPPED,
    Experiment,
    KinfStudy,
    Printed,
    QDSStudy,
    parse,
    shipped,
    shipped_text,
)
from dirichlet_bandits.experiments.catalogue import PAPERS, SIMULATIONS
from dirichlet_bandits.experiments.random_arms import RandomArms, RandomMultinomial
from tests.environments.test_published import TABLES

READINGS, SUBSAMPLING, RISK, CHANGING = (PAPERS[paper].names for paper in ("readings", "sda", "cvar", "lbsda"))
REGRET, MAIZE = ([name for name in names if name in SIMULATIONS] for names in (SHIPPED, RISK))
YIELDS = ("yields", "yields-spring")


def test_there_are_seven_and_they_say_where_they_come_from():
    assert len(SHIPPED) == 7
    for name in SHIPPED:
        task = shipped(name)
        assert task.paper is not None
        assert task.paper.place
        assert task.paper.about
        assert task.claims


@pytest.mark.parametrize("name", SUBSAMPLING)
def test_those_on_sub_sampling_have_every_policy_printed(name):
    experiment = shipped(name)
    assert (experiment.horizon, experiment.replications) == (20_000, 5000)
    assert list(experiment.paper.printed) == list(experiment.policies)
    assert experiment.claims
    assert experiment.policies["SSMC"] == db.SSMC("sqrt-log")


@pytest.mark.parametrize("name", READINGS)
def test_readings_judge_the_words_of_the_experiment_that_they_are_of(name):
    task = shipped(name)
    base = shipped(task.paper.of)
    assert {claim.says for claim in task.claims} <= {claim.says for claim in base.claims}
    assert all(claim.reading for claim in task.claims)
    assert len({(claim.says, claim.reading) for claim in task.claims}) == len(task.claims)
    if name in SIMULATIONS:
        assert (task.horizon, task.seed, task.replications) == (base.horizon, base.seed, 1000)
        assert name == "yields-dates" or task.bandit.means.tolist() == base.bandit.means.tolist()


def test_readings_hold_the_policies_of_the_report():
    for name in READINGS:
        if name in SIMULATIONS:
            task = shipped(name)
            told = [policy for policy in shipped(task.paper.of).policies.items() if "conservative" not in policy[0]]
            assert all(policy in task.policies.values() for _, policy in told)


def test_the_third_of_seven_dates_is_best():
    bandit = shipped("yields-dates").bandit
    assert len(bandit) == 7
    assert bandit.best == bandit.names[2] == "28 Mar"


@pytest.mark.parametrize("name", RISK)
def test_those_on_risk_have_one_level(name):
    task, end = shipped(name), name.rsplit("-", 1)[1]
    level = int(end) / 100 if end.isdigit() else 0.2
    experiment = task.experiment() if isinstance(task, RandomArms) else task
    assert experiment.bandit.objective == db.CVaR(level)
    assert all(policy.objective == db.CVaR(level) for policy in experiment.policies.values())
    assert experiment.title.endswith(f": CVaR at {100 * level:g} %")
    assert task.horizon == 10_000
    assert task.paper.place
    assert task.claims
    assert [experiment.policies["CVaR-UCB"].horizon, experiment.bandit.support()[0] >= 0.0] == [10_000, True]


def flat(params):
    """All numbers of nested parameters."""
    return [x for part in params for x in (flat(part) if isinstance(part, tuple) else [part])]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("changing-bernoulli", "Bernoulli"),
        ("changing-gaussian", "Gaussian"),
        ("restarts-thesis", "thesis"),
        ("restarts-1", "PB1"),
        ("restarts-2", "PB2"),
    ],
)
def test_those_on_changing_arms_are_the_worlds_and_policies_of_the_published_numbers(name, rows):
    task, known = shipped(name), TABLES[rows]
    world = next(iter(known.values())).world
    assert task.horizon == next(iter(known.values())).horizon
    assert (task.bandit.identity(task.horizon), task.bandit.breakpoints) == (
        world.identity(task.horizon),
        world.breakpoints,
    )
    for called, policy in task.policies.items():
        row = known[called.replace("GLR-klUCB", "GLR").replace(", rare", " .05")]
        assert type(policy.params) is type(row.policy.params)
        np.testing.assert_allclose(flat(policy.params), flat(row.policy.params), rtol=1e-9)
    for called, printed in task.paper.printed.items():
        if row := known.get(called):
            reference = row.drawn if row.printed is None else row.printed[0]
            assert reference in (None, printed.mean)
            assert printed.std is None or row.printed[1] == pytest.approx(printed.std / math.sqrt(1000))


def test_all_on_changing_arms_are_there():
    assert len(CHANGING) == 6
    assert all(shipped(name).claims and shipped(name).paper.place for name in CHANGING)
    assert list(shipped("limited-memory").policies.values())[1:3] == [
        db.LBSDA("cbrt-log"),
        db.LBSDA("cbrt-log", memory="log2"),
    ]


def test_what_the_paper_on_risk_printed():
    for name, values, regrets in (
        ("maize-5", [0, 46, 287, 538], [3128e3, 760e3, 192e3]),
        ("maize-20", [448, 627, 1059, 1515], []),
        ("maize-80", [2238, 2570, 3074, 3120], [1411e3, 888e3, 287e3]),
    ):
        task = shipped(name)
        assert list(task.paper.values) == list(task.bandit.names)
        assert list(task.paper.values.values()) == values
        assert [row.mean for row in task.paper.printed.values()] == regrets
        assert (task.replications, task.policies["B-CVTS"].upper) == (1040, 10_000)
        # The shipped seasons are others, of the same climate.
        np.testing.assert_allclose(task.bandit.values, values, atol=60)


def test_random_problems_depend_on_seed_and_number_alone():
    law, policies = RandomMultinomial([0.0, 0.5, 1.0]), {"M": db.MCVTS([0, 0.5, 1], 0.4), "U": db.UUCB(1.0, 0.4)}
    study = RandomArms("Coins", law, 3, db.CVaR(0.4), policies, horizon=60, problems=5, seed=3)
    result, fewer = study.run(progress=False), dataclasses.replace(study, problems=2).run(progress=False, workers=1)
    np.testing.assert_array_equal(result.regret[:, :2], fewer.regret)
    assert (result.policies, result.undone, result.regret_label) == (["M", "U"], 0, "CVaR regret at 40 %")
    assert result.lower_bound is None
    gaps = np.array([study.bandit(k).gaps for k in range(5)])
    np.testing.assert_allclose(result.final_regret("M"), (result.pulls.sel(policy="M").values * gaps).sum(axis=1))
    assert len(np.unique(gaps)) > 6
    other = dataclasses.replace(study, seed=4)
    assert other.bandit(0).values.tolist() != study.bandit(0).values.tolist()


@pytest.mark.parametrize("name", REGRET)
def test_scale(name):
    experiment = shipped(name)
    assert experiment.horizon == (50_000 if name == "robustness" else 10_000)
    assert experiment.replications == 5000
    assert parse(shipped_text(name)).policies == experiment.policies


@pytest.mark.parametrize("name", YIELDS)
def test_yield_bounds_are_exact_and_half_as_large_again(name):
    experiment = shipped(name)
    top = max(values.max() for values in db.crops.yields().values())
    for tag, bound in (("", top), (" (conservative)", 1.5 * top)):
        assert experiment.policies[f"UCB1{tag}"] == db.UCB1(sigma=bound / 2)
        assert experiment.policies[f"Binarized TS{tag}"] == db.BinarizedTS(lower=0.0, upper=bound)
        assert experiment.policies[f"Empirical IMED{tag}"] == db.EmpiricalIMED(upper=bound)
        assert experiment.policies[f"NPTS{tag}"] == db.NPTS(upper=bound)
    assert experiment.policies["RB-SDA"] == db.RBSDA()
    assert experiment.policies["BDS"] == db.BDS(rho=4.0, gamma=3500.0)
    assert experiment.policies["RDS"] == db.RDS(rho="sqrt-log")
    assert experiment.policies["QDS"] == db.QDS(rho=4.0, alpha=0.05)
    assert len(experiment.policies) == 12


def test_yield_arms():
    assert shipped("yields").bandit.names == db.crops.maize_planting().names
    assert len(shipped("yields").bandit) == 7
    assert shipped("yields-spring").bandit.names == ("26 Feb", "13 Mar", "28 Mar", "12 Apr")


@pytest.mark.parametrize("name", YIELDS)
def test_what_the_paper_printed(name):
    printed = shipped(name).paper.printed
    assert len(printed) == 12
    assert printed["UCB1 (conservative)"] == Printed(mean=2.13e6, std=0.08e6, q05=2.00e6, q95=2.26e6)
    assert printed["RB-SDA"] == Printed(mean=0.42e6, std=0.26e6, q05=0.20e6, q95=0.99e6)
    assert printed["RDS"] == Printed(mean=0.38e6, std=0.16e6, q05=0.22e6, q95=0.63e6)
    assert printed["QDS"] == Printed(mean=0.41e6, std=0.14e6, q05=0.25e6, q95=0.64e6)


def test_mixtures():
    experiment = shipped("mixtures")
    assert experiment.bandit.arms == (
        db.GaussianMixture([0.5, 0.5], [-0.3, 1.3], [0.5, 0.5]),
        db.GaussianMixture([0.1, 0.8, 0.1], [-1.5, 0.6, 2.5], [0.5, 0.5, 0.5]),
    )
    told = {"KL-UCB": db.KLUCB, "IMED": db.IMED, "TS": db.ThompsonSampling}
    for name, policy in told.items():
        assert experiment.policies[name] == policy("gaussian", sigma=0.5)
    assert list(experiment.policies) == [*told, "RDS", "QDS"]
    assert [round(arm.std(), 2) for arm in experiment.bandit.arms] == [0.94, 1.03]  # as the note in the file says


def test_sensitivity():
    experiment = shipped("sensitivity")
    assert experiment.bandit.arms == (db.Uniform(0.0, 1.0), db.Uniform(0.2, 0.9))
    rhos = [0.1, 1.0, 4.0, 9.5, 20.0, 50.0]
    assert list(experiment.policies.values()) == [db.BDS(rho=rho, gamma=0.1) for rho in rhos]
    assert -1 / math.log(1 - 0.1) == pytest.approx(9.5, abs=0.01)


def test_robustness():
    experiment = shipped("robustness")
    assert [arm.mean() for arm in experiment.bandit.arms] == [1.0, 2.0]
    assert [arm.std() ** 2 for arm in experiment.bandit.arms] == pytest.approx([1.0, 3.0])
    growths = ["log2", "log", "sqrt-log"]
    policies = [db.UCB1(sigma=1.0), *(db.RUCBLT(f=f) for f in growths), *(db.RDS(rho=f) for f in growths)]
    assert list(experiment.policies.values()) == policies
    assert experiment.plot.log_regret


def test_kinf():
    study = shipped("kinf")
    assert isinstance(study, KinfStudy)
    assert study.laws["Gaussian"] == db.Gaussian(2.0, 1.0)
    assert study.laws["exponential"] == db.Exponential(2.0)
    assert (study.targets["Gaussian"], study.targets["exponential"]) == (3.0, 3.0)
    assert (study.samples, list(study.shown)) == (1000, [100, 1000, 10_000])


def test_qds_condition():
    study = shipped("qds-condition")
    assert isinstance(study, QDSStudy)
    found = {panel.name: (panel.target, panel.stays, panel.fixed) for panel in study.panels}
    assert found == {
        "exponential, rho": (3.0, "alpha", 0.05),
        "exponential, alpha": (3.0, "rho", 8.0),
        "Gaussian, rho": (1.0, "alpha", 0.05),
        "Gaussian, alpha": (1.0, "rho", 1.0),
    }


@pytest.mark.parametrize("name", [*REGRET, *MAIZE])
def test_each_runs_at_a_tiny_size(name):
    experiment = dataclasses.replace(shipped(name), horizon=40, replications=2)
    assert isinstance(experiment, Experiment)
    result = experiment.run()
    assert result.policies == list(experiment.policies)
    assert (result.pulls.sum("arm") == 40).all()


def test_kinf_study_computes_kinf():
    study = dataclasses.replace(shipped("kinf"), samples=2, sizes=[50, 100], shown=[])
    values = study.run()
    assert values["kinf"].shape == (3, 2, 2)
    assert float(values["family"].sel(law="Gaussian")) == pytest.approx(0.5)
    assert float(values["family"].sel(law="exponential")) == pytest.approx(2 / 3 - math.log(2 / 3) - 1)
    p, q = 0.3, 0.5
    bernoulli = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    assert float(values["family"].sel(law="Bernoulli")) == pytest.approx(bernoulli)
    # Kinf of a Bernoulli sample is the divergence at its own mean, so it tells which sample it was.
    more = dataclasses.replace(study, samples=3).run()
    assert np.array_equal(values["kinf"], more["kinf"][:, :2])
    assert len(np.unique(values["kinf"])) == values["kinf"].size


def test_qds_study_finds_the_limits():
    study = shipped("qds-condition")
    values = study.run()
    for panel in study.panels:
        limit = float(values["limit"].sel(panel=panel.name))
        if panel.name == "Gaussian, rho":
            assert math.isnan(limit)
            assert panel.at(panel.start).holds
            assert panel.at(panel.stop).holds
        else:
            assert panel.gap(limit) == pytest.approx(0.0, abs=1e-9)
