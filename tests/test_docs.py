"""The code in README.md and CONTRIBUTING.md runs as it stands."""

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


def test_readme_names_every_policy():
    from dirichlet_bandits.policies import POLICIES

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in POLICIES if f"`{name}(" not in text] == []


def test_picture_is_there_and_small():
    assert 0 < (ROOT / "docs/figures/regret.png").stat().st_size < 200_000
