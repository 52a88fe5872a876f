"""Floors of studies in a service."""

import pytest

import dirichlet_bandits as db


def test_floors_are_set_and_changed_by_the_client(studies):
    policy = db.UCB1(sigma=0.5)
    study = studies.create_study("floors", arms=["a", "b"], policy=policy, seed=1, floor={"a": 0.25})
    study.tell_many([trial.id for trial in study.ask(2)], [1.0, 0.0])
    assert study.floor == {"a": 0.25}
    before = study.propensities()
    assert before["a"] in (0.25, 1.0)
    study.set_floor(0.1)
    assert sorted(study.propensities().values()) == pytest.approx([0.1, 0.9])
    assert studies.load_study("floors").floor == 0.1
    study.set_floor(None)
    assert (study.floor, study.replay().same) == (0.0, True)
    for wrong in (0.6, {"c": 0.1}, {"a": 2.0}, "much"):
        with pytest.raises(db.ArgumentError, match="'floor"):
            study.set_floor(wrong)
    with pytest.raises(db.ArgumentError, match="'floor' must be at most 1 in all: those of 'a', 'b' sum"):
        studies.create_study("too much", arms=["a", "b"], floor=0.6)


def test_a_wrong_value_is_named_by_its_field(service):
    with service.http() as client:
        headers = {"Authorization": f"Bearer {service.write}", "Content-Type": "application/json"}
        for given, field, words in (
            ('"floor": NaN', "floor", "a finite number (got nan)"),
            ('"floor": "much"', "floor", "a number, or numbers by the names of arms (got 'much')"),
            (
                '"window": "24h", "late": "foo"',
                "late",
                "'abandon', or the reward that a missing answer means",
            ),
        ):
            body = '{"name": "wrong", "arms": ["a", "b"], ' + given + "}"
            answer = client.post("/api/studies", content=body, headers=headers)
            assert (answer.status_code, answer.json()["field"]) == (422, field)
            assert words in answer.json()["error"]
