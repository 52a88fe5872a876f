"""The code in README.md, CONTRIBUTING.md and on the pages of docs/ runs as it stands."""

import importlib.util
import re
from pathlib import Path

import pytest
from tools.page_pictures import PAGES, run_page, shown

ROOT = Path(__file__).parents[1]

# Pages whose code runs, and what it prints if all is well.
TOLD = {
    "README.md": ["is sound"],
    "CONTRIBUTING.md": ["is sound", "breakpoints (101, 201, 301)"],
    "docs/gallery.md": [],
    "docs/howto_experiments.md": ["'arms[1].p'"],
    "docs/howto_results.md": ["UCB1"],
    "docs/index.md": ["paired replications"],
    "docs/live.md": ["['held', 'pending', 'pending', 'pending']", "late: [1, 2, 3]"],
    "docs/tutorial_compare.md": ["NPTS"],
    "docs/tutorial_crops.md": ["on average: 28 Mar - in bad years: 12 Apr"],
    "docs/tutorial_live.md": ["every decision and every propensity came out again"],
    "docs/tutorial_policy.md": ["is sound"],
    "docs/tutorial_risk.md": [
        "best on average: 28 Mar - best in bad years: 12 Apr",
        "every decision and every propensity came out again",
    ],
    "docs/worlds.md": ["(1001,) [0.3, 0.5, 0.1]", "10000"],
    "docs/tutorial_service.md": ["refused:", "every decision and every propensity came out again"],
}
EXTRAS = {"docs/tutorial_live.md": "DSSATTools", "docs/tutorial_service.md": "uvicorn"}


@pytest.mark.parametrize("page", TOLD)
def test_code_runs(page, tmp_path, monkeypatch, capsys):
    if page in EXTRAS and importlib.util.find_spec(EXTRAS[page]) is None:
        pytest.skip(f"{EXTRAS[page]} is not installed")
    monkeypatch.chdir(tmp_path)  # the code leaves files
    run_page(page)
    said = capsys.readouterr().out
    assert [text for text in TOLD[page] if text not in said] == []
    for picture in shown(page) if page in PAGES else ():
        assert (tmp_path / picture).stat().st_size > 5_000


def test_every_tutorial_runs_as_a_test():
    tutorials = {f"docs/{path.name}" for path in (ROOT / "docs").glob("tutorial_*.md")}
    assert tutorials - set(TOLD) == set()


def test_readme_has_the_table_of_all_policies():
    from dirichlet_bandits.cli.policies import markdown_table

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert markdown_table() in text, "dirichlet-bandits policies --markdown prints what belongs there"


def test_the_page_of_policies_names_each_and_shows_every_picture():
    from dirichlet_bandits.policies.catalogue import POLICIES

    text = (ROOT / "docs/policies.md").read_text(encoding="utf-8")
    assert [name for name in POLICIES if f"`{name}" not in text] == []
    pictures = re.findall(r"\]\(figures/policies/(\w+\.png)\)", text)
    assert sorted(pictures) == sorted(path.name for path in (ROOT / "docs/figures/policies").iterdir())


def test_pictures_are_there_and_small():
    drawn = [ROOT / "docs/figures" / name for page in PAGES for name in shown(page)]
    others = [ROOT / "docs/figures/regret.png", *(ROOT / "docs/figures/policies").iterdir()]
    assert [path.name for path in [*drawn, *others] if not 0 < path.stat().st_size < 200_000] == []
