"""What is published can be installed and used."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import dirichlet_bandits as db

ROOT = Path(__file__).parents[1]


def test_all_say_the_same_version():
    for name in ("pyproject.toml", "CITATION.cff"):
        (found,) = re.findall(
            r'^version\s*[:=]\s*"?([\d.]+)"?$', (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE
        )
        assert found == db.__version__, name
    assert f"## {db.__version__} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_sdist_and_wheel_in_empty_environments():
    script = ROOT / "tools" / "smoke.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sound: sdist and wheel" in done.stdout
