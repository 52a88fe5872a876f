"""What is published can be installed and used."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_sdist_and_wheel_in_empty_environments():
    script = Path(__file__).parents[1] / "tools" / "smoke.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sound: sdist and wheel" in done.stdout
