"""The API reference, readable without a network, with an example for a shell and for Python per route.

The examples are in an order in which they can be run.
"""

from typing import Any, Final

from fastapi import Request
from starlette.responses import Response

from dirichlet_bandits.service.dashboard.access import routes
from dirichlet_bandits.service.dashboard.rendering import page

SHELL: Final = """\
URL=http://127.0.0.1:8000
KEY=...  # made with: dirichlet-bandits keys add
call() { curl -sS -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "$@"; }"""

START: Final = """\
import dirichlet_bandits as db

service = db.connect("http://127.0.0.1:8000", key="...")"""

CURL: Final = {
    "GET /api/health": 'call "$URL/api/health"',
    "POST /api/studies": """\
call "$URL/api/studies" -d '{"name": "maize", "arms": ["26 Feb", "13 Mar", "28 Mar"], "policy": "RDS"}'""",
    "POST /api/plan": """\
call "$URL/api/plan" -d '{"baseline": 0.3, "lift": 0.1, "floors": [0, 0.1], "horizon": 2000, "replications": 20}'""",
    "GET /api/studies": 'call "$URL/api/studies"',
    "GET /api/study": 'call "$URL/api/study?study=maize"',
    "GET /api/identity": 'call "$URL/api/identity?study=maize"',
    "POST /api/ask": """call "$URL/api/ask?study=maize" -d '{"n": 3, "token": "monday"}'""",
    "GET /api/pending": 'call "$URL/api/pending?study=maize"',
    "POST /api/tell": """call "$URL/api/tell?study=maize" -d '{"id": 0, "reward": 3120}'""",
    "POST /api/tell_many": """call "$URL/api/tell_many?study=maize" -d '{"ids": [1], "rewards": [2950]}'""",
    "POST /api/abandon": """call "$URL/api/abandon?study=maize" -d '{"id": 2}'""",
    "POST /api/reopen": """call "$URL/api/reopen?study=maize" -d '{"id": 2}'""",
    "POST /api/correct": """\
call "$URL/api/correct?study=maize" -d '{"id": 0, "reward": 3210, "reason": "two digits swapped"}'""",
    "POST /api/settle": """call "$URL/api/settle?study=maize" -d '{}'""",
    "POST /api/void": """call "$URL/api/void?study=maize" -d '{"id": 1, "reason": "the scales were broken"}'""",
    "POST /api/annotate": """\
call "$URL/api/annotate?study=maize" -d '{"id": 0, "note": "hail in May", "attributes": {"plot": 7}}'""",
    "POST /api/add_trials": """\
call "$URL/api/add_trials?study=maize" -d '{"trials": [{"arm": "26 Feb", "reward": 2800}], "token": "last year"}'""",
    "GET /api/summary": 'call "$URL/api/summary?study=maize&confidence=0.95"',
    "GET /api/winner": 'call "$URL/api/winner?study=maize&delta=0.05"',
    "POST /api/declare_winner": """call "$URL/api/declare_winner?study=maize" -d '{"delta": 0.05}'""",
    "GET /api/propensities": 'call "$URL/api/propensities?study=maize"',
    "GET /api/trials": 'call "$URL/api/trials?study=maize&first=0&limit=100"',
    "GET /api/events": 'call "$URL/api/events?study=maize&trial=0"',
    "GET /api/audit_log": 'call "$URL/api/audit_log?study=maize"',
    "GET /api/export": 'call "$URL/api/export?study=maize&format=csv" -o log.csv',
    "GET /api/archived": 'call "$URL/api/archived?study=maize"',
    "GET /api/best_arm": 'call "$URL/api/best_arm?study=maize"',
    "POST /api/estimate": """call "$URL/api/estimate?study=maize" -d '{"choice": {"26 Feb": 0.5, "13 Mar": 0.5}}'""",
    "POST /api/estimate_cvar": """\
call "$URL/api/estimate_cvar?study=maize" -d '{"choice": "26 Feb", "level": 0.2, "bounds": [0, 10000]}'""",
    "GET /api/estimate_difference": """\
call "$URL/api/estimate_difference?study=maize&a=13%20Mar&b=26%20Feb&bounds=0&bounds=10000\"""",
    "GET /api/replay": 'call "$URL/api/replay?study=maize"',
    "POST /api/add_arm": """call "$URL/api/add_arm?study=maize" -d '{"arm": "12 Apr"}'""",
    "POST /api/retire_arm": """call "$URL/api/retire_arm?study=maize" -d '{"arm": "12 Apr"}'""",
    "POST /api/set_floor": """call "$URL/api/set_floor?study=maize" -d '{"floor": 0.1}'""",
    "POST /api/rename": """call "$URL/api/rename?study=maize" -d '{"name": "maize-2026"}'""",
    "POST /api/archive": """call "$URL/api/archive?study=maize-2026" -d '{"archived": true}'""",
    "POST /api/delete": """call "$URL/api/delete?study=maize-2026" -d '{"confirm": "maize-2026"}'""",
}

PYTHON: Final = {
    "POST /api/studies": 'study = service.create_study("maize", arms=["26 Feb", "13 Mar", "28 Mar"], policy=db.RDS())',
    "POST /api/plan": "service.plan(baseline=0.3, lift=0.1, floors=[0, 0.1], horizon=2000, replications=20)",
    "GET /api/studies": "service.study_names()",
    "GET /api/study": 'study = service.load_study("maize")',
    "GET /api/identity": "study.identity",
    "POST /api/ask": "trials = study.ask(3)",
    "GET /api/pending": "study.pending",
    "POST /api/tell": "study.tell(trials[0].id, 3120.0)",
    "POST /api/tell_many": "study.tell_many([trials[1].id], [2950.0])",
    "POST /api/abandon": "study.abandon(trials[2].id)",
    "POST /api/reopen": "study.reopen(trials[2].id)",
    "POST /api/correct": 'study.correct(trials[0].id, 3210.0, "two digits swapped")',
    "POST /api/settle": "study.settle()",
    "POST /api/void": 'study.void(trials[1].id, "the scales were broken")',
    "POST /api/annotate": 'study.annotate(trials[0].id, note="hail in May", attributes={"plot": 7})',
    "POST /api/add_trials": 'study.add_trials({"arm": ["26 Feb"], "reward": [2800.0]})',
    "GET /api/summary": "study.summary(confidence=0.95)",
    "GET /api/winner": "study.winner(delta=0.05)",
    "POST /api/declare_winner": "study.declare_winner()",
    "GET /api/propensities": "study.propensities()",
    "GET /api/trials": "study.trials_dataframe()",
    "GET /api/events": "study.events(trial=0)",
    "GET /api/audit_log": "study.audit_log()",
    "GET /api/export": 'study.export("log.csv")',
    "GET /api/archived": "study.archived",
    "GET /api/best_arm": "study.best_arm",
    "POST /api/estimate": 'study.estimate({"26 Feb": 0.5, "13 Mar": 0.5})',
    "POST /api/estimate_cvar": 'study.estimate("26 Feb", objective=db.CVaR(0.2), bounds=(0, 10_000))',
    "GET /api/estimate_difference": 'study.estimate_difference("13 Mar", "26 Feb", bounds=(0, 10_000))',
    "GET /api/replay": "study.replay()",
    "POST /api/add_arm": 'study.add_arm("12 Apr")',
    "POST /api/retire_arm": 'study.retire_arm("12 Apr")',
    "POST /api/set_floor": "study.set_floor(0.1)",
    "POST /api/rename": 'study.rename("maize-2026")',
    "POST /api/archive": "study.archive()",
    "POST /api/delete": 'service.delete_study("maize-2026", confirm="maize-2026")',
}


@routes.get("/docs")
async def docs(request: Request) -> Response:
    """Show every route with its fields, responses and examples."""
    shown: dict[str, Any] = {"shell": SHELL, "start": START, "curl": CURL, "python": PYTHON}
    return page(request, "docs.html", description=request.app.openapi(), **shown)
