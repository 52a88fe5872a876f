"""The documentation site builds without a warning, needs no network, and has every public name."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver.common.by import By
from tools.site_parameters import RETURNED, meaning, parameters_of

import dirichlet_bandits as db
from tests.service.browser import browser, until

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
    reference = "".join(text for name, text in site.items() if name.startswith("api_"))
    shown = {path.rpartition(".")[2] for path in re.findall(r'id="(dirichlet_bandits\.[\w.]+)"', reference)}
    assert {*public(), *db.extend.__all__} - shown == set()
    for command in ("simulate", "study ask", "keys add", "crops sample"):
        assert f"dirichlet-bandits {command}" in site["api_cli.html"]


def public():
    """The public names of the package and its rooms that have a page of their own, with what they name."""
    rooms = (db, db.policies, db.theory, db.errors)
    found = {name: getattr(room, name) for room in rooms for name in room.__all__}
    return {name: what for name, what in found.items() if not inspect.ismodule(what)}


def sections(site):
    """The part of the reference that each public name has, by its name."""
    found = {}
    for page in (text for name, text in site.items() if name.startswith("api_") and name != "api_packages.html"):
        heading = re.compile(r'<h3 id="dirichlet_bandits\.[\w.]*?(\w+)" class="doc doc-heading">')
        for name, text in zip(*[iter(heading.split(page)[1:])] * 2, strict=True):
            found[name] = text.split('<div class="doc doc-children">')[0]
    return found


def test_every_public_name_has_a_signature_its_parameters_an_example_and_its_source(site, place):
    found = sections(site)
    without_example = {"Policy", "Environment", "propensity_of", "Service"}  # bases, a decorator, connections
    assert set(public()) - set(found) == set()
    for name, what in public().items():
        text = found[name]
        (link,) = set(re.findall(r'class="source" href="(source/[\w/]+\.html#L-\d+)"', text)[:1])
        file, _, line = link.partition("#")
        source = (place / file).read_text(encoding="utf-8")
        assert f'id="{line}"' in source or f'name="{line}"' in source
        home = f"{what.__module__}.{what.__qualname__}"
        for parameter in [] if "Parameters\n---" in (inspect.getdoc(what) or "") else parameters_of(home):
            assert meaning(name, parameter) is not None, f"tools/site_parameters.py must have {name}.{parameter}"
        listed = re.findall(r"<b><code>(?:<span[^>]*>)?(\w+)(?:</span>)?</code></b>", text)
        assert sorted(listed) == sorted(parameters_of(home)), name
        given = not (inspect.isclass(what) and issubclass(what, Exception)) and name not in RETURNED
        if given and name not in without_example:
            assert "&gt;&gt;&gt; " in text, name


def test_methods_of_studies_and_results_have_all_meanings():
    for owner in (db.Study, db.Result):
        for name, what in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_") and "Parameters\n" not in (inspect.getdoc(what) or ""):
                path = f"{owner.__module__}.{owner.__qualname__}.{name}"
                assert [one for one in parameters_of(path) if meaning(name, one) is None] == [], name


def test_formulas_examples_and_named_pages_are_rendered(site):
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">' in site["contour.html"]
    assert "```" not in re.sub(r"<code>.*?</code>", "", site["contour.html"], flags=re.DOTALL)
    assert "&gt;&gt;&gt; </span>" in site["api_theory.html"]  # a prompt, highlighted
    assert '<a href="clusters.html">Run large simulations</a>' in site["howto_compile.html"]


def test_every_figure_has_a_dark_variant(place, site):
    drawn = {page: re.findall(r'<img [^>]*src="(figures/[^"]+)"', text) for page, text in site.items()}
    shown = [source for sources in drawn.values() for source in sources]
    assert len(shown) > 50
    for light, dark in zip(shown[::2], shown[1::2], strict=True):
        assert (light, dark) == (light, light.replace("figures/", "figures/dark/").replace("#only-light", "#only-dark"))
        pictures = [Image.open(place / source.partition("#")[0]).convert("L") for source in (light, dark)]
        assert pictures[0].size == pictures[1].size
        means = [np.asarray(picture).mean() for picture in pictures]
        assert means[0] > 150 > 110 > means[1], light
        assert (place / dark.partition("#")[0]).stat().st_size < 60_000


@pytest.fixture
def window(tmp_path):
    """A browser that prefers dark pages."""
    opened = browser(tmp_path / "profile", 390, 844)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
    yield opened
    opened.quit()


SOME = ("index", "gallery", "policies", "results", "tutorial_compare", "api_simulation", "api_table", "api_cli")
TOO_WIDE = """
const cut = element => element && (getComputedStyle(element).overflowX != 'visible' || cut(element.parentElement));
return document.documentElement.scrollWidth > innerWidth || [...document.querySelectorAll('.md-content *')].some(
    element => element.getBoundingClientRect().right > innerWidth + 1 && !cut(element))"""


@pytest.mark.parametrize("pages", [SOME, pytest.param(None, marks=pytest.mark.slow)], ids=["some", "all"])
def test_pages_fit_screens_and_show_dark_figures(place, site, window, pages):
    for page in pages or [name.removesuffix(".html") for name in site]:
        window.get((place / f"{page}.html").as_uri())
        for width in (390, 1280):
            screen = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
            window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
            until(window, lambda: not window.execute_script(TOO_WIDE))  # a page is laid out again a little later
        figures = window.find_elements(By.CSS_SELECTOR, "img[src*='figures/']")
        seen = [figure.get_attribute("src") for figure in figures if figure.value_of_css_property("display") != "none"]
        assert len(seen) == len(figures) / 2
        assert all(source.endswith("#only-dark") for source in seen)


def test_every_tutorial_can_be_downloaded_as_a_notebook(place, site):
    tutorials = [name for name in site if name.startswith("tutorial_")]
    assert len(tutorials) >= 7
    for page in tutorials:
        file = f"notebooks/{page.removesuffix('.html')}.ipynb"
        assert f'href="{file}">Download this page as a notebook</a>' in site[page]
        assert json.loads((place / file).read_text(encoding="utf-8"))["nbformat"] == 4
