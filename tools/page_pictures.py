"""Run the code of pages of docs/ and keep the pictures that they show.

    python -m tools.page_pictures                      # every page whose code draws: a minute or two
    python -m tools.page_pictures docs/gallery.md      # some of them

Same seeds, same pictures. The tests run the same code (tests/test_docs.py).
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (
    "docs/gallery.md",
    "docs/tutorial_compare.md",
    "docs/tutorial_crops.md",
    "docs/tutorial_policy.md",
    "docs/tutorial_risk.md",
    "docs/worlds.md",
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"\]\(figures/(\w+\.png)\)")
DRAWN_ELSEWHERE = {f"worlds_{name}.png" for name in ("delay", "batch", "windows", "detectors")}  # by world_pictures.py


def run_page(page: str) -> None:
    """All Python blocks of a page, one after the other, in the present folder."""
    namespace = {"__name__": "__main__"}
    for code in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        exec(compile(code, page, "exec"), namespace)


def shown(page: str) -> list[str]:
    """The pictures of a page that its own code may have drawn."""
    return [name for name in SHOWN.findall((ROOT / page).read_text(encoding="utf-8")) if name not in DRAWN_ELSEWHERE]


def main(pages: list[str]) -> None:
    """Run, and take the pictures over."""
    for page in pages or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            run_page(page)
            for name in shown(page):
                shutil.copyfile(name, ROOT / "docs/figures" / name)
                print(f"{page}: {name}, {(ROOT / 'docs/figures' / name).stat().st_size // 1000} kB")
            os.chdir(ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])
