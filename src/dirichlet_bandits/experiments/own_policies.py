"""The user's own policies in an experiment's file, by import path: ``policy = "module:Class"``."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.specs import FieldError


def is_import_path(text: object) -> bool:
    """Whether a policy is named by its import path, not by a name of the library.

    >>> is_import_path("mine:Greedy"), is_import_path("RDS")
    (True, False)
    """
    return isinstance(text, str) and ":" in text


def find_class(where: str, text: str, folder: Path) -> Callable[..., Any]:
    """Import the class that ``text`` names, from a module beside the experiment's file or on Python's path.

    Importing a module runs its code.
    """
    module_name, _, name = text.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module_name.split(".")):
        raise ArgumentError(where, "a policy of the library, or 'module:Class'", text)
    module = _module(where, module_name, folder)
    found = getattr(module, name, None)
    if not isinstance(found, type):
        classes = [key for key, value in vars(module).items() if isinstance(value, type) and key[0] != "_"]
        raise FieldError(
            f"'{where}': no class {name!r} in {module_name!r} (its classes: {', '.join(classes) or 'none'})"
        )
    if not issubclass(found, Policy) and not all(callable(getattr(found, verb, None)) for verb in ("select", "update")):
        raise ArgumentError(where, "a class with select(rng) and update(arm, reward), or a Policy", text)
    return found


def checked(where: str, policy: Any) -> Any:
    """Return the policy if it is one, else raise an error."""
    if not isinstance(policy, Policy | PythonPolicy):
        raise ArgumentError(where, "a policy, or an object with select(rng) and update(arm, reward)", policy)
    return policy


def _module(where: str, name: str, folder: Path) -> Any:
    beside = folder.resolve().joinpath(*name.split(".")).with_suffix(".py")
    loaded = sys.modules.get(name)
    if loaded is not None and beside.is_file() and Path(str(loaded.__file__)).resolve() != beside:
        raise FieldError(f"'{where}': another module {name!r} is already loaded from {loaded.__file__}: rename yours")
    with _first_looked_in(folder):
        try:
            return importlib.import_module(name)
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and error.name is not None and name.startswith(error.name):
                raise FieldError(f"'{where}': no module {name!r} beside the file or on Python's path") from error
            raise FieldError(f"'{where}': module {name!r} cannot be imported: {error!r}") from error


@contextmanager
def _first_looked_in(folder: Path) -> Iterator[None]:
    """Let Python look for modules in a folder first."""
    place = str(folder.resolve())
    sys.path.insert(0, place)
    try:
        importlib.invalidate_caches()
        yield
    finally:
        sys.path.remove(place)
