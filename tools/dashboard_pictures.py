"""Take the screenshots of the dashboard that README.md and the site show.

    python -m tools.dashboard_pictures

It plays a study with a fixed seed, serves it on this machine and looks at it with Chromium, which must be installed.
"""

import random
import tempfile
from pathlib import Path

from tests.service.browser import browser
from tests.service.running import Running

import dirichlet_bandits as db

FIGURES = Path(__file__).parents[1] / "docs/figures"
CLICKS = {"green": 0.10, "blue": 0.13, "red": 0.08}
SIZES = {"dashboard": (1080, 1120), "dashboard_phone": (390, 844)}


def main() -> None:
    """Play, serve, look."""
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/studies.db"
        study = db.create_study(
            "buttons", arms=list(CLICKS), policy=db.NPTS(upper=1.0), control="green", floor=0.1, storage=storage, seed=3
        )
        visitors = random.Random(7)
        for _ in range(30):
            trials = study.ask(50)
            study.tell_many(trials, [float(visitors.random() < CLICKS[trial.arm]) for trial in trials])
        study.ask(3)
        study.storage.close()  # type: ignore[attr-defined]
        service = Running(folder, keyed=False, storage=storage)
        try:
            for name, (width, height) in SIZES.items():
                page = browser(f"{folder}/{name}", width, height)
                page.get(f"{service.url}/study?name=buttons")
                page.save_screenshot(str(FIGURES / f"{name}.png"))
                page.quit()
        finally:
            service.stop()


if __name__ == "__main__":
    main()
