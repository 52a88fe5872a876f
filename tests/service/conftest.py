"""Services to test with."""

import pytest

from tests.service.running import Running


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """One service with keys for all tests that do not harm it."""
    running = Running(tmp_path_factory.mktemp("service"))
    yield running
    running.stop()


@pytest.fixture
def studies(service):
    """The service as its writing client sees it."""
    with service.connect() as connected:
        yield connected


@pytest.fixture
def web(service):
    """A bare HTTP client with the key to write."""
    with service.http(service.write) as client:
        yield client
