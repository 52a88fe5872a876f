"""What is declared of operations, and what is derived from it."""

import inspect
import threading
import typing
from pathlib import Path

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.answers import written
from dirichlet_bandits.live.operation import OPERATIONS, Change
from dirichlet_bandits.live.settings import StudySettings

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"
VALUES = {  # a value of each field, as JSON has it
    "n": 2, "segment": "clay", "unit": "field 7", "id": 3, "reward": 1.5, "note": "hail", "attributes": {"plot": 7},
    "reason": "typed twice", "ids": [1, 2], "rewards": [1.0, 0.0], "arm": "red", "floor": {"red": 0.2}, "delta": 0.1,
    "trials": [{"arm": "red", "reward": 1.0, "time": "2026-03-01T00:00:00+00:00", "propensity": 0.5}], "margin": 0.5,
    "confidence": 0.9, "bounds": [0.0, 2.0], "first": 5, "limit": 7, "trial": 1, "below": 9, "a": "red", "b": "blue",
    "choice": {"red": 1.0}, "level": 0.25, "over": "rounds",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_survives_its_way_to_a_service(name):
    kind = OPERATIONS[name]
    given = {field: VALUES[field] for field in kind.fields}
    there = kind.of_json(given)
    assert there.as_json() == given
    assert kind.of_json(there.as_json()) == there
    assert kind.schema()["properties"].keys() == kind.fields.keys()


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_unknown_and_missing_fields_are_refused_by_name(name):
    kind = OPERATIONS[name]
    given = {field: VALUES[field] for field in kind.fields}
    with pytest.raises(db.ArgumentError, match=r"'colour' must be left out: the fields are.*\(got 'red'\)"):
        kind.of_json({**given, "colour": "red"})
    for field in [field for field, about in kind.fields.items() if about.required]:
        with pytest.raises(db.ArgumentError, match=r"\(got nothing\)") as caught:
            kind.of_json({key: value for key, value in given.items() if key != field})
        assert caught.value.name == field


@pytest.mark.parametrize("name", sorted(name for name, kind in OPERATIONS.items() if issubclass(kind, Change)))
def test_a_change_has_a_method_with_the_same_words(name):
    method = getattr(db.Study, name)
    assert inspect.getdoc(method)
    named = set(inspect.signature(method).parameters) - {"self", "token"}
    same = {"add_trials": {"frame"}, "add_arm": {"name"}, "retire_arm": {"name"}}
    assert named == same.get(name, set(OPERATIONS[name].fields))
    assert ("token" in inspect.signature(method).parameters) == OPERATIONS[name].has_token


def test_the_table_of_the_docs_has_all_operations():
    page = ARCHITECTURE.read_text()
    for name, kind in OPERATIONS.items():
        fields = ", ".join(f"`{field}`" for field in kind.fields) or "-"
        does = inspect.getdoc(kind).splitlines()[0].split(". ")[0].rstrip(".")
        assert f"| `{name}` | {kind.role} | {fields} | {does} |" in page


def test_settings_survive_their_way_to_a_service_and_to_a_storage():
    given = StudySettings(
        arms=["red", "blue"],
        policy="NPTS(upper=2)",
        seed=7,
        direction="maximize",
        control="red",
        reward_unit="kg/ha",
        bounds=(0, 2),
        floor={"red": 0.1, "blue": 0.0},
        window="24h",
        late=0,
        segments=["clay", "sand"],
        history={"red": [1, 0.5]},
        weight=0.5,
    )
    assert StudySettings.of_json(given.as_json()) == given
    assert StudySettings.restored(given.stored(), None, None) == given
    assert written(given) == given.as_json()
    changed = {name for name, field in StudySettings.fields.items() if getattr(given, name) != field.default}
    assert changed == StudySettings.fields.keys() - {"direction", "borrow"}  # all that can be given together


def test_create_study_takes_all_settings_and_nothing_else():
    takes = inspect.signature(db.create_study).parameters
    assert takes.keys() - {"name", "storage", "load_if_exists", "token"} == StudySettings.fields.keys()
    assert set(typing.get_type_hints(db.create_study)) >= takes.keys()


def test_looking_for_a_winner_stores_nothing_and_declaring_one_does():
    study = db.create_study("page", arms=["red", "blue"], bounds=(0, 1), seed=1)
    study.add_trials({"arm": ["red", "blue"] * 400, "reward": [0.0, 1.0] * 400})
    before = study.events(limit=1000)
    assert (study.winner().arm, study.winner().established_at, study.events(limit=1000)) == ("blue", None, before)
    declared = study.declare_winner()
    assert (declared.arm, declared.established_at) == ("blue", 800)
    assert study.events()[0].what == "declare_winner"
    assert study.winner() == declared == study.declare_winner()
    assert study.events(limit=1000)[1:] == before


def test_nobody_waits_for_a_replay():
    """Reading all rows takes long, so the study is not locked meanwhile."""
    study = db.create_study("page", arms=["red", "blue"], policy="UCB1(sigma=0.5)", seed=1)
    study.tell_many([trial.id for trial in study.ask(2)], [1.0, 0.0])
    asked = []

    def meanwhile(done, total):
        thread = threading.Thread(target=lambda: asked.append(study.ask().id), daemon=True)
        thread.start()
        thread.join(30.0)
        assert not thread.is_alive()

    assert study.replay(meanwhile).same
    assert asked == [2]


def test_declaring_a_winner_changes_nothing_while_there_is_none():
    """A webhook looks at every study again and again: it must not lock the storage each time."""
    study = db.create_study("page", arms=["red", "blue"], bounds=(0, 1), seed=1)
    opened = []
    transaction = study.storage.transaction
    study.storage.transaction = lambda name: opened.append(name) or transaction(name)
    assert study.declare_winner().arm is None
    assert opened == []
    study.add_trials({"arm": ["red", "blue"] * 400, "reward": [0.0, 1.0] * 400})
    assert study.declare_winner() == study.declare_winner()
    assert opened == ["page", "page"]  # the trials, and the winner once
