"""Services to test with."""

import sqlite3
from contextlib import closing

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.service.browser import browser, follow, text
from tests.service.running import Running, until_stopped


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """One service with keys for all tests that do not harm it."""
    yield from until_stopped(Running(tmp_path_factory.mktemp("service")))


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


@pytest.fixture
def everything(service):
    """All that is stored."""

    def count():
        with closing(sqlite3.connect(service.storage.removeprefix("sqlite:///"))) as file:
            return [file.execute(f"SELECT * FROM {table}").fetchall() for table in ("bandit_studies", "bandit_events")]

    return count


@pytest.fixture
def target(studies, request):
    """A study with a pending trial, one told, one abandoned."""
    study = studies.create_study(request.node.name[:200], arms=["a", "b"], seed=1)
    study.tell(study.ask().id, 1.0)
    study.abandon(study.ask().id)
    study.ask()
    return study


@pytest.fixture(scope="session", params=[(1280, 900), (390, 844)], ids=["desk", "phone"])
def window(request, tmp_path_factory):
    """A browser for all tests of its size."""
    opened = browser(tmp_path_factory.mktemp("profile"), *request.param)
    yield opened
    opened.quit()


@pytest.fixture
def page(window, service):
    """A browser that has just logged in."""
    window.get(service.url + "/login")
    window.delete_all_cookies()
    window.get(service.url + "/")
    assert window.current_url.endswith("/login")
    follow(window, lambda: window.find_element(By.ID, "key").send_keys("wrong" + Keys.ENTER))
    assert "not known" in text(window, "[role=alert]")
    follow(window, lambda: window.find_element(By.ID, "key").send_keys(service.write + Keys.ENTER))
    assert window.find_elements(By.CSS_SELECTOR, "a.button[href='/new']")
    yield window
    loud = [line["message"] for line in window.get_log("browser") if line["level"] == "SEVERE"]
    refusals = ("status of 401", "status of 409", "status of 422")  # those that the tests provoke
    assert [line for line in loud if not any(words in line for words in refusals)] == []
