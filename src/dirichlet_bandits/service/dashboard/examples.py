"""The API reference, readable without a network, with an example for a shell and for Python per route.

The examples are in an order in which they can be run.
"""

import json
from typing import Any, Final
from urllib.parse import quote, urlencode

from fastapi import Request
from starlette.responses import Response

from dirichlet_bandits.live.operation import OPERATIONS, Operation
from dirichlet_bandits.service.calls import CALLS, in_query, path_of
from dirichlet_bandits.service.dashboard.access import routes
from dirichlet_bandits.service.dashboard.rendering import page

SHELL: Final = """\
URL=http://127.0.0.1:8000
KEY=...  # made with: dirichlet-bandits keys add
call() { curl -sS -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "$@"; }"""

START: Final = """\
import dirichlet_bandits as db

service = db.connect("http://127.0.0.1:8000", key="...")"""

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "health": {},
    "create_study": {"name": "maize", "arms": ["26 Feb", "13 Mar", "28 Mar"], "policy": "RDS"},
    "plan": {"baseline": 0.3, "lift": 0.1, "floors": [0, 0.1], "horizon": 2000, "replications": 20},
    "studies": {},
    "study": {},
    "identity": {},
    "ask": {"n": 3, "token": "monday"},
    "pending": {},
    "tell": {"id": 0, "reward": 3120},
    "tell_many": {"ids": [1], "rewards": [2950]},
    "abandon": {"id": 2},
    "reopen": {"id": 2},
    "correct": {"id": 0, "reward": 3210, "reason": "two digits swapped"},
    "settle": {},
    "void": {"id": 1, "reason": "the scales were broken"},
    "annotate": {"id": 0, "note": "hail in May", "attributes": {"plot": 7}},
    "add_trials": {"trials": [{"arm": "26 Feb", "reward": 2800}], "token": "last year"},
    "summary": {"confidence": 0.95},
    "winner": {"delta": 0.05},
    "declare_winner": {"delta": 0.05},
    "propensities": {},
    "trials": {"first": 0, "limit": 100},
    "events": {"trial": 0},
    "audit_log": {},
    "export": {"format": "csv"},
    "archived": {},
    "best_arm": {},
    "estimate": {"choice": {"26 Feb": 0.5, "13 Mar": 0.5}},
    "estimate_cvar": {"choice": "26 Feb", "level": 0.2, "bounds": [0, 10000]},
    "estimate_difference": {"a": "13 Mar", "b": "26 Feb", "bounds": [0, 10000]},
    "replay": {},
    "add_arm": {"arm": "12 Apr"},
    "retire_arm": {"arm": "12 Apr"},
    "set_floor": {"floor": 0.1},
    "rename": {"name": "maize-2026"},
    "archive": {"archived": True},
    "delete": {"confirm": "maize-2026"},
}
"""The fields of a request for each operation, in an order in which all of them work."""

_PYTHON: Final = {
    "create_study": "study = service.create_study({})",
    "plan": "service.plan({})",
    "studies": "service.study_names()",
    "study": 'study = service.load_study("maize")',
    "ask": "trials = study.ask({})",
    "trials": "study.trials_dataframe()",
    "export": 'study.export("log.csv")',
    "estimate_cvar": 'study.estimate("26 Feb", objective=db.CVaR(0.2), bounds=(0, 10_000))',
    "archive": "study.archive()",
    "delete": 'service.delete_study("maize-2026", confirm="maize-2026")',
    **{name: f"study.{name}" for name in ("identity", "pending", "archived", "best_arm")},
}
"""Calls that are not the method of a study with the name and the fields of the operation."""


def _place(kind: type[Operation[Any]]) -> str:
    return f"{'GET' if in_query(kind) else 'POST'} /api/{path_of(kind)}"


def _command(kind: type[Operation[Any]], fields: dict[str, Any]) -> str:
    """Return the command for a shell that sends these fields."""
    study = {} if kind.of_study is False else {"study": "maize"}
    if kind.name in ("archive", "delete"):
        study["study"] = "maize-2026"
    query = urlencode({**study, **(fields if in_query(kind) else {})}, doseq=True, quote_via=quote)
    sent = " -o log.csv" * (kind.name == "export") if in_query(kind) else f" -d '{json.dumps(fields)}'"
    return f'call "$URL/api/{path_of(kind)}{"?" * bool(query)}{query}"{sent}'


def _call(kind: type[Operation[Any]], fields: dict[str, Any]) -> str:
    """Return the call of the client: required fields by place, others by name."""
    required = {name for name, field in kind.fields.items() if field.required}
    written = {
        name: json.dumps(x) for name, x in fields.items()
    }  # which is Python, too: no field is true, false or null
    given = ", ".join(x if name in required else f"{name}={x}" for name, x in written.items())
    return _PYTHON.get(kind.name, f"study.{kind.name}({{}})").format(given)


_KINDS: Final = {name: {**OPERATIONS, **CALLS}[name] for name in FIELDS}
CURL: Final = {_place(kind): _command(kind, FIELDS[name]) for name, kind in _KINDS.items()}
PYTHON: Final = {_place(kind): _call(kind, FIELDS[name]) for name, kind in _KINDS.items() if name != "health"}


@routes.get("/docs")
async def docs(request: Request) -> Response:
    """Show every route with its fields, responses and examples."""
    shown: dict[str, Any] = {"shell": SHELL, "start": START, "curl": CURL, "python": PYTHON}
    return page(request, "docs.html", description=request.app.openapi(), **shown)
