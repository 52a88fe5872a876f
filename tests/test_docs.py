"""The code in README.md, CONTRIBUTING.md and on the pages of docs/ runs, and prints what the pages show."""

import importlib.util
import inspect
import json
import re
from pathlib import Path

import pytest
from tools import policy_pictures
from tools.pages import BLOCK, PAGES, figures, read, run, shown_outputs
from tools.policy_pictures import FAMILIES
from tools.world_numbers import with_published
from tools.world_pictures import CHANGES, MEASURES, NUMBERS, STAYS, detectors, with_tables

from dirichlet_bandits.live import lateness

ROOT = Path(__file__).parents[1]
PRINTED = {
    "CONTRIBUTING.md": ["is sound", "breakpoints (101, 201, 301)"],
    "docs/live.md": [
        "['held', 'pending', 'pending', 'pending']",
        "late: [1, 2, 3]",
        "True ['told', 'repeated'] 1",
        "None {'early'",
        "new [0, 0, 0]",
        "winner: blue",
    ],
    "docs/worlds.md": ["(1001,) [0.3, 0.5, 0.1]", "10000", "is sound"],
}
"""Pages whose code runs although they do not show its output, and some of what it prints."""
EXTRAS = {"docs/tutorial_live.md": "DSSATTools", "docs/tutorial_service.md": "uvicorn"}
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w]|\.\d)")
NOT_PROSE = re.compile(
    r"^```.*?^```$|^    .*?$|`[^`]*`|\]\([^)]*\)|^Reference:.*?$|\((?:\w+ )?\d{4}\)|\w+ \d{4}\)",
    re.DOTALL | re.MULTILINE,
)
"""What is not prose: code, links, and the years of references."""
STATED = {"docs/tutorial_crops.md": {140_000.0}, "docs/theory.md": {10.0}}
"""Numbers in the prose of a page that its code does not print, each checked by another test or true by definition."""


@pytest.mark.parametrize("page", [*PAGES, *PRINTED])
def test_code_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    if page in EXTRAS and importlib.util.find_spec(EXTRAS[page]) is None:
        pytest.skip(f"{EXTRAS[page]} is not installed")
    monkeypatch.chdir(tmp_path)  # the code leaves files
    monkeypatch.setattr(lateness, "clock", lateness.clock)  # one page moves it
    outputs = run(page)
    if page in PAGES:
        assert outputs == shown_outputs(page), f"python -m tools.pages {page} updates the page"
    assert [text for text in PRINTED.get(page, ()) if text not in "".join(outputs)] == []
    for figure in figures(page):
        assert (tmp_path / figure).stat().st_size > 5_000


def numbers(text):
    return {float(number.replace(",", "")) for number in NUMBER.findall(text.replace("_", ""))}


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_numbers_in_prose_are_those_of_the_code(page):
    text = read(page)
    known = {abs(x) for block in BLOCK.finditer(text) for x in numbers(block.group())} | STATED.get(page, set())
    known |= {100.0 * x for x in known}  # percentages
    unknown = {x for x in numbers(NOT_PROSE.sub("", text)) if x > 12 and not any(x in (k, round(k, 0)) for k in known)}
    assert unknown - {95.0} == set()  # the level of all intervals


def test_every_tutorial_shows_its_output():
    tutorials = {f"docs/{path.name}" for path in (ROOT / "docs").glob("tutorial_*.md")}
    assert tutorials - set(PAGES) == set()


def test_readme_is_short():
    assert len(read("README.md").splitlines()) <= 150


def test_the_page_of_policies_names_each_and_shows_every_picture():
    from dirichlet_bandits.policies.registry import all_policies

    text = read("docs/policies.md")
    assert [name for name in all_policies() if f"`{name}" not in text] == []
    pictures = re.findall(r"\]\(figures/policies/(\w+\.png)\)", text)
    assert sorted(pictures) == sorted(path.name for path in (ROOT / "docs/figures/policies").iterdir())


NOT_SIMULATED = {25.9, 87.9, 5000.0, 20_000.0, 16.0, 28.0, 500.0, 1000.0}
"""Numbers in captions of docs/policies.md that a paper reports or a problem defines: a date, the largest regret..."""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_captions_of_policies_have_the_numbers_of_the_pictures(family):
    name = family.__name__
    found = json.loads(policy_pictures.NUMBERS.read_text(encoding="utf-8"))[name]
    (caption,) = re.findall(rf"figures/policies/{name}\.png\)\n\n\*(.*?)\*\n", read("docs/policies.md"), re.DOTALL)
    known = numbers("\n".join([*found, inspect.getsource(family)])) | NOT_SIMULATED
    known |= {round(x / 1000.0) for x in known}  # tonnes
    known |= {policy_pictures.HORIZON, policy_pictures.RUNS, policy_pictures.SEED}
    quoted = numbers(re.sub(r"\(\w+, \d{4}|\(\d{4}\)|(?<=\d) (?=\d{3})", "", caption))
    assert {x for x in quoted if x > 12 or x % 1} - known == set()


def test_tables_and_prose_on_worlds_have_the_numbers_of_the_figures():
    text = (ROOT / "docs/worlds.md").read_text(encoding="utf-8")
    assert with_published(with_tables(text)) == text
    stored = json.loads(NUMBERS.read_text(encoding="utf-8"))
    assert {"detectors", "window"} <= set(stored) <= set(MEASURES)
    found = stored["detectors"]
    assert list(found) == list(detectors())
    assert all(name in text for name in found)
    medians = {name: (row[STAYS][1], row[CHANGES][1]) for name, row in found.items()}
    plain, glr = medians["kl-UCB, no detector"], medians["GLRKLUCB"]
    gain = f"{glr[0] - plain[0]:.0f} more than kl-UCB where nothing changes, and {glr[1]:.0f} where arms change"
    assert f"{gain}, where kl-UCB loses {plain[1]:.0f} with" in " ".join(text.split())
    assert glr[1] == min(row[1] for row in medians.values())
    assert medians["exploration alone"][1] > plain[1]


def test_pictures_are_there_and_small():
    drawn = [ROOT / "docs/figures" / name for page in [*PAGES, "docs/worlds.md"] for name in figures(page)]
    others = [ROOT / "docs/figures/regret.png", *(ROOT / "docs/figures/policies").iterdir()]
    assert [path.name for path in [*drawn, *others] if not 0 < path.stat().st_size < 200_000] == []


def test_facts_on_the_pages_are_those_of_the_code():
    from dirichlet_bandits import crops
    from dirichlet_bandits.declared import LONGEST_NAME
    from dirichlet_bandits.experiments.plan_question import MOST_CASES, PlanQuestion
    from dirichlet_bandits.live import fields
    from dirichlet_bandits.numerics.tolerances import COMPRESSED_NODES
    from dirichlet_bandits.policies.registry import all_policies
    from dirichlet_bandits.results.layout import _LARGEST_CHUNK
    from dirichlet_bandits.service import app, guard, plans
    from dirichlet_bandits.service.wire import PATIENCE

    served = {name: field.check.served for name, field in PlanQuestion.fields.items()}
    facts = {
        "docs/peers.md": [f"without contexts | {len(all_policies())} |"],
        "docs/tutorial_crops.md": [f"{sum(map(len, crops.yields().values())):,} simulated seasons"],
        "docs/clusters.md": [f"exceed {_LARGEST_CHUNK} replications"],
        "docs/contour.md": [f"with {COMPRESSED_NODES} points"],
        "docs/troubleshooting.md": [f"at most {guard.LARGEST_BODY >> 20} MiB", "retry for up to a minute"],
        "docs/service.md": [
            f"at most {guard.LARGEST_BODY >> 20} MiB, an ask {fields.SERVED_TRIALS} trials",
            f"a `tell_many` {fields.SERVED_REWARDS:,} rewards",
            f"a new study {fields.SERVED_ARMS} arms, and a name {LONGEST_NAME} printable characters",
            f"at most {served['arms']} arms, {served['horizon']:,} trials, {served['replications']} replications",
            f"and {MOST_CASES} pairs of a policy and a floor",
            f"After {plans.SECONDS:g} seconds",
            f"Beyond {app.MOST_CONNECTIONS} connections",
            f"closed after {app.IDLE} seconds",
        ],
    }
    assert PATIENCE == 60.0  # a minute
    assert [(page, fact) for page, known in facts.items() for fact in known if fact not in read(page)] == []
