"""Build a wheel that starts at once: it carries all policies, compiled for a baseline processor.

    python tools/platform_wheel.py      # the same as make wheel; the wheel is left in dist/

The wheel serves the Python and the Numba that built it, on x86-64 processors with AVX2 (level v3, those since 2013).
With any other version or processor, policies are compiled when they are first used, as with a pure wheel.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASELINE = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
FEATURES = ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt")
PROCESSOR = (
    "from numba.core.registry import cpu_target; print(*cpu_target.target_context.codegen().magic_tuple(), sep='|')"
)


def main(policies: list[str]) -> None:
    """Compile, and build the wheel."""
    with tempfile.TemporaryDirectory() as name:
        cache, compiled = Path(name, "cache"), Path(name, "compiled")
        compiled.mkdir()
        settings = {
            **os.environ,
            **BASELINE,
            "NUMBA_CACHE_DIR": str(cache),
            "DIRICHLET_BANDITS_COMPILED": str(compiled),
        }
        subprocess.run([sys.executable, "-m", "dirichlet_bandits", "compile", *policies], env=settings, check=True)
        for file in cache.rglob("*.nbc"):
            shutil.copy(file, compiled)
        asked = subprocess.check_output([sys.executable, "-c", PROCESSOR], env=settings, text=True)
        described = {"processor": asked.rstrip("\n").split("|"), "features": FEATURES}
        (compiled / "processor.json").write_text(json.dumps(described))
        build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(ROOT / "dist"), str(ROOT)]
        subprocess.run([sys.executable, *build], env=settings, check=True)
    newest = max((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
    print(f"built {newest.relative_to(ROOT)}, {newest.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
