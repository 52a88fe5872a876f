"""Plans over HTTP: the same as those of ``db.plan``, of limited size, one at a time, while studies are used."""

import asyncio
import json
import math
import multiprocessing
import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments import plan_question, planning
from dirichlet_bandits.service import plans
from dirichlet_bandits.service.app import create_app
from dirichlet_bandits.service.guard import COOKIE
from dirichlet_bandits.storage import open_storage
from tests.bounds import SECONDS, until
from tests.service.requests import refused
from tests.service.running import Forked

QUICK = {"baseline": 0.2, "lift": 0.6, "horizon": 300, "replications": 10}
ALONE = {"baseline": None, "lift": None}
PAST = {"a": [0.0, 1.0, 1.0], "b": [2.0, 2.0, 1.0]}


def test_a_plan_is_that_of_db_plan(studies, web):
    here = db.plan(**QUICK)
    said = web.post("/api/plan", json=QUICK).json()
    assert said["answer"] == here.answer
    assert [row["loss"] for row in said["rows"]] == [row.loss for row in here.rows]
    there = studies.plan(**QUICK)
    assert (type(there), str(there), there) == (planning.StudyPlan, str(here), here)
    with_policies = {**QUICK, "lift": 0.0, "policies": [db.TopTwo(), "EpsilonGreedy(0.5)"], "floors": [0.05], "seed": 7}
    here, there = db.plan(**with_policies), studies.plan(**with_policies)
    assert str(there) == str(here)
    assert there.rows[0].median == math.inf  # no winner; null in JSON
    assert math.isnan(there.rows[0].relative)
    for bandit in (PAST, db.Bandit(PAST)):
        past = {"horizon": 200, "replications": 4, "bounds": (0, 2), "policies": []}
        assert studies.plan(bandit, **past) == db.plan(PAST, **past)


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ({"baseline": math.nan}, "baseline", "'baseline' must be a finite number (got nan)"),
        ({"baseline": -0.1}, "baseline", "'baseline' must be a number strictly between 0 and 1 (got -0.1)"),
        ({"baseline": None}, "baseline", "'baseline' must be given, or else past rewards (got None)"),
        ({"baseline": "much"}, "baseline", "'baseline' must be a finite number (got 'much')"),
        (
            {"lift": 0.9},
            "lift",
            "'lift' must be such that baseline + lift is from 0 to 1, with baseline = 0.2 (got 0.9)",
        ),
        ({"policies": ["Magic"]}, "policies[0]", "'policies[0]' must be the name of a policy (got 'Magic')"),
        ({"floors": [0.6]}, "floors", "'floors' must be numbers from 0 to 1 / 2, with 2 arms (got 0.6)"),
        ({"delta": 1.0}, "delta", "'delta' must be a number strictly between 0 and 1 (got 1.0)"),
        ({"margin": math.inf}, "margin", "'margin' must be a finite number (got inf)"),
        ({"every": 0}, "every", "'every' must be an integer of at least 1 (got 0)"),
        ({"horizon": 10**9}, "horizon", "'horizon' must be at most 50000 over HTTP (got 1000000000)"),
        ({"horizon": 2.5}, "horizon", "'horizon' must be an integer of at least 1 (got 2.5)"),
        ({"horizon": 1}, "horizon", "'horizon' must be an integer of at least 2 (got 1)"),
        ({"replications": 1001}, "replications", "'replications' must be at most 1000 over HTTP (got 1001)"),
        ({"replications": -5}, "replications", "'replications' must be an integer of at least 2 (got -5)"),
        ({"arms": 21}, "arms", "'arms' must be at most 20 over HTTP (got 21)"),
        (
            {"policies": ["TopTwo", "RDS"], "floors": [k / 20 for k in range(6)]},
            "policies",
            "'policies' must be at most 12 pairs of a policy and a floor, including the equal split (got 13)",
        ),
        ({"seed": -1}, "seed", "'seed' must be "),
        ({"bandit": PAST}, "baseline", "'baseline' must be left out if past rewards are given, and so must lift"),
        ({**ALONE, "bandit": PAST}, "bounds", "'bounds' must be around all rewards, from 0 to 2"),
        (
            {**ALONE, "bandit": {"a": [], "b": [0]}},
            "bandit['a']",
            "'bandit['a']' must be at least two rewards (got [])",
        ),
        ({**ALONE, "bandit": {"a": [1e308] * 2, "b": [0, 1]}}, "bandit['a']", "must be a law with a finite mean"),
        ({"bounds": [-1e308, 1e308]}, "bounds", "'bounds' must be at most 1e+100 apart: choose another unit"),
        ({"trials": 100}, "trials", "'trials' must be left out: the fields are bandit, baseline, lift, "),
    ],
)
def test_plans_that_make_no_sense_are_refused(web, wrong, field, message):
    body = json.dumps({**QUICK, **wrong})  # httpx would refuse to send NaN
    answer = web.post("/api/plan", content=body, headers={"Content-Type": "application/json"})
    assert message in refused(answer, 422, field)["error"]


def test_nothing_is_simulated_for_a_plan_that_makes_no_sense(monkeypatch):
    monkeypatch.setattr(planning, "_played", None)
    for wrong in ({"lift": 0.9}, {"seed": -1}, {"horizon": 0}, {"policies": ["RDS"], "floors": [0.0] * 5 + [0.7]}):
        with pytest.raises(db.ArgumentError):
            plans.simulated(plan_question.PlanQuestion(**{**QUICK, **wrong}))


def test_the_client_refuses_what_cannot_be_sent(studies):
    coins = db.Bandit([db.Bernoulli(0.2), db.Bernoulli(0.4)])
    with pytest.raises(db.ArgumentError, match="'bandit' must be past rewards, but the arm 'arm 0' is not"):
        studies.plan(coins)
    with pytest.raises(db.ArgumentError, match=r"'baseline' must be a finite number \(got nan\)"):
        studies.plan(baseline=math.nan, lift=0.1)
    with pytest.raises(db.ArgumentError, match=r"at most 50000 over HTTP \(got 50001\)"):
        studies.plan(baseline=0.1, lift=0.1, horizon=50_001)
    with pytest.raises(TypeError, match="trials"):
        studies.plan(baseline=0.1, lift=0.1, trials=100)


def test_a_plan_whose_time_runs_out(monkeypatch):
    monkeypatch.setattr(plans, "SECONDS", -1.0)
    with pytest.raises(db.ArgumentError, match=r"'horizon' must be fewer, because two studies .* \(got 300\)"):
        plans.simulated(plan_question.PlanQuestion(**QUICK))
    monkeypatch.undo()
    assert not plans.simulated(plan_question.PlanQuestion(**QUICK)).interrupted  # the next one is not refused


FORM = {"baseline": "20", "lift": "60", "horizon": "300"}


@pytest.mark.parametrize(("path", "content"), [("/api/plan", {"json": QUICK}), ("/plan", {"data": FORM})])
def test_a_plan_ends_with_its_client(tmp_path, monkeypatch, path, content):
    begun, ended = multiprocessing.Event(), multiprocessing.Event()
    played = planning._played

    def until_stopped(policy, share, tapes, seeds, rule, stop):
        if tapes.shape[2] > tapes.shape[1]:  # longer than the games that only compile
            begun.set()
            until(lambda: stop[0])
            ended.set()
        return played(policy, share, tapes, seeds, rule, stop)

    db.plan(**QUICK)  # compiled before the fork
    monkeypatch.setattr(planning, "_played", until_stopped)
    service = Forked(tmp_path)
    monkeypatch.undo()
    try:
        headers = {"Authorization": f"Bearer {service.write}", "Cookie": f"{COOKIE}={service.write}"}
        request = httpx.Request("POST", service.url + path, headers=headers, **content)
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in request.headers.items()), "", ""]
        with socket.create_connection(("127.0.0.1", service.port)) as line:
            line.sendall("\r\n".join(lines).encode() + request.read())
            assert begun.wait(SECONDS)
            assert not ended.is_set()
        assert ended.wait(SECONDS)
    finally:
        service.stop()


def test_studies_are_used_while_one_plan_is_simulated(tmp_path, monkeypatch):
    begun, ended = multiprocessing.Event(), multiprocessing.Event()
    played = planning._played

    def waiting(*given):
        begun.set()
        assert ended.wait(SECONDS)
        return played(*given)

    db.plan(**QUICK)  # compiled before the fork
    monkeypatch.setattr(planning, "_played", waiting)
    service = Forked(tmp_path)
    monkeypatch.undo()
    try:
        with service.connect(patience=0) as studies, service.http(service.write) as line, ThreadPoolExecutor(2) as pool:
            first = pool.submit(line.post, "/api/plan", json=QUICK)
            assert begun.wait(SECONDS)
            try:
                study = studies.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), seed=1)
                study.tell(study.ask(), 1.0)
                assert study.summary()["told"].sum() == 1
                busy = line.post("/api/plan", json=QUICK)
                said = refused(busy, 503)
                assert said["kind"] == "StorageError"
                assert said["error"] == "another plan is being simulated: try again in a few seconds"
                assert int(busy.headers["Retry-After"]) > 0
                with pytest.raises(db.StorageError, match=r"stayed busy: another plan is being simulated.*seconds$"):
                    studies.plan(**QUICK)
                with httpx.Client(base_url=service.url, cookies={COOKIE: service.write}, timeout=60) as page:
                    shown = page.post("/plan", data={"baseline": "20", "lift": "60", "horizon": "301"})
                assert (shown.status_code, shown.headers["Retry-After"]) == (503, busy.headers["Retry-After"])
                assert "Another plan is being simulated: try again in a few seconds." in shown.text
                assert 'value="301"' in shown.text
                with service.connect() as patient:
                    second = pool.submit(patient.plan, **QUICK)  # it waits for the first
                    ended.set()
                    assert second.result().replications == 10
            finally:
                ended.set()
            assert first.result().status_code == 200
    finally:
        service.stop()


def test_no_piece_of_a_plan_is_lost():
    """The service also waits for the end of the connection, which must not take a piece of the body."""
    body, sent = json.dumps(QUICK).encode(), []
    pieces = [{"body": body[:10], "more_body": True}, {"body": body[10:]}]

    async def receive():
        message = pieces.pop(0) if pieces else await asyncio.Event().wait()
        await asyncio.sleep(0)
        return {"type": "http.request", **message}

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/plan", "raw_path": b"/api/plan", "headers": headers}
    scope |= {"query_string": b"", "scheme": "http", "http_version": "1.1", "client": ("127.0.0.1", 9)}
    answered = create_app(open_storage(None), None)({**scope, "server": ("127.0.0.1", 80)}, receive, send)
    asyncio.run(asyncio.wait_for(answered, SECONDS))
    assert sent[0]["status"] == 200, sent
