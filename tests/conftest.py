"""What several rooms test with."""

import signal

import pytest

# A shell that starts jobs in the background lets them ignore Ctrl-C, and children inherit it; our tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
