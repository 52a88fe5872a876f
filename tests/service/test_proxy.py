"""Behind a real proxy: while the service is away the client waits, whatever the proxy says meanwhile."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

import dirichlet_bandits as db
from tests.service.proxy import Proxy
from tests.service.running import Forked, until_stopped

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """One that may be killed."""
    yield from until_stopped(Forked(tmp_path_factory.mktemp("behind")))


@pytest.fixture
def proxy(service, tmp_path):
    made = Proxy(tmp_path, service.port)
    made.start()
    yield made
    made.stop()


def test_a_restart_behind_a_proxy_is_waited_for(service, proxy):
    def gone():
        service.kill()
        yield 502
        service.start()

    def silent():  # it has the request, and takes too long
        proxy.start(slowest=1)
        os.kill(service.process.pid, signal.SIGSTOP)
        yield 504
        os.kill(service.process.pid, signal.SIGCONT)

    def silent_and_gone():
        proxy.start(slowest=60)
        os.kill(service.process.pid, signal.SIGSTOP)
        yield None
        service.kill()
        proxy.await_answer(502)
        service.start()

    def maintained():
        proxy.start(closed=True)
        yield 503
        proxy.start()

    def no_proxy():
        proxy.stop()
        yield None
        proxy.start()

    with db.connect(proxy.url, service.write, patience=300.0) as behind, ThreadPoolExecutor(1) as aside:
        study = behind.create_study("behind", arms=["a", "b"], seed=1)
        for id, calamity in enumerate((gone, silent, silent_and_gone, maintained, no_proxy)):
            steps = calamity()
            expected = next(steps)
            asked = aside.submit(study.ask)
            if expected is not None:
                proxy.await_answer(expected)
                assert not asked.done()
            next(steps, None)
            assert asked.result().id == id, calamity
            study.tell(id, 1.0)
    assert [event[1] for event in service.stored("behind")] == [0, 0] + [2, 3] * 5  # every thing once


def test_patience_ends_behind_a_proxy(service, proxy):
    with db.connect(proxy.url, service.write, patience=0.0) as behind:
        study = behind.create_study("patience", arms=["a", "b"], seed=1)
        service.kill()
        with pytest.raises(db.StorageError, match="cannot be reached: a proxy answered 502; it may have been written"):
            study.ask()
        with pytest.raises(db.StorageError, match=r"a proxy answered 502$"):
            study.pending  # noqa: B018 - a property that asks the service
        proxy.start(closed=True)
        with pytest.raises(db.StorageError, match="a proxy answered 503"):
            study.ask()
        service.start()
