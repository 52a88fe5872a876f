"""The API, fuzzed from its own description: no answer above 499 ever, and nothing stored on a refusal."""

import sqlite3
from contextlib import closing

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

OPERATIONS = 37  # of the description, so that none is left out by mistake
NOTHING_TO_GET_WRONG = ("GET /api/health", "GET /api/studies")


@pytest.fixture(scope="module")
def target(service):
    """The service, with a study that the fuzzer may use."""
    with service.connect() as studies:
        study = studies.create_study("fuzz", arms=["a", "b", "c"], seed=1)
        study.tell_many(range(5), [float(trial.id) for trial in study.ask(10)][:5])
    return service


def sizes(service):
    with closing(sqlite3.connect(service.storage.removeprefix("sqlite:///"))) as file:
        return [file.execute(f"SELECT count(*) FROM bandit_{table}").fetchone() for table in ("studies", "events")]


def fuzz(service, examples):
    schema = schemathesis.openapi.from_url(service.url + "/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == OPERATIONS
    statuses = {}
    with service.http(service.write) as client:

        def check(case, named):
            before = sizes(service)
            if named and case.operation.path not in ("/api/studies", "/api/rename"):
                case.query = {**(case.query or {}), "study": "fuzz"}
            if case.operation.path == "/api/plan" and isinstance(case.body, dict):
                case.body |= {key: min(x, 100) for key, x in case.body.items() if type(x) is int}  # small plans
                case.body |= {key: 100 for key in ("trials", "replications") if key not in case.body}
            answer = case.call(base_url=service.url, headers=dict(client.headers))
            place = f"{case.method} {case.operation.path}"
            statuses.setdefault(place, set()).add(answer.status_code)
            assert answer.status_code < 500, (place, case.query, case.body, answer.text)
            if answer.status_code >= 400:
                assert set(answer.json()) == {"error", "field", "kind"}
                assert sizes(service) == before, (place, case.query, case.body)
            elif answer.status_code < 300:
                case.validate_response(answer, checks=[response_schema_conformance, content_type_conformance])

        for operation in operations:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                if mode is GenerationMode.NEGATIVE and operation.label in NOTHING_TO_GET_WRONG:
                    continue
                for named in (False, True):
                    run(operation.as_strategy(generation_mode=mode), examples, lambda case, n=named: check(case, n))
    return statuses


def run(strategy, examples, check):
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def one(case):
        check(case)

    one()


def checked(statuses):
    assert len(statuses) == OPERATIONS
    good = [place for place, found in statuses.items() if found & {200, 201}]
    assert len(good) >= 13, statuses  # the fuzzer gets past the door, too
    assert {404, 422} <= set().union(*statuses.values())


def test_fuzzed(target):
    checked(fuzz(target, examples=2))


@pytest.mark.slow
def test_fuzzed_longer(target):
    checked(fuzz(target, examples=100))
