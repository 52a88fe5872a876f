"""The notebooks of the tutorials have the code and the output of the pages, and run."""

import contextlib
import importlib.util
import io
import json
import re

import pytest
from tools.notebooks import TUTORIALS, code_of, notebook, written
from tools.pages import BLOCK, read, shown_outputs

SHORT = "docs/tutorial_policy.md"
EXTRAS = {"docs/tutorial_live.md": "DSSATTools", "docs/tutorial_service.md": "uvicorn"}


def test_every_tutorial_has_a_notebook():
    assert len(TUTORIALS) >= 7
    assert SHORT in TUTORIALS


@pytest.mark.parametrize("page", TUTORIALS)
def test_the_cells_are_those_of_the_page(page):
    made = json.loads(written(page))
    cells = made["cells"]
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert code_of(made) == [block["code"].rstrip("\n") for block in BLOCK.finditer(read(page))]
    outputs = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    shown = ["".join(text for one in each for text in one["text"]) for each in outputs]
    assert shown == shown_outputs(page)
    prose = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    attached = {name for cell in cells for name in cell.get("attachments", {})}
    assert set(re.findall(r"\(attachment:([^)]+)\)", prose)) == attached
    assert re.findall(r"\]\((?!https?:|attachment:)[^)]*\)|```math|\$`", prose) == []  # nothing that only the site has
    words = re.findall(r"[A-Za-z]{3,}", BLOCK.sub("", read(page)))
    assert len(re.findall(r"[A-Za-z]{3,}", prose)) > 0.9 * len(words)


@pytest.mark.parametrize(
    # The others run on request, because tests/test_docs.py always runs their code.
    "page",
    [pytest.param(page, marks=() if page == SHORT else pytest.mark.slow) for page in TUTORIALS],
)
def test_a_notebook_runs(page, tmp_path, monkeypatch):
    if page in EXTRAS and importlib.util.find_spec(EXTRAS[page]) is None:
        pytest.skip(f"{EXTRAS[page]} is not installed")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for cell in notebook(page)["cells"]:
        if cell["cell_type"] == "code":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile("".join(cell["source"]), page, "exec"), namespace)
            shown = "".join(text for one in cell["outputs"] for text in one["text"])
            assert [line.rstrip() for line in printed.getvalue().splitlines()] == shown.splitlines()
