"""A service that starts compiles what its studies need, and says so."""

import asyncio
import time

import httpx

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.service.app import BackgroundCompiler, create_app
from dirichlet_bandits.storage import open_storage
from tests.service.running import Running


def test_policies_of_studies_are_compiled_when_the_service_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    storage = f"sqlite:///{tmp_path}/studies.db"
    for name in ("first", "second"):
        made = db.create_study(name, arms=["a", "b"], policy=db.UCB1(sigma=1.0), storage=storage, seed=0)
        local_of(made).storage.close()
    service = Running(tmp_path, keyed=False)
    try:
        while "compiled: UCB1" not in (log := service.log.read_text()):
            assert service._lives(), log
            time.sleep(0.1)
        with service.http() as web:
            assert "Compiling" not in web.get("/").text
    finally:
        service.stop()
    assert "compiling ahead, where it was not done before: UCB1\n" in log
    assert "compiling UCB1, once\n" in log
    assert log.index("compiling ahead") < log.index("compiling UCB1, once") < log.index("compiled: UCB1")


def test_the_pages_say_what_is_being_compiled():
    app = create_app(open_storage(None), None)

    async def page():
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as web:
            return (await web.get("/")).text

    assert "Compiling" not in asyncio.run(page())
    app.state.background_compiler.waiting = ["RDS", "UCB1"]
    assert "Compiling RDS, UCB1 once" in asyncio.run(page())


def test_a_study_that_cannot_be_read_keeps_no_other_from_it():
    storage = open_storage(None)
    db.create_study("good", arms=["a", "b"], policy=db.UCB1(sigma=1.0), storage=storage, seed=0)
    storage.create("foreign", {"policy": {"policy": "Mine"}, "seed": "0", "arms": ["a"]}, [])
    compiler = BackgroundCompiler(storage)
    assert compiler._policies() == {"UCB1": db.UCB1(sigma=1.0)}
    compiler.start().join()
    assert compiler.waiting == []
