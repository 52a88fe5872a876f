"""Build sdist and wheel, install the wheel into empty environments, and use it there as README.md says.

    python tools/smoke.py          # packages come from where pip finds them; a few minutes

The wheel is built from the sdist, so both are tried. The service that the client talks to runs in the environment of
this script, which needs the extra ``live``.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("sqlalchemy", "pyarrow", "fastapi", "uvicorn", "psycopg", "distributed", "DSSATTools")

CLIENT = """
import dirichlet_bandits as db
with db.connect({url!r}, patience=60) as service:
    study = service.create_study("smoke", arms=["a", "b"], policy=db.UCB1(sigma=1.0), seed=0)
    for trial in study.ask(2):
        study.tell(trial.id, 1.0 + trial.id)
    assert study.ask().propensity == 1.0
    assert list(study.summary()["told"]) == [1, 1]
    assert study.best_arm == service.load_study("smoke").best_arm
    try:
        study.trials_dataframe()
    except db.errors.MissingExtraError as error:
        print(error)
"""


def main() -> None:
    """Everything, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        use_without_extras(folder, wheel)
        use_the_client(folder, wheel)
    print("sound: sdist and wheel, README.md without extras, the client alone")


def build(folder: Path) -> Path:
    """The sdist, and the wheel that is made from it."""
    tools = environment(folder / "tools", "build")
    run(tools, "-m", "build", "--outdir", str(folder / "dist"), str(ROOT))
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    print(f"built: {sdist.name}, {wheel.name}")
    return wheel


def use_without_extras(folder: Path, wheel: Path) -> None:
    """The blocks of README.md that need no extra, and the command line."""
    python = environment(folder / "plain", str(wheel))
    check_absent(python, "urllib3", *EXTRAS)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.M)
    code = "".join(block for block in blocks if "storage=" not in block)
    (folder / "readme.py").write_text(code, encoding="utf-8")
    run(python, str(folder / "readme.py"), cwd=folder)
    run(python, "-m", "dirichlet_bandits", "policies", cwd=folder)
    run(python, "-m", "dirichlet_bandits", "example", "experiment.toml", cwd=folder)
    print("used without extras")


def use_the_client(folder: Path, wheel: Path) -> None:
    """``db.connect`` with the extra ``client`` only, to a service elsewhere."""
    python = environment(folder / "client", f"{wheel}[client]")
    check_absent(python, *EXTRAS)
    storage, port = f"sqlite:///{folder / 'smoke.db'}", free_port()
    serve = [sys.executable, "-m", "dirichlet_bandits", "serve", "--storage", storage, "--open", "--port", port]
    service = subprocess.Popen(serve)
    try:
        run(python, "-c", CLIENT.format(url=f"http://127.0.0.1:{port}"), cwd=folder)
    finally:
        service.terminate()
        service.wait()
    print("used as a client")


def free_port() -> str:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def environment(place: Path, *packages: str) -> Path:
    """The interpreter of a new environment with these packages and what they need."""
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def check_absent(python: Path, *modules: str) -> None:
    """An environment that has more than it should would prove nothing."""
    run(python, "-c", f"import importlib.util as u; assert not [m for m in {modules!r} if u.find_spec(m)]")


def run(python: Path, *arguments: str, cwd: Path | None = None) -> None:
    """A command of that environment, which must not see this one."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([str(python), *arguments], cwd=cwd, env=clean, check=True)


if __name__ == "__main__":
    main()
