"""Other versions and settings of Numba: the same numbers, or a clear refusal."""

import numba.core.caching
import numba.core.compiler
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.compiler import entry_point, internals
from tests.compiler.processes import run

PLAY = """
import hashlib, logging
logging.basicConfig()
import dirichlet_bandits as db
bandit = db.Bandit([db.Bernoulli(0.4), db.Gaussian(0.6, 0.1), db.Empirical([0.1, 0.9])])
policy = db.UCB1(sigma=1.0)
result = db.simulate(bandit, policy, horizon=60, replications=5, seed=0, workers=1)
print(hashlib.sha256(result.regret.values.tobytes()).hexdigest())
study = db.create_study("s", arms=["a", "b"], policy=policy, seed=0)
for trial in range(5):
    study.tell(study.ask().id, trial % 2)
print(study.ask().arm)
"""


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return run(tmp_path_factory.mktemp("stock"), PLAY, NUMBA_CACHE_DIR="").stdout  # from the cache of all tests


SETTINGS = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0", "NUMBA_CPU_NAME": "generic"}


def test_settings_of_numba_change_no_number(tmp_path, expected):
    assert run(tmp_path, PLAY, **SETTINGS).stdout == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_no_setting_alone_changes_a_number(tmp_path, expected, name):
    assert run(tmp_path, PLAY, **{name: SETTINGS[name]}).stdout == expected


def test_without_compilation_there_is_a_clear_refusal(tmp_path):
    done = run(tmp_path, PLAY, check=False, NUMBA_DISABLE_JIT="1")
    assert done.stderr.endswith("policies run as compiled code only: unset NUMBA_DISABLE_JIT\n")


@pytest.fixture
def forgotten():
    """The check runs again in this test, and again afterwards."""
    internals.check_internals.cache_clear()
    yield
    internals.check_internals.cache_clear()


def test_a_numba_that_lacks_a_part_is_refused_by_name(monkeypatch, forgotten):
    monkeypatch.delattr(numba.core.caching, "FunctionCache")
    with pytest.raises(db.errors.DirichletBanditsError, match=r"^Numba \S+ cannot run policies \(.*FunctionCache"):
        entry_point(lambda x: x)


@pytest.mark.parametrize("name", ["FunctionCache", "CompileResultCacheImpl"])
def test_a_missing_part_is_noticed(monkeypatch, name):
    monkeypatch.delattr(numba.core.caching, name)
    with pytest.raises(ImportError, match=name):
        internals._check()


def test_a_changed_part_is_noticed(monkeypatch):
    monkeypatch.delattr(numba.core.compiler.CompileResult, "_reduce")
    with pytest.raises(AttributeError, match="_reduce"):
        internals._check()


@pytest.mark.parametrize("name", internals.FIELDS)
def test_a_generator_or_an_array_with_other_fields_is_noticed(monkeypatch, name):
    monkeypatch.setitem(internals.FIELDS, name, "parent data")
    with pytest.raises(AttributeError, match=f"{name} has other fields than parent data"):
        internals._check()
