"""The API pages of the documentation site: every public name, on the page of the package that it comes from."""

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "dirichlet_bandits"

# Page, title, what it is about, and where its names come from; the first page that fits takes a name.
PAGES = (
    (
        "api_environments.md",
        "Environments",
        "Reward distributions, bandits, objectives, arms that change, and delays: `docs/worlds.md`.",
        ("environments",),
    ),
    (
        "api_simulation.md",
        "Simulations and results",
        "Run policies many times, and read the results.",
        ("simulation", "results", "experiments."),
    ),
    (
        "api_policies.md",
        "Policies",
        "What each family does, and where it fails: `docs/policies.md`.",
        ("policies",),
    ),
    (
        "api_live.md",
        "Live studies",
        "Ask now, tell later, here or over HTTP: `docs/live.md`.",
        ("live", "inference", "service"),
    ),
    (
        "api_theory.md",
        "Theory",
        "The quantities behind the policies, as functions.",
        ("numerics", "theory"),
    ),
    (
        "api_errors.md",
        "Errors",
        "All errors have one base class, and each is also a built-in exception, such as `ValueError`.",
        ("errors",),
    ),
)
PACKAGES = {
    "extend": "What authors of policies, distributions and environments import: `CONTRIBUTING.md`.",
    "testing": "Checks of your own policies, distributions and environments.",
    "crops": "Planting dates for maize: `docs/crops.md`.",
    "experiments": "An experiment as a TOML file: `docs/howto_experiments.md`.",
    "report": "Figures, tables and claims of experiments, on one page: `docs/paper.md`.",
}

INHERITING = ["    options:", "      inherited_members: true"]  # a class whose base only serves to keep files short


def reference_pages(sources: Path) -> dict[str, str]:
    """The Markdown of each page, for mkdocstrings to fill."""
    pages = {page: [f"# {title}", "", about, ""] for page, title, about, _ in PAGES}
    for home, name in public_names(sources / PACKAGE):
        pages[page_of(home)] += entry(f"{home}.{name}")
    packages = [
        "# Crops, experiments, extend, reports, testing",
        "",
        "Packages of `dirichlet_bandits`, with names of their own.",
        "",
    ]
    for package, about in PACKAGES.items():
        packages += [f"## `{package}`", "", about, ""]
        for name in sorted(importlib.import_module(f"{PACKAGE}.{package}").__all__):
            packages += entry(f"{PACKAGE}.{package}.{name}")
    return {"api_packages.md": "\n".join(packages), **{page: "\n".join(lines) for page, lines in pages.items()}}


def public_names(package: Path) -> Iterator[tuple[str, str]]:
    """Where it comes from, and its name, for every public name but packages and modules."""
    yield from ((f"{PACKAGE}.errors", name) for name in importlib.import_module(f"{PACKAGE}.errors").__all__)
    seen = {""}
    for stub in ("policies/__init__.pyi", "theory/__init__.pyi", "__init__.pyi"):
        for line in ast.parse((package / stub).read_text(encoding="utf-8")).body:
            if isinstance(line, ast.ImportFrom) and line.module != PACKAGE and line.names[0].name not in seen:
                seen.add(line.names[0].name)
                yield str(line.module), line.names[0].name


def page_of(home: str) -> str:
    """The page for names of a module; a new room wants a page first."""
    for page, _, _, rooms in PAGES:
        if any(f"{home}.".startswith(f"{PACKAGE}.{room}") for room in rooms):
            return page
    raise LookupError(f"tools/site_reference.py has no page for names of {home}")


def entry(path: str) -> list[str]:
    """One name, with its docstring and signature."""
    above, _, name = path.rpartition(".")
    what = getattr(importlib.import_module(above), name)
    if path in sys.modules:  # a module of the same name, which would be shown instead
        path = f"{what.__module__}.{name}"
    return [f"::: {path}", *(INHERITING if path.endswith(".Study") else []), ""]
