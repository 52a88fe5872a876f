"""Storages to test with."""

import pytest

from dirichlet_bandits.storage import MemoryStorage, open_storage


def fresh_url(kind, request, tmp_path):
    """Of a database without tables."""
    return f"sqlite:///{tmp_path}/studies.db" if kind == "sqlite" else request.getfixturevalue("postgres").empty()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """A fresh database of each kind."""
    return fresh_url(request.param, request, tmp_path)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def storage(request, tmp_path):
    """An empty storage of each kind."""
    if request.param == "memory":
        yield MemoryStorage()
        return
    made = open_storage(fresh_url(request.param, request, tmp_path), create=True)
    yield made
    made.close()
