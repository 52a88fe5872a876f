"""The public names are a promise: a change here is a change for users."""

import dirichlet_bandits as db

NAMES = {
    "Policy",
    "Bandit",
    "Drifting",
    "Geometric",
    "Pareto",
    "Piecewise",
    "World",
    "Bernoulli",
    "Beta",
    "ClippedGaussian",
    "Empirical",
    "Exponential",
    "Gaussian",
    "GaussianMixture",
    "Poisson",
    "Uniform",
    "ArgumentError",
    "DirichletBanditsError",
    "FormatError",
    "LostWorkerError",
    "MissingExtraError",
    "PolicyError",
    "RewardError",
    "Comparison",
    "Result",
    "load",
    "simulate",
    "compare_policies",
    "read_rewards",
    "crops",
    "experiments",
    "report",
    "testing",
    "Bound",
    "CrossingBounds",
    "KinfResult",
    "LowerBound",
    "QDSCondition",
    "crossing_bounds",
    "crossing_probability",
    "CVaR",
    "CVaRKinfResult",
    "cvar",
    "cvar_crossing_probability",
    "cvar_kinf",
    "kinf",
    "lower_bound",
    "necessary_bonus",
    "propensities",
    "propensity_of",
    "qds_condition",
    "state_propensities",
    "ConflictError",
    "NotFoundError",
    "StorageError",
    "Estimate",
    "Replay",
    "RiskEstimate",
    "Study",
    "Trial",
    "create_study",
    "delete_study",
    "load_study",
    "study_names",
    "AccessError",
    "RemoteStudy",
    "Service",
    "connect",
}


POLICIES = {  # a new policy is one more name, and the registry knows it
    "BDS",
    "BESA",
    "GIRO",
    "DMED",
    "IMED",
    "BCVTS",
    "CVaRUCB",
    "MCVTS",
    "UUCB",
    "KLUCB",
    "LBSDA",
    "LDSSDA",
    "MBE",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "MED",
    "MaillardSampling",
    "NPTS",
    "PHE",
    "QDS",
    "RBSDA",
    "RDS",
    "RUCBLT",
    "SSMC",
    "SWLBSDA",
    "SlidingWindow",
    "Discounted",
    "UCB1",
    "WRSDA",
    "BinarizedTS",
    "BootstrapTS",
    "OnlineBootstrapTS",
    "ReBoot",
    "EmpiricalIMED",
    "EmpiricalKLUCB",
    "ThompsonSampling",
    "UnimodalIMED",
}


def test_public_names_are_pinned():
    assert set(db.__all__) == NAMES | set(db.policies.catalogue.POLICIES)
    assert len(db.__all__) == len(set(db.__all__))
    assert set(db.policies.catalogue.POLICIES) >= POLICIES  # none is taken away


def test_public_names_exist():
    assert [name for name in NAMES | POLICIES if not hasattr(db, name)] == []


def test_rooms_pin_their_names():
    assert set(db.testing.__all__) == {"Report", "check_policy"}
    assert set(db.report.__all__) == {
        "Chapter",
        "Comparison",
        "Making",
        "Reproduction",
        "Verdict",
        "judge_regret",
        "kinf_chapter",
        "qds_chapter",
        "random_chapter",
        "regret_chapter",
        "reproduce",
        "sentence",
        "write",
    }
    assert set(db.experiments.__all__) == {
        "SHIPPED",
        "Claim",
        "Experiment",
        "KinfStudy",
        "Panel",
        "Place",
        "PlotSettings",
        "Printed",
        "Published",
        "QDSStudy",
        "Ranking",
        "example_text",
        "parse",
        "read",
        "read_bandit",
        "shipped",
        "shipped_text",
    }


def test_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert db.__version__ == version("dirichlet-bandits")
