"""What the guides say of the code's structure is true: lists of files are complete."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dirichlet_bandits"


def test_the_docstring_of_study_names_every_part():
    listed = re.findall(r"^ {8}(\w+\.py) ", (PACKAGE / "live" / "study.py").read_text(encoding="utf-8"), re.MULTILINE)
    files = {path.name for path in (PACKAGE / "live").glob("*.py")} - {"__init__.py", "study.py"}
    assert sorted(listed) == sorted(files)
