"""The real model is the normal state of these tests; without its files, those that run it are left out."""

import importlib.util
import os
from pathlib import Path

import pytest

import dirichlet_bandits
from dirichlet_bandits.crops.dssat import PACKAGE, Model, find_model


@pytest.fixture(scope="session")
def model() -> Model:
    """The real model: asked for by every test that runs it."""
    if importlib.util.find_spec(PACKAGE) is None:
        pytest.skip("the extra 'dssat' is not installed")
    return find_model()


@pytest.fixture
def child_env() -> dict[str, str]:
    """Environment of a Python process that imports the package under test."""
    source = str(Path(dirichlet_bandits.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source}
