"""What several rooms test with."""

import pytest


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for the whole session."""
    from tests.storage.postgres import Server

    server = Server()
    yield server
    server.stop()
