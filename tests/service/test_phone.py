"""What is done with one hand: ask for a segment, tell in a row, and see everything without scrolling sideways."""

from urllib.parse import urlencode

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.service.browser import follow, see, text, until

BOX = "return [...document.querySelectorAll(arguments[0])].map((one) => one.getBoundingClientRect().toJSON())"
LINE = 60  # pixels: one line with a button of 44 in it, less than two


def opened(page, service, path, **query):
    page.get(f"{service.url}{path}?{urlencode(query)}")


def test_every_trial_is_one_line_and_ask_and_tell_stay_in_sight(page, service, studies, request):
    phone, name = request.node.callspec.id == "phone", f"one line each {request.node.callspec.id}"
    arms = ["a long name that says exactly what is done, to whom and when", "b", "the last one"]
    study = studies.create_study(name, arms=arms, reward_unit="kg/ha", seed=1)
    first = study.ask(60)
    study.tell_many([trial.id for trial in first[:50]], [float(trial.id % 7) for trial in first[:50]])
    opened(page, service, "/study", name=name)
    rows = page.execute_script(BOX, ".pending li")
    assert len(rows) == 10
    assert all(row["height"] < LINE for row in rows)
    assert sum(row.is_displayed() for row in page.find_elements(By.CSS_SELECTOR, ".pending li")) == 5
    page.find_element(By.CSS_SELECTOR, "#more-pending summary").send_keys(Keys.ENTER)
    study.tell(50, 1.0)  # the page follows, and what was opened stays open
    until(page, lambda: see(page, "#pending-51", "innerText") == "51" and see(page, "#pending-50", "id") is None)
    assert see(page, "#more-pending", "open")
    width = page.execute_script("return innerWidth")
    assert all(button["right"] <= width for button in page.execute_script(BOX, "button"))
    page.execute_script("scrollTo(0, document.body.scrollHeight)")
    bar = page.execute_script(BOX, ".bar")[0]
    assert (bar["bottom"] == page.execute_script("return innerHeight")) == phone  # wherever one is
    last = page.execute_script(BOX, ".arms tbody tr")[-1]
    frame = page.execute_script(BOX, "#live-arms")[0]
    assert last["bottom"] <= frame["bottom"]  # no arm is cut off
    opened(page, service, "/study/trials", name=name)
    assert max(row["height"] for row in page.execute_script(BOX, ".lines tbody tr")) < LINE
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_ask_for_a_segment_and_a_unit(page, service, studies, request):
    name = f"soils {request.node.callspec.id}"
    study = studies.create_study(name, arms=["a", "b"], segments=["clay", "sand"], seed=1)
    study.tell(study.ask(segment="clay", unit="field 1"), 1.0)
    opened(page, service, "/study", name=name)
    assert [see(page, ".advice", "innerText"), text(page, ".advice + .advice")] == [
        "clay Too early to tell: 1 arm has no reward yet.",
        "sand No rewards yet.",
    ]
    assert text(page, ".advice + .advice + p") == "Each arm is tried once before the policy chooses."
    page.find_element(By.CSS_SELECTOR, "#segment option:nth-child(2)").click()
    unit = page.find_element(By.ID, "unit")
    follow(page, lambda: unit.send_keys("field 7" + Keys.ENTER))
    (trial,) = study.pending
    assert (trial.segment, trial.unit) == ("sand", "field 7")
    assert text(page, ".news") == f"Trial 1: {trial.arm} (sand, field 7)"
    assert see(page, "#segment", "value") == "sand"  # for the next ask
    field = page.find_element(By.ID, "n")
    field.clear()
    field.send_keys("2")
    follow(page, lambda: page.find_element(By.ID, "unit").send_keys("field 8" + Keys.ENTER))
    assert text(page, "[role=alert]").startswith("The number of trials must be 1 for a unit")


def test_archived_studies_are_found_again(page, service, studies, request):
    name = f"put away {request.node.callspec.id}"
    studies.create_study(name, arms=["a", "b"], seed=1).archive()
    page.get(service.url)
    assert name not in text(page, "main")
    follow(page, page.find_element(By.PARTIAL_LINK_TEXT, "Archived studies").click)
    follow(page, page.find_element(By.LINK_TEXT, name).click)
    page.find_element(By.XPATH, "//summary[contains(., 'Manage')]").send_keys(Keys.ENTER)
    follow(page, lambda: page.find_element(By.CSS_SELECTOR, "form[action='/archive'] button").send_keys(Keys.ENTER))
    assert name in studies.study_names()
