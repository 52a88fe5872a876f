"""The dashboard in a real browser: create, ask, tell, see the pictures move; on a large window and on a phone."""

from urllib.parse import urlencode

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.service.browser import follow, picture, see, text, until

WIDTHS = """return ["html", ".scroll", ".arms"].map((name) => {
  const box = document.querySelector(name), place = box.getBoundingClientRect();
  return [box.scrollWidth - box.clientWidth, place.left, window.innerWidth - place.right];
})"""
CELLS = """return [...document.querySelectorAll(".arms tbody th, .arms td")].map((cell) => {
  const place = cell.getBoundingClientRect();
  return [place.left, window.innerWidth - place.right];
})"""


def nothing_sticks_out(page):
    """Neither the page nor the table of arms is to be scrolled sideways, and every cell of it can be seen."""
    # Until the page has been laid out; if anything still sticks out then, it is said.
    assert until(page, lambda: all(-beyond >= 0 and left >= 0 and right >= 0 for beyond, left, right in widths(page)))
    cells = page.execute_script(CELLS)
    assert len(cells) >= 18
    assert min(min(cell) for cell in cells) >= 0


def widths(page):
    """How far each part reaches beyond its frame, and its distances from both sides of the page."""
    return page.execute_script(WIDTHS)


def test_long_names_and_large_numbers_fit(page, studies, request):
    """The widest that a table of arms gets."""
    name = f"wide {request.node.callspec.id}"
    arms = ["W" * 200, "planting on the 26th of February, with irrigation", "c"]
    study = studies.create_study(name, arms=arms, seed=1)
    trials = study.ask(30)
    study.tell_many([trial.id for trial in trials], [-1.2345678e-95 * (1 + trial.id) for trial in trials])
    page.get(page.current_url + "study?name=" + name.replace(" ", "+"))
    nothing_sticks_out(page)
    assert until(page, lambda: page.find_element(By.CSS_SELECTOR, ".arms").aria_role) == "table"
    beside = page.execute_script("return getComputedStyle(document.querySelector('.arms td'), '::before').content")
    phone = request.node.callspec.id == "phone"
    assert beside == ('"Rewards"' if phone else "none")  # without a line of titles each number has its own


def test_create_ask_tell_and_watch(page, service, studies, request, tmp_path):
    name = f"<b>maize</b> {request.node.callspec.id}"
    follow(page, page.find_element(By.LINK_TEXT, "New study").click)
    page.find_element(By.ID, "name").send_keys(name)
    page.find_element(By.CSS_SELECTOR, ".arm").send_keys("26 Feb" + Keys.ENTER)  # moves to the next row
    page.switch_to.active_element.send_keys("<i>13 Mar</i>" + Keys.ENTER)
    page.switch_to.active_element.send_keys("28 Mar")
    page.find_element(By.ID, "more").send_keys(Keys.ENTER)  # a row that stays empty
    page.find_element(By.ID, "unit").send_keys("kg/ha")
    page.find_element(By.CSS_SELECTOR, "#control option[value='26 Feb']").click()
    until(page, lambda: "reward_unit='kg/ha'" in text(page, "#guide pre"))
    assert "RDS()" in text(page, "#guide p")
    assert "control='26 Feb'" in text(page, "#guide pre")
    follow(page, lambda: page.find_element(By.ID, "make").send_keys(Keys.ENTER))
    assert text(page, "h1") == name  # shown as text
    assert page.find_elements(By.CSS_SELECTOR, "main b, main i") == []
    assert text(page, ".advice").startswith("No rewards yet.")

    follow(page, lambda: page.find_element(By.ID, "n").send_keys(Keys.ENTER))  # ask
    arm = studies.load_study(name).pending[0].arm
    assert text(page, ".news") == f"Trial 0: {arm}"
    assert text(page, ".todo") == f"Try {arm} and report the reward of trial 0."
    assert see(page, "#id", "value") == "0"
    assert picture(page, "Histograms") is None

    follow(page, lambda: page.find_element(By.ID, "reward").send_keys("much" + Keys.ENTER))
    assert "The reward must be a number (got 'much')." in text(page, "[role=alert]")
    field = page.find_element(By.ID, "reward")
    field.clear()
    follow(page, lambda: field.send_keys("3120,5" + Keys.ENTER))  # as half of the world writes it
    assert text(page, ".news").startswith(f"Stored: trial 0, {arm}, has the reward 3,120.5 kg/ha.")
    assert "rewards: 1" in picture(page, "Histograms")
    assert studies.load_study(name).summary().loc[arm, "mean"] == 3120.5

    # Somebody else tells more rewards: the pictures follow by themselves, and what is being typed stays.
    reward = page.find_element(By.ID, "reward")
    reward.send_keys("12")
    shown = {part: see(page, part, "innerHTML") for part in ("#live-next", "#live-arms", "#live-rewards")}
    study = studies.load_study(name)
    trials = study.ask(10)
    study.tell_many([trial.id for trial in trials[:9]], [3000.0 + 10.0 * trial.id for trial in trials[:9]])
    told = f"{trials[9].id} {trials[9].arm}"
    until(page, lambda: " ".join(text(page, ".pending").split()).startswith(told))  # of the last that is to come
    assert [part for part, old in shown.items() if see(page, part, "innerHTML") == old] == []
    until(page, lambda: page.execute_script("return plots.length === 3 && plots[0].data[0].at(-1) === 11"))
    assert reward.get_attribute("value") == "12"
    assert page.switch_to.active_element == reward

    def choose():
        page.find_element(By.ID, f"pending-{trials[9].id}").send_keys(Keys.ENTER)
        return True

    follow(page, lambda: until(page, choose))
    page.find_element(By.XPATH, "//summary[contains(., 'never come')]").send_keys(Keys.ENTER)  # asks for confirmation
    follow(page, lambda: page.find_element(By.CSS_SELECTOR, "form[action='/abandon'] button").send_keys(Keys.ENTER))
    assert study.pending == []
    assert text(page, ".news") == "Stored: the trial is abandoned."
    follow(page, lambda: page.find_element(By.CSS_SELECTOR, "form[action='/reopen'] button").send_keys(Keys.ENTER))
    assert [trial.id for trial in study.pending] == [trials[9].id]
    page.back()
    page.get(f"{service.url}/study?" + urlencode({"name": name}))
    field = page.find_element(By.CSS_SELECTOR, ".inline input[name='reward']")  # in the row of the pending trial
    follow(page, lambda: field.send_keys("3000" + Keys.ENTER))
    assert study.pending == []
    nothing_sticks_out(page)
    page.save_screenshot(str(tmp_path / "study.png"))


def test_with_the_keyboard_alone(page, studies, request):
    """Everything that can be done has a label, is reached with Tab, and shows where the focus is."""
    name = f"keys {request.node.callspec.id}"
    study = studies.create_study(name, arms=["a", "b"], seed=1)
    study.ask(3)
    page.get(page.current_url + "study?name=" + name.replace(" ", "+"))
    until(page, lambda: page.execute_script("return plots.length"))
    for part in page.find_elements(By.TAG_NAME, "summary"):
        part.send_keys(Keys.ENTER)
    page.execute_script("document.activeElement.blur()")
    reached = (
        "main a, main button:enabled, main select, main input:not([type=hidden], :not(:checked)[type=radio]), .plot"
    )
    wanted = [element for element in page.find_elements(By.CSS_SELECTOR, reached) if element.is_displayed()]
    assert len(wanted) > 15
    for field in page.find_elements(By.CSS_SELECTOR, "main select, main input:not([type=hidden]), .theme button"):
        assert field.accessible_name or not field.is_displayed()
    seen = []
    for _ in range(80):
        page.switch_to.active_element.send_keys(Keys.TAB)
        focused = page.switch_to.active_element
        if focused.tag_name == "body":
            continue  # round the end to the beginning
        assert focused.value_of_css_property("outline-style") != "none"
        seen.append(focused)
    assert [element.get_attribute("outerHTML") for element in wanted if element not in seen] == []


def test_without_script_the_page_still_works(service, web, studies):
    """Forms and tables come from the service; the scripts refresh them and draw what happened over time."""
    study = studies.create_study("plain", arms=["a", "b"], seed=1)
    with service.http() as client:
        client.post("/login", data={"key": service.write})
        answer = client.post("/ask", data={"name": "plain", "token": "once", "n": "2"})
        assert answer.headers["location"] == "/study?name=plain&asked=0"
        client.post("/ask", data={"name": "plain", "token": "once", "n": "2"})  # the button, twice
        assert len(study) == 2
        page = client.get(answer.headers["location"]).text
        assert "Trial 0:" in page
        assert client.post("/tell", data={"name": "plain", "id": "0", "reward": "1.5"}).status_code == 303
        page = client.get("/study", params={"name": "plain", "done": 0}).text
        assert "has the reward <strong>1.5</strong>" in page
        assert 'role="img" aria-label="Histograms' in page
        for kind, last in (
            ("Share of each arm", "50.0%"),
            ("Mean reward of each arm", "1.5"),
            ("Total reward", "1.5"),
        ):
            _, table = page.split(f'aria-label="{kind} at some trials"')
            last_row = table[: table.index("</table>")].rpartition("<tr>")[2]
            assert '<th scope="row">2</th>' in last_row
            assert f"<td>{last}</td>" in last_row
        assert client.post("/tell", data={"name": "plain", "id": "0", "reward": "2"}).status_code == 409
        assert client.post("/tell", data={"name": "plain", "id": "x", "reward": "2"}).status_code == 422
        assert client.post("/tell", data={"name": "plain", "id": "0", "reward": "nan"}).status_code == 422
        assert client.post("/arms", data={"name": "plain", "arm": "c", "action": "add"}).status_code == 303
        assert client.post("/arms", data={"name": "plain", "arm": "a", "action": "retire"}).status_code == 303
        assert client.post("/create", data={"name": "plain", "arm": ["a", "b"]}).status_code == 409
        assert study.arms == ["b", "c"]
        log = client.get("/study/log", params={"name": "plain", "format": "csv"})
        assert log.text.splitlines()[0].startswith("trial,arm,propensity")
        fresh = client.get("/study/live", params={"name": "plain"})
        seen = {"name": "plain", "seen": fresh.headers["X-Bandits-Last"]}
        assert client.get("/study/live", params=seen).status_code == 204  # nothing has happened since
        study.ask()
        assert client.get("/study/live", params=seen).status_code == 200
        client.post("/logout")
        assert client.get("/").status_code == 303
