"""Requests of every kind, and how a service refuses one."""

READS = ("study", "pending", "summary", "propensities", "winner", "trials", "events", "export", "replay")
WRITES = {
    "studies": {"name": "new", "arms": ["a"]},
    "plan": {"baseline": 0.2, "lift": 0.6, "horizon": 100, "replications": 2},
    "ask": {},
    "tell": {"id": 0, "reward": 1.0},
    "tell_many": {"ids": [0], "rewards": [1.0]},
    "abandon": {"id": 0},
    "reopen": {"id": 0},
    "void": {"id": 0, "reason": "r"},
    "correct": {"id": 0, "reward": 1.0},
    "annotate": {"id": 0, "note": "n"},
    "add_trials": {"trials": []},
    "rename": {"name": "another"},
    "archive": {},
    "delete": {"confirm": "nobody's"},
    "add_arm": {"arm": "x"},
    "retire_arm": {"arm": "a"},
    "set_floor": {"floor": 0.1},
    "declare_winner": {},
}


def refused(answer, status, field=None):
    assert answer.status_code == status, answer.text
    said = answer.json()
    assert set(said) == {"error", "field", "kind"}
    assert said["error"]
    if field is not None:
        assert said["field"] == field
    return said
