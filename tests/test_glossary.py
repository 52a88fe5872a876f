"""One word means one thing (docs/glossary.md): words that were retired do not come back into a public interface."""

import inspect
import re
from pathlib import Path

import typer.main

import dirichlet_bandits as db
from dirichlet_bandits.cli.main import app
from dirichlet_bandits.live.events import EVENTS
from dirichlet_bandits.service.app import create_app
from dirichlet_bandits.service.client import Service
from dirichlet_bandits.storage.memory import MemoryStorage

OPERATIONS = (
    "ask tell abandon reopen void correct annotate add_trials add_arm retire_arm set_floor declare_winner settle"
)

# Retired words, and the places where they have another meaning.
RETIRED = {
    "history": r"create_study$|study create$|[sS]ettings$|/stud(y|ies)$",  # past rewards
    "level": r"CVaR|cvar|lower_tail_mean|Policy|Estimate$|study estimate$|compare$|/estimate_cvar$",
    "lower": r"Policy|Claim$",
    "upper": r"Policy|lower_bound$|kinf$|crossing|QDSCondition$|qds",
    "cvar": r"^cvar$",
    "unit": r"\.ask$|study ask$|Ask$|Trial$|/(ask|pending|trials)$",  # a user that keeps its arm
    "answers": r"",
    "option": r"",
    "trials": r"Study(?!Plan)|Replay|Trials$|Winner|Rewards$|/((?!plan)\w+)$",  # those of a study
    "difference": r"Comparison$|RankedPolicy$",
    "note": r"tell$|Tell$|annotate$|Annotate$|Event|Entry|Winner|/(events|audit_log|(declare_)?winner)$",
}
BRITISH = re.compile(r"colour|centre|cancelled|fertilis|realis|normalis|behaviour|favour|neighbour")


def signatures():
    """Yield the public functions, classes and methods with the names of their parameters and fields."""
    rooms = (db, db.policies, db.theory, db.errors)
    owners = {name: getattr(room, name) for room in rooms for name in room.__all__}
    owners = {name: owner for name, owner in owners.items() if not inspect.ismodule(owner)}
    owners |= {f"experiments.{name}": getattr(db.experiments, name) for name in db.experiments.__all__}
    owners |= {f"crops.{name}": getattr(db.crops, name) for name in db.crops.__all__}
    owners |= {"Service": Service}
    for name, owner in owners.items():
        place = "Policy " + name if inspect.isclass(owner) and issubclass(owner, db.policies.Policy) else name
        members = [(place, owner)]
        if inspect.isclass(owner):
            found = inspect.getmembers(owner, inspect.isfunction)
            members += [(f"{place}.{method}", one) for method, one in found if not method.startswith("_")]
        for where, one in members:
            yield where.rpartition(".")[0] or where, where.rpartition(".")[2]
            try:
                parameters = inspect.signature(one).parameters if callable(one) else {}
            except ValueError:
                continue
            yield from ((where, parameter) for parameter in parameters)


def commands(command, name=""):
    """Yield the commands with the names of their options and arguments."""
    for child in command.list_commands(None) if hasattr(command, "list_commands") else ():
        its = command.get_command(None, child)
        its = its.complete() if hasattr(its, "complete") else its  # those that are derived
        where = f"{name} {child}".strip()
        yield where, child
        yield from ((where, option.lstrip("-")) for one in its.params for option in [one.name, *one.opts])
        yield from commands(its, where)


def fields():
    """Yield the paths, query parameters, bodies and responses of the service."""
    said = create_app(MemoryStorage(), None).openapi()
    for path, methods in said["paths"].items():
        for method in methods.values():
            yield from ((path, one["name"]) for one in method.get("parameters", ()))
            for part in (method.get("requestBody", {}), *method["responses"].values()):
                schema = part.get("content", {}).get("application/json", {}).get("schema", {})
                yield from ((path, key) for key in properties(schema))
        yield path, path.rpartition("/")[2]


def properties(schema):
    """Yield the names of all fields in a schema."""
    for key, value in schema.items():
        if key == "properties":
            yield from value
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from properties(inner)


def settings():
    storage = MemoryStorage()
    given = {
        "bounds": (0, 1),
        "segments": ["x"],
        "reward_unit": "kg",
        "floor": 0.1,
        "window": "1h",
        "late": 0,
        "control": "a",
    }
    db.create_study("s", arms=["a", "b"], storage=storage, **given)
    yield from (("settings", key) for key in storage.settings("s"))
    db.create_study("t", arms=["a", "b"], storage=storage, history={"a": [1.0]}, weight=1)
    yield from (("settings", key) for key in storage.settings("t"))


def test_retired_words_do_not_come_back():
    used = {*signatures(), *commands(typer.main.get_command(app)), *fields(), *settings()}
    assert len(used) > 1000  # the interfaces are found
    wrong = {
        (place, word)
        for place, word in used
        if BRITISH.search(word)
        or (word.replace("-", "_") in RETIRED and not re.search(RETIRED[word.replace("-", "_")] or r"\Z.", place))
    }
    assert not wrong


def test_events_are_named_after_operations():
    assert {kind.what for kind in EVENTS} == {*OPERATIONS.split(), "done"}
    page = (Path(__file__).parents[1] / "docs/glossary.md").read_text()
    assert all(re.search(rf"\b{name}\b", page) for name in OPERATIONS.split())
