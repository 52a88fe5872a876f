"""What a service refuses: wrong fields, contradictions in the words of a study here, and which reason comes first."""

import pytest

import dirichlet_bandits as db
from tests.service.requests import refused

ABSENT = object()
LONG = "x" * 201
MANY = ["a"] * 1001
VALID = {  # bodies that the trials of ``target`` accept: 0 has a reward, 1 was abandoned, 2 is pending
    "studies": {"name": "fine", "arms": ["a", "b"]},
    "ask": {},
    "tell": {"id": 2, "reward": 1.0},
    "tell_many": {"ids": [2], "rewards": [1.0]},
    "abandon": {"id": 2},
    "reopen": {"id": 1},
    "void": {"id": 0, "reason": "typed twice"},
    "correct": {"id": 0, "reward": 2.0},
    "annotate": {"id": 0, "note": "hail"},
    "add_trials": {"trials": [{"arm": "a", "reward": 1.0}]},
    "add_arm": {"arm": "c"},
    "retire_arm": {"arm": "b"},
    "set_floor": {"floor": 0.1},
    "rename": {"name": "another"},
    "archive": {"archived": True},
    "delete": {"confirm": "nobody's"},
    "plan": {"baseline": 0.2, "lift": 0.6, "horizon": 100, "replications": 2},
    "estimate": {"choice": "a"},
    "declare_winner": {},
}
TOKENS = [path for path in VALID if path not in ("delete", "plan", "estimate", "declare_winner")]
WRONG = [
    *((path, {"unheard": 1}, "unheard") for path in VALID),
    *((path, {field: ABSENT}, field) for path, body in VALID.items() for field in body
      if (path, field) not in (("archive", "archived"), ("annotate", "note"))
      and path != "plan"),
    *((path, {"id": wrong}, "id")
      for path in VALID if "id" in VALID[path] for wrong in (-1, 2**63, 1.5, "2", True, None)),
    *((path, {"token": wrong}, "token") for path in TOKENS for wrong in (1, "", LONG, [])),
    *((path, {"arm": wrong}, "arm") for path in ("add_arm", "retire_arm") for wrong in (1, "", LONG)),
    *(("studies", {"name": wrong}, "name") for wrong in (1, "", LONG, None)),
    *(("studies", {"arms": wrong}, field)
      for wrong, field in (("ab", "arms"), ([], "arms"), (MANY, "arms"), ([1], "arms[0]"), (["a", LONG], "arms[1]"))),
    *(("studies", {"policy": wrong}, "policy") for wrong in (1, LONG, "Magic", "NPTS", "RDS(", "RDS().params")),
    *(("studies", {"seed": wrong}, "seed") for wrong in (-1, 2**128, 1.5, "one")),
    *(("studies", {"direction": wrong}, "direction") for wrong in ("up", 1)),
    *(("studies", {"control": wrong}, "control") for wrong in (1, LONG, "nobody")),
    *(("studies", {"reward_unit": wrong}, "reward_unit") for wrong in (1, "", LONG)),
    *(("studies", {"weight": wrong}, "weight") for wrong in (-0.1, 1.1, "much")),
    *(("studies", {"borrow": wrong}, "borrow") for wrong in (-0.1, 1.1, "much")),
    *(("studies", {"segments": wrong}, "segments") for wrong in ("ab", [], MANY)),
    *((path, {"floor": wrong}, "floor") for path in ("studies", "set_floor") for wrong in ("much", 1.5, -0.1)),
    *(("ask", {"n": wrong}, "n") for wrong in (0, -1, 1001, 1.5, "1", True)),
    *(("ask", {field: wrong}, field) for field in ("unit", "segment") for wrong in (1, "", LONG)),
    *((path, {"reward": wrong}, "reward") for path in ("tell", "correct") for wrong in ("1", True, None, [])),
    *(("tell_many", {"ids": wrong}, field) for wrong, field in ((2, "ids"), ([-1], "ids[0]"), (["2"], "ids[0]"))),
    *(("tell_many", {"rewards": wrong}, field) for wrong, field in ((1, "rewards"), (["1"], "rewards[0]"))),
    *((path, {"note": wrong}, "note") for path in ("tell", "annotate") for wrong in (1, "", "x" * 10_001)),
    *((path, {"attributes": wrong}, "attributes") for path in ("tell", "annotate") for wrong in (1, ["plot"])),
    *(("void", {"reason": wrong}, "reason") for wrong in (1, "", LONG)),
    *(("add_trials", {"trials": wrong}, field)
      for wrong, field in ((1, "trials"), ([1], "trials[0]"), ([{"arm": "a"}], "trials[0]"),
                           ([{"arm": "a", "reward": True}], "trials[0].reward"))),
    *(("rename", {"name": wrong}, "name") for wrong in (1, "", LONG)),
    *(("archive", {"archived": wrong}, "archived") for wrong in ("soon", 2, None)),
    *(("delete", {"confirm": wrong}, "confirm") for wrong in (1, "", LONG)),
    *(("plan", {field: "much"}, field) for field in ("baseline", "lift", "delta", "margin", "horizon", "replications")),
    *(("plan", {field: wrong}, field)
      for field, wrong in (("arms", 21), ("arms", 1), ("horizon", 50_001), ("horizon", 1), ("replications", 1001),
                           ("replications", 1), ("every", 0), ("seed", -1), ("delta", 1.0), ("baseline", 2.0))),
    *(("estimate", {"confidence": wrong}, "confidence") for wrong in (0.0, 1.0, "much")),
    *(("estimate", {"choice": wrong}, "choice") for wrong in (1, "", LONG, [])),
    *(("declare_winner", {"delta": wrong}, "delta") for wrong in (0.0, 1.0, "much")),
]  # fmt: skip


@pytest.mark.parametrize(("path", "change", "field"), WRONG)
def test_each_wrong_field_is_named_and_nothing_is_stored(web, target, everything, path, change, field):
    before = everything()
    body = {key: value for key, value in {**VALID[path], **change}.items() if value is not ABSENT}
    said = refused(web.post(f"/api/{path}", params={"study": target.name}, json=body), 422, field)
    assert said["kind"] == "ArgumentError"
    assert everything() == before


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("winner", {"delta": "1"}, "delta"),
        ("winner", {"margin": "much"}, "margin"),
        ("winner", {"unheard": "1"}, "unheard"),
        ("summary", {"bounds": ["1", "0"]}, "bounds"),
        ("summary", {"bounds": ["0"]}, "bounds"),
        ("summary", {"confidence": ["0.5", "0.9"]}, "confidence"),
        ("trials", {"first": "-1"}, "first"),
        ("trials", {"limit": "10001"}, "limit"),
        ("events", {"limit": "a few"}, "limit"),
        ("export", {"format": "xlsx"}, "format"),
        ("estimate_difference", {"a": "a"}, "b"),
        ("estimate_difference", {"a": "", "b": "b"}, "a"),
        ("estimate_difference", {"a": "a", "b": LONG}, "b"),
    ],
)
def test_each_wrong_field_of_a_query_is_named(web, target, path, query, field):
    said = refused(web.get(f"/api/{path}", params={"study": target.name, **query}), 422, field)
    assert said["kind"] == "ArgumentError"


CONTRADICTIONS = [  # each fits its fields, but not the trials, arms or tokens of the study
    ("tell", {"id": 99, "reward": 1.0}, 404, "NotFoundError"),
    ("tell", {"id": 0, "reward": 2.0}, 409, "ConflictError"),
    ("tell", {"id": 1, "reward": 2.0}, 409, "ConflictError"),
    ("tell_many", {"ids": [2, 99], "rewards": [1.0, 1.0]}, 404, "NotFoundError"),
    ("tell_many", {"ids": [2, 0], "rewards": [1.0, 7.0]}, 409, "ConflictError"),
    ("abandon", {"id": 99}, 404, "NotFoundError"),
    ("abandon", {"id": 0}, 409, "ConflictError"),
    ("reopen", {"id": 99}, 404, "NotFoundError"),
    ("reopen", {"id": 0}, 409, "ConflictError"),
    ("void", {"id": 99, "reason": "r"}, 404, "NotFoundError"),
    ("void", {"id": 2, "reason": "r"}, 409, "ConflictError"),
    ("correct", {"id": 99, "reward": 1.0}, 404, "NotFoundError"),
    ("correct", {"id": 2, "reward": 1.0}, 409, "ConflictError"),
    ("add_arm", {"arm": "a"}, 409, "ConflictError"),
    ("retire_arm", {"arm": "nobody"}, 404, "NotFoundError"),
    ("set_floor", {"floor": 0.6}, 422, "ArgumentError"),
]


@pytest.mark.parametrize(("path", "body", "status", "kind"), CONTRADICTIONS)
def test_a_study_there_refuses_in_the_words_of_one_here(web, target, everything, path, body, status, kind):
    here = db.create_study(target.name, arms=["a", "b"], seed=1)
    here.tell(here.ask().id, 1.0)
    here.abandon(here.ask().id)
    here.ask()
    with pytest.raises(db.DirichletBanditsError) as caught:
        getattr(here, path)(*body.values())
    before = everything()
    said = refused(web.post(f"/api/{path}", params={"study": target.name}, json=body), status)
    assert said["kind"] == kind == type(caught.value).__name__
    assert said["error"] == str(caught.value)
    assert everything() == before


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("abandon", {"id": 99}, 404),  # a trial is looked for before a token
        ("reopen", {"id": 99}, 404),
        ("tell", {"id": 99, "reward": 2.0}, 404),
        ("tell_many", {"ids": [99], "rewards": [2.0]}, 404),
        ("void", {"id": 99, "reason": "r"}, 404),
        ("correct", {"id": 99, "reward": 2.0}, 404),
        ("tell", {"id": 0, "reward": 2.0}, 409),  # a token comes before a contradiction
        ("abandon", {"id": 0}, 409),
        ("reopen", {"id": 0}, 409),
        ("void", {"id": 2, "reason": "r"}, 409),
        ("correct", {"id": 2, "reward": 2.0}, 409),
        ("add_arm", {"arm": "a"}, 409),
        ("retire_arm", {"arm": "nobody"}, 404),
        ("tell", {"id": 2, "reward": 1.0}, 409),  # and is refused even if nothing else is wrong
    ],
)
def test_which_of_several_reasons_comes_first(web, target, everything, path, body, status):
    where = {"study": target.name}
    assert web.post("/api/annotate", params=where, json={"id": 0, "note": "n", "token": "used"}).status_code == 200
    before = everything()
    said = refused(web.post(f"/api/{path}", params=where, json={**body, "token": "used"}), status)
    assert ("token 'used' was used for another call" in said["error"]) == (status == 409)
    assert everything() == before


def test_who_asks_comes_before_what_and_what_before_where(service, web, target):
    wrong, nowhere = {"id": -1, "reward": 1.0}, {"study": "nobody's"}
    with service.http(None) as stranger, service.http(service.read) as reader:
        refused(stranger.post("/api/tell", params=nowhere, json=wrong), 401)
        refused(reader.post("/api/tell", params=nowhere, json=wrong), 403)
    refused(web.post("/api/tell", params=nowhere, json=wrong), 422, "id")
    refused(web.post("/api/tell", params=nowhere, json=VALID["tell"]), 404)
    replaced = {"study": target.name, "identity": "another"}
    assert (
        refused(web.post("/api/tell", params=replaced, json={"id": 99, "reward": 1.0}), 409)["kind"] == "ReplacedError"
    )


@pytest.mark.parametrize("path", TOKENS)
def test_a_repeated_token_changes_nothing_and_has_the_same_answer(web, target, everything, path):
    where = {"study": target.name}
    body = {**VALID[path], "token": f"mine {path}"}
    if path in ("studies", "rename"):
        body["name"] = f"{target.name} {path}"
    first = web.post(f"/api/{path}", params=where, json=body)
    assert first.status_code == (201 if path == "studies" else 200)
    stored = everything()
    again = web.post(f"/api/{path}", params=where, json=body)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert everything() == stored


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("ask", {"n": 2}),
        ("tell", {"reward": 5.0}),
        ("tell_many", {"rewards": [5.0]}),
        ("void", {"reason": "another"}),
        ("correct", {"reward": 5.0}),
        ("annotate", {"note": "another"}),
        ("add_trials", {"trials": [{"arm": "a", "reward": 5.0}]}),
        ("add_arm", {"arm": "d"}),
        ("retire_arm", {"arm": "a"}),
        ("set_floor", {"floor": 0.2}),
    ],
)
def test_a_token_of_another_call_is_refused(web, target, everything, path, change):
    where = {"study": target.name}
    assert web.post(f"/api/{path}", params=where, json={**VALID[path], "token": "once"}).status_code == 200
    stored = everything()
    said = refused(web.post(f"/api/{path}", params=where, json={**VALID[path], **change, "token": "once"}), 409)
    assert said["kind"] == "ConflictError"
    assert "'once'" in said["error"]
    assert everything() == stored
