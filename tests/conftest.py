"""What several rooms test with."""

import signal

import pytest

# A shell that starts jobs in the background lets them ignore Ctrl-C, and children inherit it; our tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for the whole session."""
    from tests.storage.postgres import Server

    server = Server()
    yield server
    server.stop()
