"""What the pages look like in a real browser: values and zoom in pictures, dark and light, and nobody is shut out."""

from urllib.parse import urlencode

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import dirichlet_bandits as db
from tests.service.browser import follow, see, text, until
from tests.service.running import ROOT

AXE = (ROOT / "tests/service/vendor/axe.min.js").read_text(encoding="utf-8")
RUN_AXE = """const [options, done] = arguments;
const words = (one) => [one.impact, one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))];
axe.run(document, {resultTypes: ["violations"], preload: false, ...options})
  .then((found) => done(found.violations.map(words)))"""
X_RANGE = "return plots.map((plot) => [plot.scales.x.min, plot.scales.x.max])"


def played(studies, name, arms, trials=60, **settings):
    """A study of this name with rewards, made once."""
    study = studies.create_study(name, arms=arms, seed=1, load_if_exists=True, **settings)
    if len(study) == 0:
        rng = np.random.default_rng(1)
        first = study.ask(trials)
        study.tell_many([trial.id for trial in first], rng.normal(size=trials).clip(0.0, 1.0).tolist())
        study.ask(2)
    return study


def open_study(page, service, name, path="/study"):
    page.get(f"{service.url}{path}?" + urlencode({"name": name}))


def pictures(page):
    until(page, lambda: page.execute_script("return plots.length === 3 && plots.every((plot) => plot.data[0].length)"))


def test_pictures_say_values_and_zoom(page, service, studies):
    played(studies, "looks", ["<b>a</b>", "b"])
    open_study(page, service, "looks")
    pictures(page)
    assert page.execute_script("return [...document.querySelectorAll('.still')].every((still) => still.hidden)")
    assert page.find_elements(By.CSS_SELECTOR, "main b") == []
    (low, high), *_ = page.execute_script(X_RANGE)
    assert (low, high) == (1, 62)

    area = page.find_element(By.CSS_SELECTOR, "[data-chart=share] .u-over")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    ActionChains(page, duration=50).move_to_element(area).perform()
    pointed = page.execute_script("return plots[0].cursor.idx")
    shares = page.execute_script("return data.share.map((row) => (100 * row[arguments[0]]).toFixed(1) + '%')", pointed)
    legend = text(page, "[data-chart=share] .u-legend")
    assert str(pointed + 1) in legend
    assert all(share in legend for share in shares)

    width = area.size["width"]
    drag = ActionChains(page, duration=50).move_to_element_with_offset(area, -width // 4, 0).click_and_hold()
    drag.move_by_offset(width // 2, 0).release().perform()
    zoomed = page.execute_script(X_RANGE)
    assert all(10 < low < 25 and 40 < high < 55 for low, high in zoomed)  # all pictures show the same time
    page.find_element(By.ID, "unzoom").click()
    assert page.execute_script(X_RANGE) == [[1, 62]] * 3

    box = page.find_element(By.CSS_SELECTOR, "[data-chart=total]")
    box.send_keys("+")
    assert all(high - low == pytest.approx(30.5) for low, high in page.execute_script(X_RANGE))
    box.send_keys("0" + Keys.ARROW_RIGHT)
    at = page.execute_script("return plots[2].cursor.idx")
    box.send_keys(Keys.ARROW_LEFT)
    assert see(page, "#read", "textContent").startswith(f"trial {at}, sum ")

    page.find_element(By.CSS_SELECTOR, "[value=dates]").click()
    asked = page.execute_script("return data.times")
    assert page.execute_script(X_RANGE)[0] == [asked[0], asked[-1]]
    page.find_element(By.CSS_SELECTOR, "[value=trials]").click()


Y_RANGE = "return [plots[1].scales.y.min, plots[1].scales.y.max]"
DATES = """const step = arguments[0], first = Date.UTC(2026, 10, 17, 22) / 1000;
const shape = (text) => text.replace(/\\d+/g, "9").replace(/[a-z]+/gi, "a");
return days(null, [0, 1, 2, 3].map((k) => first + k * step), 0, 0, step).map(shape)"""


def test_the_mean_chart_fits_the_later_trials(page, service, studies):
    """One first reward of 1000 would flatten everything after it."""
    study = studies.create_study("flattened", arms=["a", "b"], control="b", bounds=(-10, 1000), load_if_exists=True)
    if len(study) == 0:
        later = np.random.default_rng(4).normal(5.0, 1.0, 799)
        study.add_trials({"arm": ["a", "b"] * 400, "reward": [1000.0, *later]})
    open_study(page, service, "flattened")
    pictures(page)
    low, high = page.execute_script(Y_RANGE)
    means = page.execute_script("return data.means.map((row) => row.slice(row.length / 2)).flat()")
    assert low < min(means) < max(means) < high < 100.0
    legend = text(page, "[data-chart=means] .u-legend")
    assert "b (control)" in legend
    assert " to " in legend
    painted = "const {left, top, width, height} = plots[1].bbox; const found = new Set();"
    painted += "const pixels = plots[1].ctx.getImageData(left + width - 9, top, 1, height).data;"
    painted += "for (let i = 0; i < pixels.length; i += 4) found.add(pixels.slice(i, i + 4).join()); return found.size"
    with_bands = page.execute_script(painted)
    page.execute_script("data.low = data.low.map((row) => row.map(() => null)); draw()")
    assert page.execute_script(painted) < with_bands
    page.execute_script("zoom(1, 100)")
    assert page.execute_script(Y_RANGE)[1] > high  # the early means are there for those who zoom in


def test_all_dates_of_an_axis_have_the_same_form(page, service, studies):
    played(studies, "looks", ["<b>a</b>", "b"])
    open_study(page, service, "looks")
    pictures(page)
    for step in (1, 300, 6 * 3600, 86400, 30 * 86400):
        assert len(set(page.execute_script(DATES, step))) == 1


def background(page):
    return page.execute_script("return getComputedStyle(document.body).backgroundColor")


def prefer(page, colors):
    features = [{"name": "prefers-color-scheme", "value": colors}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def test_light_and_dark(page, service, studies):
    played(studies, "looks", ["<b>a</b>", "b"])
    open_study(page, service, "looks")
    pictures(page)
    prefer(page, "light")
    light, ink = background(page), "return plots[0].axes[0].stroke()"
    written = page.execute_script(ink)
    prefer(page, "dark")
    dark = background(page)
    assert light != dark
    until(page, lambda: page.execute_script(ink) != written)  # the pictures follow
    page.find_element(By.CSS_SELECTOR, ".theme [value=light]").click()
    assert background(page) == light
    until(page, lambda: page.execute_script(ink) == written)
    until(page, lambda: any(cookie["value"] == "light" for cookie in page.get_cookies()))
    page.refresh()
    assert background(page) == light
    assert see(page, ".theme [aria-pressed=true]", "value") == "light"
    prefer(page, "")


def test_the_colors_need_no_script(service):
    with service.http() as client:
        before = f"{service.url}/study?name=a+b"
        for referer, back in ((before, "/study?name=a+b"), ("http://evil.example//evil.example/", "/evil.example/")):
            answer = client.post("/theme", data={"theme": "dark"}, headers={"Referer": referer})
            assert (answer.status_code, answer.headers["location"]) == (303, back)
        assert 'data-theme="dark"' in client.get("/login").text
        assert client.post("/theme", data={"theme": "pink"}).status_code == 422
        client.cookies.set("dirichlet_bandits_theme", '"><script>')
        assert "<script>" not in client.get("/login").text


def test_cards_and_search(page, service, studies):
    played(studies, "looks", ["<b>a</b>", "b"])
    played(studies, "Forty looks", [f"arm {k}" for k in range(40)])
    page.get(service.url)
    page.find_element(By.ID, "q").send_keys("LOOKS")
    follow(page, page.find_element(By.CSS_SELECTOR, "[role=search] button").click)
    cards = [card.text for card in page.find_elements(By.CSS_SELECTOR, ".studies > li")]
    titles = [card.splitlines()[0] for card in cards]
    assert titles[-2:] == ["Forty looks", "looks"]  # the newest first
    assert all("looks" in title for title in titles)
    assert str(len(studies.study_names())) in text(page, "main [role=status]")
    best = studies.load_study("looks").best_arm
    assert all(words in cards[-1] for words in (f"Best so far\n{best}", "Trials\n62", "Pending\n2", "Last activity\n"))
    assert len(page.find_elements(By.CSS_SELECTOR, ".studies .spark")) == len(cards)


def test_a_mistyped_reward_is_corrected_and_voided(page, service, studies, request):
    name = f"mistyped {request.node.callspec.id}"
    study = played(studies, name, ["a", "b"], trials=6)
    open_study(page, service, name, "/study/trials")
    follow(page, page.find_element(By.CSS_SELECTOR, "[aria-label='Trial 3']").click)
    page.find_element(By.ID, "reward").send_keys("0,25")
    follow(page, lambda: page.find_element(By.ID, "why").send_keys("a slip <b>" + Keys.ENTER))
    assert text(page, ".news") == "Stored: the reward is 0.25."
    follow(page, lambda: page.find_element(By.ID, "note").send_keys("seen twice" + Keys.ENTER))
    assert see(page, "#note", "value") == "seen twice"
    follow(page, lambda: page.find_element(By.ID, "reason").send_keys("broken" + Keys.ENTER))
    assert text(page, ".news") == "Stored: the reward is void."
    row = study.trials_dataframe().loc[3]
    assert (row["status"], row["reason"], row["note"]) == ("voided", "broken", "seen twice")
    page.get(f"{service.url}/study/trials?" + urlencode({"name": name, "status": "voided"}))
    assert [link.accessible_name for link in page.find_elements(By.CSS_SELECTOR, "tbody th a")] == ["Trial 3"]


@pytest.mark.parametrize("colors", ["light", "dark"])
def test_a_study_is_planned_and_begun(page, service, colors):
    prefer(page, colors)
    follow(page, page.find_element(By.CSS_SELECTOR, ".actions a[href='/plan']").click)
    idle = text(page, "form [role=status]")
    stop = "document.querySelector('form.card').addEventListener('submit', (e) => e.preventDefault(), {once: true})"
    page.execute_script(stop)
    page.find_element(By.CSS_SELECTOR, "form.card button").click()
    assert text(page, "form [role=status]").startswith("Simulating.")
    assert see(page, "form.card button", "disabled")
    page.execute_script("window.dispatchEvent(new Event('pageshow'))")  # back to this page
    assert (text(page, "form [role=status]"), see(page, "form.card button", "disabled")) == (idle, False)
    for field, value in {"baseline": "20", "lift": "60", "horizon": "300"}.items():
        page.find_element(By.ID, field).clear()
        page.find_element(By.ID, field).send_keys(value)
    follow(page, page.find_element(By.CSS_SELECTOR, "form.card button").click)
    assert text(page, "section strong").startswith("An equal split (an A/B test) decides after ")
    assert len(page.find_elements(By.CSS_SELECTOR, "tbody tr")) == 5
    page.execute_script(AXE)
    page.set_script_timeout(60)
    found = page.execute_async_script(RUN_AXE, {})
    wide = page.execute_script("return document.documentElement.scrollWidth > innerWidth")
    follow(page, page.find_elements(By.CSS_SELECTOR, "tbody a")[2].click)
    prefer(page, "")
    assert (found, wide) == ([], False)
    assert (see(page, "#policy", "value"), see(page, "#floor", "value")) == ("TopTwo()", "0.1")
    assert see(page, "[name=measure]:checked", "value") == "binary"
    until(page, lambda: "arms" in text(page, "#guide"))


LOOKED_AT = {
    "home": "/",
    "two arms": "/study?name=looks",
    "forty arms": "/study?name=Forty+looks",
    "risk": "/study?name=Risky+looks",
    "trials": "/study/trials?name=looks",
    "trial": "/study/trial?name=looks&id=3",
    "API": "/docs",
    "new study": "/new",
    "plan": "/plan",
    "import": "/study/import?name=looks",
    "history": "/study/history?name=looks",
    "segments": "/study?name=Segmented+looks",
    "phone": "/phone",
    "link": "/enter",
}


@pytest.mark.parametrize("colors", ["light", "dark"])
def test_axe_finds_nothing(page, service, studies, colors, request):
    """Contrast, names, roles, order: the rules of axe-core, on every page; in the dark only the contrast is another."""
    phone = request.node.callspec.params["window"][0] < 500
    few = ["two arms", "segments", "trials"] if phone else ["home", "two arms", "forty arms", "API", "new study"]
    looked_at = LOOKED_AT if colors == "light" and not phone else {name: LOOKED_AT[name] for name in few}
    options = {"runOnly": ["color-contrast"]} if colors == "dark" else {}
    played(studies, "looks", ["<b>a</b>", "b"])
    played(studies, "Forty looks", [f"arm {k}" for k in range(40)])
    played(studies, "Risky looks", ["a", "b"], policy=db.BCVTS(upper=1, level=0.2))
    soils = studies.create_study(
        "Segmented looks", arms=["a", "b"], segments=["clay", "sand"], reward_unit="kg", seed=1, load_if_exists=True
    )
    if not len(soils):
        for k in range(12):
            soils.tell(soils.ask(segment=soils.segments[k % 2], unit=f"field {k}"), float(k % 5))
        soils.ask(2, segment="clay")
    prefer(page, colors)
    page.set_script_timeout(60)
    found = {}
    for name, path in looked_at.items():
        page.get(service.url + path)
        if name in ("two arms", "forty arms", "risk", "segments"):
            pictures(page)
        page.execute_script(AXE)
        found[name] = page.execute_async_script(RUN_AXE, options)
    prefer(page, "")
    assert found == {name: [] for name in looked_at}
