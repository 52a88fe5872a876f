"""How the numbers were made: versions and machine."""

import importlib.metadata
import platform
from pathlib import Path

from dirichlet_bandits.simulation.executors import cores

_PACKAGES = ("dirichlet-bandits", "numpy", "numba", "scipy", "xarray", "zarr", "matplotlib")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the numbers depend on.

    >>> "numpy" in versions()
    True
    """
    found = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"Python": platform.python_version(), **found}


def machine() -> str:
    """Describe the processor, its usable cores and the operating system."""
    n = cores()
    return f"{_processor()}, {n} core{'s' if n > 1 else ''}, {platform.system()}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
