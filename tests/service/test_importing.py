"""Past data from a CSV file: what is read is shown before anything is stored."""

import html

import httpx
import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from dirichlet_bandits.service.guard import COOKIE
from tests.service.browser import follow, text

HIDDEN = ("name", "token", "source", "identity")


@pytest.fixture
def browserless(service):
    with httpx.Client(base_url=service.url, cookies={COOKIE: service.write}, timeout=60) as client:
        yield client


def upload(client, name, content, file="past.csv"):
    return client.post("/import", data={"name": name}, files={"file": (file, content)})


def sent_on(page, **chosen):
    """The fields of the preview, as a browser would send them."""
    found = {field: page.partition(f'name="{field}" value="')[2].partition('"')[0] for field in HIDDEN}
    copy = page.partition('<textarea name="text" hidden aria-hidden="true">\n')[2].partition("</textarea>")[0]
    return {key: html.unescape(value) for key, value in found.items()} | {"text": html.unescape(copy)} | chosen


def test_a_file_is_previewed_and_then_added_once(service, studies, browserless):
    study = studies.create_study("imported", arms=["green", "blue"], reward_unit="$", seed=1)
    rng = np.random.default_rng(1)
    cells = [f"{value:.2f}".replace(".", ",") for value in rng.uniform(5.0, 6.0, 1200)]
    cells[::50] = [""] * 24
    arms = np.resize(["Green", "blue", "blue", "purple"], 1200)
    days = [f"2026-03-{1 + k % 28:02d}" for k in range(1200)]
    content = "date;arm;reward\n" + "\n".join(map(";".join, zip(days, arms, cells, strict=True)))
    shown = upload(browserless, "imported", content)
    assert shown.status_code == 200
    page = html.unescape(shown.text)
    for line in ("24 of 1200 rows: blank", "decimal commas", "'Green' is read as 'green'", "has no arm 'purple'"):
        assert line in page
    kept = sum(arm != "purple" and cell != "" for arm, cell in zip(arms, cells, strict=True))
    assert f"Import {kept} trials" in page
    assert len(study) == 0
    fields = sent_on(shown.text, arm="arm", reward="reward", time="date", now="1")
    for _ in range(2):  # the button, twice
        assert browserless.post("/import/rows", data=fields).headers["location"].endswith(f"imported={kept}")
    assert len(study) == kept
    told = study.trials_dataframe()
    assert str(told["asked_at"].min().date()) == "2026-03-01"
    green = [float(cell.replace(",", ".")) for arm, cell in zip(arms, cells, strict=True) if arm == "Green" and cell]
    assert study.summary().loc["green", "mean"] == pytest.approx(np.mean(green))


def test_what_cannot_be_read_is_refused_with_its_line(studies, browserless):
    study = studies.create_study("refused", arms=["a", "b"], bounds=(0, 1), seed=1)
    refusals = {
        "arm,reward\na,1\nb,7\n": "line 3: column 'reward' must be between 0 and 1, the bounds of the study (got '7')",
        "arm,reward\na,1\nb,much\n": "line 3: column 'reward' must be a finite number (got 'much')",
        "arm,reward\na\n": "line 2: 2 cells are needed",
        "arm\na\n": "two columns are needed",
        "a,1\nb,0\n": "the first line must name the columns",
        "": "the file is empty",
        "arm,reward,date\na,1,13.03.2026\n": "line 2: column 'date' must be dates and times",
    }
    for content, words in refusals.items():
        answer = upload(browserless, "refused", content)
        assert answer.status_code == 422
        assert words in html.unescape(answer.text)
    again = browserless.post("/import/rows", data=sent_on(answer.text, arm="arm", reward="reward", time="∅"))
    assert "Import 1 trial<" in again.text  # without the column of dates
    assert "There is nothing to import" in upload(browserless, "refused", "arm,reward\nc,1\n").text
    assert "Windows-1252" in upload(browserless, "refused", "arm,reward\na,1\n# é,1\n".encode("cp1252")).text
    assert len(study) == 0
    fields = sent_on(again.text, arm="arm", reward="reward", time="∅", identity="another")
    assert browserless.post("/import/rows", data=fields).status_code == 409  # not the study that was previewed


def test_a_reading_key_and_segments_import_nothing(service, studies, browserless):
    studies.create_study("soils import", arms=["a", "b"], segments=["clay", "sand"], seed=1)
    shown = upload(browserless, "soils import", "arm,reward\na,1\n")
    answer = browserless.post("/import/rows", data=sent_on(shown.text, now="1"))
    assert "has segments" in answer.text
    with httpx.Client(base_url=service.url, cookies={COOKIE: service.read}) as reader:
        assert upload(reader, "soils import", "arm,reward\na,1\n").status_code == 403


def test_a_study_starts_from_a_file(studies, browserless):
    content = "arm;reward\nred;1,5\nblue;\nblue;0,5\nRed;2\nred;1\n"
    shown = browserless.post("/new/file", files={"file": ("past.csv", content)})
    page = html.unescape(shown.text)
    assert all(words in page for words in ("1 of 5 rows: blank", "'Red' is read as 'red'", 'value="blue"'))
    past = page.partition('<textarea name="past" hidden aria-hidden="true">')[2].partition("</textarea>")[0]
    typed = {"name": "with a past", "arm": ["red", "blue"], "past": past, "weight": "0,2"}
    assert "history=past,\n    weight=0.2," in browserless.post("/guide", data=typed).text
    assert "The weight must be" in browserless.post("/create", data=typed | {"weight": "2"}).text
    assert "The past data must be" in browserless.post("/create", data=typed | {"arm": ["red", "green"]}).text
    assert browserless.post("/create", data=typed | {"past": "[1]"}).status_code == 422
    assert browserless.post("/new/file", files={"file": ("past.csv", "arm,reward\na,b\n")}).status_code == 422
    assert "with a past" not in studies.study_names()
    assert browserless.post("/create", data=typed).status_code == 303
    study = studies.load_study("with a past")
    assert (study.history, study.weight, len(study)) == ({"red": [1.5, 2.0, 1.0], "blue": [0.5]}, 0.2, 0)


def test_import_in_a_browser(page, service, studies, tmp_path, request):
    name = f"from a file {request.node.callspec.id}"
    study = studies.create_study(name, arms=["a", "b"], seed=1)
    file = tmp_path / "past.csv"
    file.write_text("arm;reward\na;1,5\nb;2\na;\n")
    page.get(f"{service.url}/study?name={name.replace(' ', '+')}")
    follow(page, lambda: page.find_element(By.PARTIAL_LINK_TEXT, "Import past data").send_keys(Keys.ENTER))
    page.find_element(By.ID, "file").send_keys(str(file))
    follow(page, page.find_element(By.CSS_SELECTOR, "form[action='/import'] button").click)
    assert "1 of 3 rows: blank" in text(page, ".report")
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    follow(page, page.find_element(By.CSS_SELECTOR, "button[name=now]").click)
    assert text(page, ".news") == "Imported 2 trials."
    assert study.summary()["mean"].to_dict() == {"a": 1.5, "b": 2.0}
