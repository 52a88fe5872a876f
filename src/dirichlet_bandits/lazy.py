"""Import public names when they are first used: ``import dirichlet_bandits`` and ``--help`` need none.

The stub beside a package's ``__init__.py`` is the only list of its public names. Editors and type checkers read it, and
so does the package itself.
"""

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


def public_names(package: str, *rooms: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package, which import and list the names in its stub.

    The stub has one line ``from home import name as name`` per name. Modules of the package are attributes too, and so
    are the public names of its ``rooms``, which earlier versions had in the package itself; neither are listed.
    """
    module = sys.modules[package]
    stub = Path(str(module.__file__)).with_suffix(".pyi")
    lines = [line for line in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(line, ast.ImportFrom)]
    homes = {name.name: str(line.module) for line in lines for name in line.names}

    def find(name: str) -> Any:
        if name == "__all__":
            return sorted(homes)
        if name.startswith("_"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes.get(name, package) != package:
            return getattr(importlib.import_module(homes[name]), name)
        if importlib.util.find_spec(f"{package}.{name}") is not None:
            return importlib.import_module(f"{package}.{name}")
        for room in rooms:
            found = importlib.import_module(f"{package}.{room}")
            if name in found.__all__:
                return getattr(found, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)

    def find_once(name: str) -> Any:
        value = find(name)
        setattr(module, name, value)
        return value

    return find_once, lambda: sorted(homes)


def whole_module(module: str) -> Any:
    """Import a module whole: Ctrl-C has no effect until it is imported.

    Half of an extension module, such as those of pyarrow, which pandas imports, can be neither used nor completed. So a
    thread imports it, because no signal handler can raise an exception there.
    """
    if module not in sys.modules:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(importlib.import_module, module).result()
    return importlib.import_module(module)
