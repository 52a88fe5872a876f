"""An environment for each library: they do not agree on NumPy and SciPy, and none belongs in our extras."""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".peers"


def interpreter(library: str, packages: tuple[str, ...]) -> Path:
    """The Python of a library's environment, made the first time; ours is the one that runs this."""
    if not packages:
        return Path(sys.executable)
    place = FOLDER / library
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (place / "ready").exists():
        print(f"installing {', '.join(packages)}", file=sys.stderr)
        venv.create(place, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        (place / "ready").touch()
    return python


def run(python: Path, *arguments: str) -> str:
    """What a module of benchmarks/peers prints in that environment, on one thread."""
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [str(python), "-W", "ignore", "-m", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **alone}, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
