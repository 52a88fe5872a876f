"""Links that sign in once: on another device, in a real browser, and what they must not do."""

import httpx
import pytest
from selenium.webdriver.common.by import By

from dirichlet_bandits.cli.serve import invitation, public_address
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.service.guard import COOKIE
from dirichlet_bandits.service.keys import LINK_LIFETIME, MOST, SESSION_LIFETIME, Sessions, new_key
from tests.service.browser import follow, see, text, until

KEY = new_key("field app", "write")[1]


def made_link(service, key):
    """The link that the page for phones makes for the holder of a key."""
    with httpx.Client(base_url=service.url, cookies={COOKIE: key}) as client:
        shown = client.post("/phone").text
    assert key not in shown
    assert 'class="qr"' in shown
    return shown.partition('id="address">')[2].partition("<")[0]


def test_links_and_sessions_expire():
    now = 0.0
    sessions = Sessions(lambda: now)
    late, code = sessions.invite(KEY), sessions.invite(KEY)
    now = LINK_LIFETIME
    session = sessions.enter(code)
    assert sessions.enter(code) is None  # once
    now += 0.1
    assert sessions.enter(late) is None
    assert sessions.key_of(session) == KEY
    now = LINK_LIFETIME + SESSION_LIFETIME + 0.1
    assert sessions.key_of(session) is None
    oldest = sessions.invite(KEY)
    for _ in range(MOST):
        sessions.invite(KEY)
    assert sessions.enter(oldest) is None


def test_links_and_sessions_of_one_key_sign_nobody_else_out():
    sessions, boss = Sessions(), new_key("boss", "manage")[1]
    signed_in, link = sessions.enter(sessions.invite(boss)), sessions.invite(boss)
    first = sessions.enter(sessions.invite(KEY))
    for _ in range(MOST):
        sessions.enter(sessions.invite(KEY))
        sessions.invite(KEY)
    assert sessions.key_of(first) is None  # the key's own oldest one
    assert sessions.key_of(signed_in) == boss
    assert sessions.key_of(sessions.enter(link)) == boss


def test_a_link_signs_in_once_with_the_rights_of_its_key(service, studies):
    studies.create_study("by link", arms=["a", "b"], seed=1)
    code = made_link(service, service.read).partition("#")[2]
    with service.http() as phone:
        assert phone.get("/enter").status_code == 200  # a preview of the link does not use it up
        assert phone.post("/enter", data={"code": "guess"}).status_code == 401
        entered = phone.post("/enter", data={"code": code})
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        cookie = entered.headers["set-cookie"]
        assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", f"Max-Age={SESSION_LIFETIME}"))
        assert service.read not in cookie
        assert code not in cookie
        assert phone.get("/study", params={"name": "by link"}).status_code == 200
        assert phone.post("/ask", data={"name": "by link", "token": "t"}).status_code == 403
        session = phone.cookies[COOKIE]
        assert phone.get("/api/studies", headers={"Authorization": f"Bearer {session}"}).status_code == 401
        phone.post("/logout")
    with service.http() as other:
        assert other.post("/enter", data={"code": code}).status_code == 401
        other.cookies.set(COOKIE, session)  # ended by the logout
        assert other.get("/").headers["location"] == "/login"


def test_what_is_done_after_a_link_is_recorded_for_its_key(service, studies):
    study = studies.create_study("linked ask", arms=["a", "b"], seed=1)
    with service.http() as phone:
        phone.post("/enter", data={"code": made_link(service, service.write).partition("#")[2]})
        assert phone.post("/ask", data={"name": "linked ask", "token": "t"}).status_code == 303
    assert study.events(limit=1)[0].actor == "write"
    assert "/enter#" not in service.log.read_text()  # its output is a file, not a terminal
    assert f"dashboard: {service.url}/" in service.log.read_text()


def test_serve_prints_a_link_and_a_code_for_phones():
    sessions = Sessions()
    here = invitation("http://127.0.0.1:8000", [KEY], sessions)
    assert "sign in as 'field app', once, within 10 minutes: http://127.0.0.1:8000/enter#" in here
    assert "\n" not in here  # no phone can reach it
    boss = new_key("boss", "manage")[1]
    shown, *picture = invitation("https://bandits.example.org", [KEY, boss], sessions).splitlines()
    assert "'boss'" in shown
    assert len(picture) > 15
    assert sessions.key_of(sessions.enter(shown.partition("#")[2])) == boss
    assert not public_address(None, "0.0.0.0", 80).startswith("http://0.0.0.0")
    with pytest.raises(ArgumentError, match="--url"):
        public_address("bandits.example.org", "127.0.0.1", 80)


def test_a_link_opens_the_dashboard(window, service):
    """The code leaves the address at once, so it is neither in the history nor sent on as a referrer."""
    window.get(service.url + "/login")
    window.delete_all_cookies()
    window.get(made_link(service, service.write))
    until(window, lambda: see(window, "h1", "innerText") == "Studies")
    assert "#" not in window.current_url
    follow(window, lambda: window.get(service.url + "/phone"))
    follow(window, window.find_element(By.CSS_SELECTOR, "form[action='/phone'] button").click)
    assert text(window, "#address").startswith(service.url + "/enter#")
    size = see(window, ".qr", "getBoundingClientRect().width")
    assert 150 < size <= window.execute_script("return innerWidth")
