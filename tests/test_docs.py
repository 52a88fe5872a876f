"""The code in README.md and CONTRIBUTING.md runs as it stands."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(name: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_code_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # the tour leaves files
    found = blocks(name)
    assert len(found) >= 2
    namespace = {"__name__": "__main__"}
    for code in found:
        exec(compile(code, name, "exec"), namespace)
    assert "is sound" in capsys.readouterr().out


def test_readme_has_the_table_of_all_policies():
    from dirichlet_bandits.cli.policies import markdown_table

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert markdown_table() in text, "dirichlet-bandits policies --markdown prints what belongs there"


def test_the_page_of_policies_names_each_and_shows_every_picture():
    from dirichlet_bandits.policies import POLICIES

    text = (ROOT / "docs/policies.md").read_text(encoding="utf-8")
    assert [name for name in POLICIES if f"`{name}" not in text] == []
    shown = re.findall(r"\]\(figures/policies/(\w+\.png)\)", text)
    assert sorted(shown) == sorted(path.name for path in (ROOT / "docs/figures/policies").iterdir())
    assert all(0 < (ROOT / "docs/figures/policies" / name).stat().st_size < 100_000 for name in shown)


def test_picture_is_there_and_small():
    assert 0 < (ROOT / "docs/figures/regret.png").stat().st_size < 200_000


def test_the_tutorial_on_risk_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for code in blocks("docs/tutorial_risk.md"):
        exec(compile(code, "docs/tutorial_risk.md", "exec"), namespace)
    said = capsys.readouterr().out
    assert "best on average: 28 Mar - best in bad years: 12 Apr" in said
    assert "every decision and every propensity came out again" in said
    for picture in ("risk_seasons.png", "risk_regret.png"):
        assert (tmp_path / picture).stat().st_size > 10_000
        assert 0 < (ROOT / "docs/figures" / picture).stat().st_size < 200_000


def test_the_live_tutorial_runs(tmp_path, monkeypatch, capsys):
    if importlib.util.find_spec("DSSATTools") is None:
        pytest.skip("the extra 'dssat' is not installed")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for code in blocks("docs/tutorial_live.md"):
        exec(compile(code, "docs/tutorial_live.md", "exec"), namespace)
    assert "every decision and every propensity came out again" in capsys.readouterr().out
    namespace["study"].storage.close()
