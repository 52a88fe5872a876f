"""What the guides say of the code's structure is true: lists of files are complete."""

import ast
import re
from pathlib import Path

import dirichlet_bandits as db

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dirichlet_bandits"

# A policy that touches every file: it has a family of its own, a shortcut, propensities and published numbers.
EXAMPLE = "DMED"
NOT_FOR_NEW_POLICIES = {
    "tests/policies/test_policies.py": "a verb's name was taken twice",
    "docs/figures/policies.json": "numbers that `python -m tools.policy_pictures` makes",
    "docs/howto_compile.md": "a table that `python -m benchmarks.compiling --write` makes",
    "src/dirichlet_bandits/live/description.py": "policies of studies that were stored before it was written",
    "src/dirichlet_bandits/policies/min_divergence.py": "shared by IMED, MED and DMED",
}
NOT_FOR_NEW_ENVIRONMENTS = {
    "benchmarks/__main__.py": "what means that move cost",
    "docs/glossary.md": "drift is a word of studies, too",
    "tests/environments/test_arguments.py": "its wrong arguments",
    "tests/environments/test_files.py": "its table in the file of an experiment",
    "tests/experiments/test_ranking.py": "an environment whose distributions are not known",
}
MOST_LINES = 450
MOST_PARAMETERS = 8
LONG_AND_PUBLIC = {  # functions that users call with keywords, and where they find them
    "opening.create_study": db,
    "paper.reproduce": db.report,
    "planning.plan": db,
    "ranking.compare_policies": db,
    "result.plot": db.Result,
    "simulate.simulate": db,
}
NOT_FOR_THE_EXAMPLE = {"tests/policies/test_propensity.py": "WRSDA"}  # propensities are not known of this one


def text_files():
    """All files that are written by hand, and the pins."""
    for folder in ("src", "tests", "docs", "tools", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".pyi", ".md", ".toml", ".json"} and path != Path(__file__):
                yield path
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md", "pyproject.toml"))


def test_the_guide_names_every_file_that_a_new_policy_touches():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide[guide.index("### Into the library") : guide.index("## Add an environment")]
    listed = re.findall(r"^\| `([\w./]+)` \|", section, re.MULTILINE)
    names = re.compile(rf"\b({EXAMPLE}|{EXAMPLE.lower()})\b")
    found = {path.relative_to(ROOT).as_posix() for path in text_files() if names.search(path.read_text("utf-8"))}
    touched = {path.replace(f"/{EXAMPLE.lower()}/", "/greedy/") for path in found - set(NOT_FOR_NEW_POLICIES)}
    assert sorted(listed) == sorted(touched | set(NOT_FOR_THE_EXAMPLE)), (
        "list the file in CONTRIBUTING.md, or here in NOT_FOR_NEW_POLICIES with the reason"
    )
    assert [path for path in NOT_FOR_NEW_POLICIES if path not in found] == []
    for path, other in NOT_FOR_THE_EXAMPLE.items():
        assert f"db.{other}(" in (ROOT / path).read_text(encoding="utf-8")


def test_the_guide_names_every_file_that_a_new_environment_touches():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide[guide.index("## Add an environment") : guide.index("## Habits")]
    listed = set(re.findall(r"^\| `([\w./]+)` \|", section, re.MULTILINE))
    found = {path.relative_to(ROOT).as_posix() for path in text_files() if "Drifting" in path.read_text("utf-8")}
    touched = {path.replace("/drifting.py", "/swapping.py") for path in found if path not in NOT_FOR_NEW_ENVIRONMENTS}
    assert sorted(listed) == sorted(touched)
    assert [path for path in NOT_FOR_NEW_ENVIRONMENTS if path not in found] == []


def test_the_docstring_of_study_names_every_part():
    listed = re.findall(r"^ {8}(\w+\.py) ", (PACKAGE / "live" / "study.py").read_text(encoding="utf-8"), re.MULTILINE)
    files = {path.name for path in (PACKAGE / "live").glob("*.py")} - {"__init__.py", "study.py"}
    assert sorted(listed) == sorted(files)


def test_the_guide_names_every_package():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)/`", guide[: guide.index("## Add a policy")]))
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(packages - named) == []


def is_command(function):
    """Whether the parameters of a function are the options of a command, or the fields of a form."""
    form = any(ast.unparse(mark).startswith("routes.") for mark in function.decorator_list)
    return form or "typer." in ast.unparse(function.args)


def test_no_function_inside_the_package_has_many_parameters():
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_command(node):
                arguments = node.args
                if len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs) > MOST_PARAMETERS:
                    found.add(f"{path.stem}.{node.name}")
    assert found == set(LONG_AND_PUBLIC)
    assert all(hasattr(place, name.split(".")[1]) for name, place in LONG_AND_PUBLIC.items())


def test_no_file_is_long():
    files = [path for folder in ("src", "tests", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES] == []
