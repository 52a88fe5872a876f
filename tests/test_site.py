"""The documentation site builds without a warning, needs no network, and has every public name (about ten seconds)."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dirichlet_bandits as db

pytest.importorskip("mkdocs", reason="the extra 'docs' is not installed")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parents[1]
FETCHED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder of the site, as ``make docs`` builds it, but elsewhere."""
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(place)]
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture(scope="module")
def site(place):
    """The pages of the site by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in place.glob("*.html")}


def test_nothing_is_fetched_from_elsewhere(site):
    assert len(site) > 30
    assert {name: FETCHED.findall(text) for name, text in site.items() if FETCHED.search(text)} == {}


def test_the_reference_has_every_public_name_and_command(site):
    packages = {"crops", "experiments", "report", "testing"}
    reference = "".join(text for name, text in site.items() if name.startswith("api_"))
    shown = {path.rpartition(".")[2] for path in re.findall(r'id="(dirichlet_bandits\.[\w.]+)"', reference)}
    assert {name for name in db.__all__ if name not in packages} - shown == set()
    for command in ("simulate", "study ask", "keys add", "crops sample"):
        assert f"dirichlet-bandits {command}" in site["api_cli.html"]


def test_formulas_examples_and_named_pages_are_rendered(site):
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">' in site["contour.html"]
    assert "```" not in re.sub(r"<code>.*?</code>", "", site["contour.html"], flags=re.DOTALL)
    assert "&gt;&gt;&gt; </span>" in site["api_theory.html"]  # a prompt, highlighted
    assert '<a href="clusters.html">Run large simulations</a>' in site["howto_compile.html"]


def test_every_tutorial_can_be_downloaded_as_a_notebook(place, site):
    tutorials = [name for name in site if name.startswith("tutorial_")]
    assert len(tutorials) >= 7
    for page in tutorials:
        file = f"notebooks/{page.removesuffix('.html')}.ipynb"
        assert f'href="{file}">Download this page as a notebook</a>' in site[page]
        assert json.loads((place / file).read_text(encoding="utf-8"))["nbformat"] == 4
