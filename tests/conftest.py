"""What several rooms test with."""

import signal

import pytest

# A shell that starts jobs in the background lets them ignore Ctrl-C, and children inherit it; our tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Fixtures that start a browser, a database server, the crop model, a cluster or further processes.
STARTERS = {"client", "cluster", "many_files", "model", "page", "postgres", "processes", "proxy", "site", "window"}


# Files whose tests compile in empty caches, kill processes, or run whole reports.
LONG_FILES = (
    "tests/compiler/",
    "tests/cli/test_compile_command.py",
    "tests/cli/test_paper.py",
    "tests/live/test_interrupts.py",
    "tests/service/test_background_compiler.py",
    "tests/service/test_fuzz.py",
    "tests/service/test_survival.py",
    "tests/simulation/test_cache.py",
    "tests/simulation/test_mutants.py",
    "tests/simulation/test_store.py",
    "tests/storage/test_waiting.py",
    "tests/test_files.py",
    "tests/test_imports.py",
    "tests/test_site.py",
)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="run one case of each test, without the long files")


def pytest_collection_modifyitems(config, items):
    """With ``--quick``, keep the first case of each test function, without long files and tests that start programs."""
    if not config.getoption("--quick"):
        return
    first = {}
    for item in items:
        starts = STARTERS & set(getattr(item, "fixturenames", ())) or item.nodeid.startswith(LONG_FILES)
        if not starts and not item.get_closest_marker("slow"):
            first.setdefault(item.nodeid.partition("[")[0], item)
    left = set(first.values())
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = [item for item in items if item in left]


COINS = """
horizon = {horizon}
replications = {replications}
seed = 0
[[arms]]
law = "Bernoulli"
p = 0.4
[[arms]]
law = "Bernoulli"
p = 0.6
[[policies]]
name = "UCB1 [half]"
policy = "UCB1"
sigma = 0.5
"""


@pytest.fixture
def coins(tmp_path):
    """Writes a small experiment, ``coins.toml``, into a folder of its own."""

    def write(horizon=50, replications=4):
        (tmp_path / "coins.toml").write_text(COINS.format(horizon=horizon, replications=replications))
        return tmp_path

    return write


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for the whole session."""
    from tests.storage.postgres import Server

    server = Server()
    yield server
    server.stop()
