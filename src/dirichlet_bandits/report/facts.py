"""What made the numbers: versions, machine, time."""

import importlib.metadata
import math
import platform
from pathlib import Path

from dirichlet_bandits.simulation.executors import cores

_PACKAGES = ("dirichlet-bandits", "numpy", "numba", "scipy", "xarray", "zarr", "matplotlib")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the numbers depend on.

    >>> "numpy" in versions()
    True
    """
    found = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"Python": platform.python_version(), **found}


def machine() -> str:
    """The processor, its usable cores and the operating system, in words."""
    n = cores()
    return f"{_processor()}, {n} core{'s' if n > 1 else ''}, {platform.system()}"


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(0.3), duration(75), duration(4000)
    ('0.3 s', '1 min 15 s', '1 h 7 min')
    """
    if math.isnan(seconds):
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {round(minutes % 60 + rest / 60)} min"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
