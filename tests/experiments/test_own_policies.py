"""Experiments with policies and rewards of the user's own: found beside the file, or named in the message."""

import importlib
import sys

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments import read

EXPERIMENT = """
horizon = 30
replications = 2
seed = 0
[[arms]]
name = "north"
law = "Empirical"
values = "past.csv"
column = "north"
[[arms]]
law = "Empirical"
values = "single.csv"
[[policies]]
policy = "{policy}"
first = 1
[[policies]]
policy = "UCB1"
sigma = 1.0
[[policies]]
name = "UCB1"
policy = "UCB1"
sigma = 2.0
"""
MODULE = """
class Always:
    def __init__(self, first=0):
        self.first = first

    def select(self, rng):
        return self.first

    def update(self, arm, reward):
        pass


class Nothing:
    def __init__(self, first):
        pass


LIMIT = 3
"""


@pytest.fixture
def folder(tmp_path, request):
    name = f"own_{request.node.name.translate(str.maketrans('[]- :.', '______'))}".lower()[:60]
    module = "".join(letter for letter in name if letter.isidentifier() or letter.isdigit())
    (tmp_path / f"{module}.py").write_text(MODULE)
    (tmp_path / "past.csv").write_text("north,south\n1.5,2\n2.5,3\n,4\n")
    (tmp_path / "single.csv").write_text("0.5\n1\n")
    yield tmp_path, module
    sys.modules.pop(module, None)


def written(folder, policy, change=lambda text: text):
    (folder / "mine.toml").write_text(change(EXPERIMENT.format(policy=policy)))
    return folder / "mine.toml"


def test_policies_and_values_beside_the_file(folder):
    place, module = folder
    before = list(sys.path)
    experiment = read(written(place, f"{module}:Always"))
    assert sys.path == before
    assert experiment.bandit.arms == (db.Empirical([1.5, 2.5]), db.Empirical([0.5, 1.0]))
    assert list(experiment.policies) == ["Always", "UCB1(sigma=1.0)", "UCB1"]
    result = experiment.run(workers=1)
    assert result.pulls.sel(policy="Always", arm="arm 1").values.tolist() == [29, 29]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("nowhere:Always", "'policies[0].policy': no module 'nowhere' beside the file or on Python's path"),
        ("{}:Never", "'policies[0].policy': no class 'Never' in '{}' (its classes: Always, Nothing)"),
        ("{}:LIMIT", "'policies[0].policy': no class 'LIMIT' in "),
        (
            "{}:Nothing",
            "'policies[0].policy' must be a class with select(rng) and update(arm, reward), or a Policy",
        ),
        ("{}:", "'policies[0].policy' must be a policy of the library, or 'module:Class' (got "),
        ("../{}:Always", "'policies[0].policy' must be a policy of the library, or 'module:Class'"),
    ],
)
def test_what_is_not_found_is_named(folder, policy, message):
    place, module = folder
    with pytest.raises(db.FormatError) as caught:
        read(written(place, policy.format(module)))
    assert str(caught.value).startswith(f"{place / 'mine.toml'}: {message.format(module)}")


def test_other_mistakes(folder):
    place, module = folder
    own = f"{module}:Always"
    changes = {
        ("first = 1", "last = 1"): f"'policies[0].last' is not a parameter of {own} (its parameters: first)",
        ('"past.csv"', '"none.csv"'): "'arms[0].values' must be a list of numbers, or a CSV file that exists (got ",
        ('column = "north"', ""): "line 1: name one of the columns ['north', 'south']",
        ('column = "north"', 'column = "west"'): "line 1: there must be one column 'west'",
    }
    for (old, new), message in changes.items():
        with pytest.raises(db.FormatError) as caught:
            read(written(place, own, lambda text, old=old, new=new: text.replace(old, new)))
        assert message in str(caught.value)
    (place / "single.csv").write_text("reward\n1\nmuch\n")
    with pytest.raises(db.FormatError, match=r"single.csv, line 3: column 'reward' must be a finite number"):
        read(written(place, own))


def test_a_module_that_fails_or_that_is_another(folder):
    place, module = folder
    (place / f"{module}.py").write_text("import no_such_package")
    with pytest.raises(db.FormatError, match="cannot be imported: ModuleNotFoundError"):
        read(written(place, f"{module}:Always"))
    (place / "json.py").write_text(MODULE)  # a name that Python has in use
    with pytest.raises(db.FormatError, match="another module 'json' is already loaded"):
        read(written(place, "json:Always"))
    assert importlib.import_module("json").dumps([1]) == "[1]"
