"""What the guides say of the code's structure is true: lists of files are complete."""

import ast
import re
from collections import Counter
from pathlib import Path

import dirichlet_bandits as db
from dirichlet_bandits.policies.registry import all_policies

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dirichlet_bandits"

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
    "runner.reproduce": db.experiments,
    "planning.plan": db,
    "ranking.compare_policies": db,
    "result.plot": db.Result,
    "simulate.simulate": db,
}


def text_files():
    """All files that are written by hand, and the pins."""
    for folder in ("src", "tests", "docs", "tools", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".pyi", ".md", ".toml", ".json", ".bib"} and path != Path(__file__):
                yield path
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md", "pyproject.toml"))


def test_the_guide_names_every_file_that_a_new_policy_touches():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide[guide.index("### Into the library") : guide.index("## Add an environment")]
    listed = re.findall(r"^\| `([\w./]+)` \|", section, re.MULTILINE)
    places = [ROOT / path.replace("greedy.py", "perturbed.py") for path in listed]
    assert [path for path in places if not path.is_file()] == []
    names = set(all_policies())
    found = {path for path in text_files() if names <= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))}
    made = ROOT / "docs/howto_compile.md"  # by `python -m benchmarks.compiling --write`
    assert found - {made} == set(places[: section[: section.index("Some policies")].count("\n| `")]) - {
        ROOT / "src/dirichlet_bandits/policies/perturbed.py",
        ROOT / "src/dirichlet_bandits/policies/references.bib",  # names papers
        ROOT / "tests/naive/policies.py",  # names functions
    }


def test_the_guide_names_every_file_that_a_new_environment_touches():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide[guide.index("## Add an environment") : guide.index("## Habits")]
    listed = set(re.findall(r"^\| `([\w./]+)` \|", section, re.MULTILINE))
    found = {path.relative_to(ROOT).as_posix() for path in text_files() if "Drifting" in path.read_text("utf-8")}
    touched = {path.replace("/drifting.py", "/swapping.py") for path in found if path not in NOT_FOR_NEW_ENVIRONMENTS}
    assert sorted(listed) == sorted(touched)
    assert [path for path in NOT_FOR_NEW_ENVIRONMENTS if path not in found] == []


def test_families_of_policies_know_what_all_share_and_not_each_other():
    """Except that published policies restart those of another family, and detectors belong to none."""
    homes = re.findall(r"policies\.(\w+) import", (PACKAGE / "policies" / "__init__.pyi").read_text(encoding="utf-8"))
    families = set(homes) - {"interface", "propensity", "registry", "detectors"}
    known = set()
    for family in families:
        place = PACKAGE / "policies" / family
        for path in place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]:
            text = path.read_text(encoding="utf-8")
            others = families & set(re.findall(r"dirichlet_bandits\.policies\.(\w+)", text)) - {family}
            known |= {(family, other) for other in others}
    assert known == {("restarted_ucb", "restarting"), ("restarted_ucb", "ucb")}


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


def test_no_class_name_means_two_things():
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    names = Counter(node.name for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []
