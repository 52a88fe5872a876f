"""Run the code of pages of the documentation, and write what it prints and draws into the pages.

    python -m tools.pages                        # every page: a few minutes
    python -m tools.pages docs/gallery.md        # some of them

Below each Python block that prints something, the page shows its output in a ``text`` block. The same seeds give the
same output and the same figures; tests/test_docs.py runs the same code and compares.
"""

import contextlib
import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/gallery.md",
    "docs/howto_experiments.md",
    "docs/howto_plan.md",
    "docs/howto_results.md",
    "docs/index.md",
    "docs/theory.md",
    "docs/tutorial_ab.md",
    "docs/tutorial_compare.md",
    "docs/tutorial_crops.md",
    "docs/tutorial_live.md",
    "docs/tutorial_policy.md",
    "docs/tutorial_risk.md",
    "docs/tutorial_service.md",
)
"""Pages that show the output of their code."""
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.DOTALL | re.MULTILINE)
FIGURE = re.compile(r"\]\((?:docs/)?figures/(\w+\.png)\)")


def read(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def run(page: str) -> list[str]:
    """Run all Python blocks of a page in order in the current folder, and return what each of them prints."""
    namespace = {"__name__": "__main__"}
    outputs = []
    for block in BLOCK.finditer(read(page)):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block["code"], page, "exec"), namespace)
        outputs.append("".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines()))
    return outputs


def shown_outputs(page: str) -> list[str]:
    """Return the output that a page shows below each of its Python blocks, empty where it shows none."""
    return [block["output"] or "" for block in BLOCK.finditer(read(page))]


def with_outputs(page: str, outputs: list[str]) -> str:
    """Return the text of a page with these outputs below its blocks."""
    rest = iter(outputs)

    def block(found: re.Match[str]) -> str:
        printed = next(rest)
        return f"```python\n{found['code']}```\n" + (f"\n```text\n{printed}```\n" if printed else "")

    return BLOCK.sub(block, read(page))


def figures(page: str) -> list[str]:
    """Return the names of the figures that a page shows and its own code draws."""
    code = "".join(block["code"] for block in BLOCK.finditer(read(page)))
    return [name for name in FIGURE.findall(read(page)) if f'"{name}"' in code]


def main(pages: list[str]) -> None:
    """Run pages, all by default, and update their outputs and figures."""
    for page in pages or PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            outputs = run(page)
            for name in figures(page):
                shutil.copyfile(name, ROOT / "docs/figures" / name)
        if page in PAGES:
            (ROOT / page).write_text(with_outputs(page, outputs), encoding="utf-8")
        print(f"{page}: {len(outputs)} blocks, {len(figures(page))} figures", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
