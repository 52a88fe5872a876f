"""Where the studies of the state machine are: in memory, in files, on PostgreSQL, and in a service over HTTP."""

import threading

import uvicorn

import dirichlet_bandits as db
from dirichlet_bandits.service.app import create_app
from dirichlet_bandits.storage import MemoryStorage, open_storage
from tests.bounds import join, until
from tests.service.running import free_port

TAKEN = "taken"  # the name of another study


class Served:
    """A service in a thread of this process, so that tests may set its clock."""

    def __init__(self, storage):
        port = free_port()
        config = uvicorn.Config(create_app(storage, None), "127.0.0.1", port, ws="none", log_level="critical")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        until(lambda: self.server.started)
        self.client = db.connect(f"http://127.0.0.1:{port}")

    def close(self):
        self.client.close()
        self.server.should_exit = True
        join(self.thread)


class Places:
    """All storages."""

    def __init__(self, folder, postgres=None):
        urls = {"memory": MemoryStorage(), "SQLite": f"sqlite:///{folder}/studies.db", "HTTP": MemoryStorage()}
        urls |= {} if postgres is None else {"PostgreSQL": postgres}
        self.storages = {place: open_storage(url, create=True) for place, url in urls.items()}
        self.served = Served(self.storages["HTTP"])
        for storage in self.storages.values():
            db.create_study(TAKEN, arms=["a", "b"], storage=storage)

    def close(self):
        self.served.close()
        for place in ("SQLite", "PostgreSQL"):
            if place in self.storages:
                self.storages[place].close()

    def create(self, name, settings, where):
        """Create a study in some places."""
        return {place: self._create(place, name, settings) for place in where if place in self.storages}

    def _create(self, place, name, settings):
        if place == "HTTP":
            return self.served.client.create_study(name, **settings)
        return db.create_study(name, storage=self.storages[place], **settings)

    def load(self, place, name):
        """Return another handle on a study, which knows nothing of it yet."""
        return self.served.client.load_study(name) if place == "HTTP" else db.load_study(name, self.storages[place])

    def names(self, place, archived):
        """Return the names of the studies that are archived, or that are not."""
        if place == "HTTP":
            return self.served.client.study_names(archived=archived)
        return db.study_names(self.storages[place], archived=archived)
