"""The public names are a promise: a change here is a change for users."""

import ast
import inspect
import re
from importlib.metadata import version
from pathlib import Path

import pytest

import dirichlet_bandits as db

ROOT = Path(__file__).parents[1]
MOST_NAMES = 70
LONGEST_SIGNATURE = 620
NAMES = {
    "": """
        simulate plan compare_policies create_study load_study delete_study study_names connect load read_rewards
        read_periods propensities
        Bernoulli Beta ClippedGaussian Empirical Exponential Gaussian GaussianMixture Poisson Uniform
        Bandit CVaR Drifting Environment Geometric Pareto Piecewise
        BCVTS BDS EmpiricalIMED IMED KLUCB LBSDA NPTS QDS RBSDA RDS Restarting SlidingWindow ThompsonSampling UCB1
        AuditEntry AuditEvent Comparison Comparisons DifferenceEstimate Estimate PlanRow RankedPolicy Ranking Replay
        Result RiskEstimate Rival Service Study StudyPlan StudySettings Trial Winner
        crops errors experiments extend policies report testing theory
    """,
    "policies": """
        BCVTS BDS BESA BinarizedTS BootstrapTS CUSUMUCB CVaRUCB CountPending DMED Discounted EXP3S EmpiricalIMED
        EmpiricalKLUCB EpsilonGreedy EqualSplit Floored GIRO GLRKLUCB IMED KLUCB KLUCBPlusPlus KLUCBSwitch LBSDA LDSSDA
        MBE MCVTS MED MUCB MaillardSampling NPTS OnlineBootstrapTS PHE QDS Queued RBSDA RDS RUCBLT ReBoot Restarting
        SSMC SWLBSDA SlidingWindow ThompsonSampling TopTwo UCB1 UUCB UnimodalIMED WRSDA
        CUSUM GLR MeanShift
        Policy propensities propensity_of state_propensities
    """,
    "errors": """
        AccessError ArgumentError ConflictError DirichletBanditsError FormatError LostWorkerError MissingExtraError
        NotFoundError PolicyError ReplacedError RewardError StorageError UnsoundError
    """,
    "theory": """
        Bound CVaRKinfResult CrossingBounds KinfResult LowerBound QDSCondition crossing_bounds crossing_probability cvar
        cvar_crossing_probability cvar_kinf kinf lower_bound necessary_bonus qds_condition
    """,
    "extend": """
        Environment Floats Ints Policy duel duel_round ended finite_number generator geometric implements
        index index_propensities init jit keeps_rewards larger note number_between positive_number prepare propensity_of
        pull pull_while random_index_propensities register select shared shortcut state_propensities update whole_number
        win_probability
    """,
    "testing": "Report check_environment check_law check_policy set_clock",
    "report": """
        Chapter ChapterFigure ChapterTable Contrast Making OUTCOMES Unread Verdict judge_regret regret_chapter sentence
        write
    """,
    "experiments": """
        SHIPPED Claim Experiment KinfStudy Panel PlotSettings Printed Published QDSStudy Reproduction example_text parse
        read read_bandit read_feedback reproduce shipped shipped_text
    """,
}
ROOMS = {room: set(names.split()) for room, names in NAMES.items()}
TOP = ROOMS.pop("")


def test_the_front_is_narrow():
    assert dir(db) == db.__all__ == sorted(TOP)
    assert len(TOP) <= MOST_NAMES


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_pin_their_names(room):
    assert sorted(getattr(db, room).__all__) == sorted(ROOMS[room])
    assert [name for name in ROOMS[room] if not hasattr(getattr(db, room), name)] == []


def test_every_policy_is_public():
    policy = db.policies.Policy
    found = {name for name, kind in inspect.getmembers(db.policies, inspect.isclass) if issubclass(kind, policy)}
    assert found == {"Policy", *db.policies.registry.all_policies()}


def test_a_name_that_moved_is_found_where_it_was():
    assert (db.MED, db.GLR) == (db.policies.MED, db.policies.GLR)
    assert (db.ArgumentError, db.kinf) == (db.errors.ArgumentError, db.theory.kinf)
    assert not {"MED", "ArgumentError", "kinf"} & set(dir(db))


def test_functions_are_not_hidden_by_modules_of_their_name():
    assert [name for name in dir(db) if inspect.ismodule(getattr(db, name))] == sorted({*ROOMS, "crops"})
    assert [name for name in dir(db.theory) if inspect.ismodule(getattr(db.theory, name))] == []


def public_functions():
    """Yield the public functions and methods."""
    for name in TOP:
        found = getattr(db, name)
        methods = inspect.getmembers(found, inspect.isfunction) if inspect.isclass(found) else []
        yield from [(name, found)] if inspect.isfunction(found) else []
        yield from ((f"{name}.{method}", one) for method, one in methods if not method.startswith("_"))


def test_signatures_can_be_read():
    lengths = {name: len(str(inspect.signature(function))) for name, function in public_functions()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_SIGNATURE} == {}


def test_what_functions_return_can_be_imported():
    """The names in their annotations, if they are those of classes; policies and environments return what we use."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py")]
    ours = {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    public = TOP.union(*ROOMS.values())
    unknown = {}
    for name, function in public_functions():
        named = set(re.findall(r"\w+", str(inspect.signature(function).return_annotation))) & ours - public
        if named and not issubclass(getattr(db, name.partition(".")[0]), (db.policies.Policy, db.Environment)):
            unknown[name] = named
    assert unknown == {}


def code_in_docs():
    """Yield the pages and the code on them."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            yield page.name, block


def test_the_guides_use_public_names_only():
    hidden, doors = [], set()
    for page, code in code_in_docs():
        used = set(re.findall(r"\bdb\.(\w+)", code)) - {"db"}
        hidden += [(page, name) for name in used - TOP]
        for room in ROOMS:
            named = set(re.findall(rf"\bdb\.{room}\.(\w+)", code))
            hidden += [(page, f"{room}.{name}") for name in named - ROOMS[room]]
        for module, names in re.findall(r"^\s*from dirichlet_bandits(\S*) import ([\w, ]+)", code, re.MULTILINE):
            public = TOP if module == "" else ROOMS.get(module.removeprefix("."), set())
            hidden += [(page, f"{module}: {name}") for name in set(names.split(", ")) - public]
            doors.add(module)
    assert hidden == []
    assert ".extend" in doors


def test_version_is_that_of_the_distribution():
    assert db.__version__ == version("dirichlet-bandits")
