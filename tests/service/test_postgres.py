"""The service on a real PostgreSQL: the same answers, and a study outlives the service."""

import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from tests.service.running import Forked

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


@pytest.fixture
def service(postgres, tmp_path):
    running = Forked(tmp_path, storage=postgres.empty())
    yield running
    running.stop()


def test_a_study_on_postgresql_outlives_its_service(service, tmp_path):
    here = db.create_study("maize", arms=["26 Feb", "13 Mar"], seed=3)  # the same study, without service and database
    with service.connect() as studies:
        there = studies.create_study("maize", arms=["26 Feb", "13 Mar"], seed=3)
        with pytest.raises(db.ConflictError, match="load_if_exists"):
            studies.create_study("maize", arms=["26 Feb", "13 Mar"])
        first = there.ask(4, token="once")
        assert [trial[:3] for trial in first] == [trial[:3] for trial in here.ask(4)]
        for study in (here, there):
            study.tell(0, 3120.0)
            study.tell(0, 3120.0)  # twice is once
            with pytest.raises(db.ConflictError, match=r"was given 3120\.0"):
                study.tell(0, 3121.0)
        service.kill()
        service.start()
        assert there.ask(4, token="once") == first
        for study in (here, there):
            study.tell(0, 3120.0)  # also to another service
            with pytest.raises(db.ConflictError):
                study.tell(0, 3121.0)
            study.tell_many([1, 2], [2500.0, 2750.5])
            study.abandon(3)
            study.correct(1, 2550.0, "mistyped")
            study.void(2, "the wrong plot")
            study.annotate(1, note="hail", attributes={"plot": 7})
            study.add_trials({"arm": ["26 Feb"], "reward": [2000.0], "propensity": [0.5]})
            for _ in range(5):
                study.tell(study.ask().id, 2900.0)
            study.export(tmp_path / f"{type(study._transport).__name__}.csv")
        assert there.replay() == here.replay()
        assert there.replay().same
    mine, theirs = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("Local", "Http"))
    times = ["asked_at", "ended_at"]
    pd.testing.assert_frame_equal(mine.drop(columns=times), theirs.drop(columns=times))
    stored = db.load_study("maize", service.storage)  # the database itself
    assert stored.summary()["told"].sum() == 8
    assert [trial for _, _, trial, *_ in service.stored("maize")].count(0) == 2  # one ask, one tell
    local_of(stored).storage.close()
