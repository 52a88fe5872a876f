"""Make notebooks of the tutorials: text, code and output of the page, in the order of the page.

    python -m tools.notebooks FOLDER             # write all of them into a folder

The site offers them for download (tools/site_pages.py), and tests/test_notebooks.py runs them.
"""

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

from tools.pages import BLOCK, ROOT, read

TUTORIALS = tuple(sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("tutorial_*.md")))
"""Pages that have a notebook."""
NEEDS = {"docs/tutorial_ab.md": "live", "docs/tutorial_live.md": "live,dssat", "docs/tutorial_service.md": "live"}
"""Extras that the code of a page needs."""
PICTURE = re.compile(r"!\[([^\]]*)\]\(figures/([\w/]+\.png)\)(?:\{[^}]*\})?")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|attachment:)[^)]*\)")
FORMULA = re.compile(r"^```math\n(.*?)^```$|\$`([^`]+)`\$", re.DOTALL | re.MULTILINE)


def notebook(page: str) -> dict[str, Any]:
    """Return a page as a notebook of format 4.5."""
    text = read(page)
    cells, end = [], 0
    for block in BLOCK.finditer(text):
        cells += [*_prose(text[end : block.start()]), _code(block["code"], block["output"])]
        end = block.end()
    cells += _prose(text[end:])
    cells.insert(1, _markdown(_requirement(page)))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def written(page: str) -> str:
    """Return the content of the file of a page's notebook."""
    return json.dumps(notebook(page), ensure_ascii=False, indent=1) + "\n"


def code_of(made: dict[str, Any]) -> list[str]:
    """Return the code cells of a notebook."""
    return ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]


def _requirement(page: str) -> str:
    extras = f"[{NEEDS[page]}]" if page in NEEDS else ""
    package = f"`dirichlet-bandits{extras}`"
    return f"This notebook needs the package {package}. Run it in an empty folder, because it writes files."


def _prose(text: str) -> list[dict[str, Any]]:
    """Return the text between two blocks of code as one cell, or as none; the title is a cell of its own."""
    text = text.strip()
    if text.startswith("# "):
        title, _, rest = text.partition("\n")
        return [_markdown(title), *_prose(rest)]
    return [_markdown(text)] if text else []


def _markdown(text: str) -> dict[str, Any]:
    """Return a cell whose pictures are in the notebook itself; links to other pages become plain text."""
    pictures = {Path(name).name: ROOT / "docs/figures" / name for _, name in PICTURE.findall(text)}
    text = PICTURE.sub(lambda found: f"![{found[1]}](attachment:{Path(found[2]).name})", text)
    text = FORMULA.sub(lambda found: f"$$\n{found[1]}$$" if found[1] is not None else f"${found[2]}$", text)
    cell: dict[str, Any] = {"cell_type": "markdown", "metadata": {}, "source": _lines(LINK.sub(r"\1", text))}
    if pictures:
        data = {name: base64.b64encode(path.read_bytes()).decode() for name, path in pictures.items()}
        cell["attachments"] = {name: {"image/png": content} for name, content in data.items()}
    return cell


def _code(code: str, output: str | None) -> dict[str, Any]:
    printed = [{"name": "stdout", "output_type": "stream", "text": _lines(output)}] if output else []
    source = _lines(code.rstrip("\n"))
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": printed, "source": source}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main(folder: Path) -> None:
    """Write all notebooks into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in TUTORIALS:
        (folder / f"{Path(page).stem}.ipynb").write_text(written(page), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
