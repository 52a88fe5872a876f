"""Write chapters to files: figures as PNG and PDF, tables as CSV, one self-contained page, a Markdown summary."""

import base64
import datetime
import importlib.metadata
import io
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from dirichlet_bandits.display.numbers import duration, measured
from dirichlet_bandits.report.chapters import Chapter, ChapterFigure, Unread, headline, otherwise, statements
from dirichlet_bandits.report.claims import Paper
from dirichlet_bandits.report.figures import mark, themed
from dirichlet_bandits.report.judging import OUTCOMES, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PIXELS_PER_INCH = 150
_PACKAGES = ("dirichlet-bandits", "numpy", "numba", "scipy", "xarray", "zarr", "matplotlib")


@dataclass(frozen=True)
class Making:
    """How a report was made: replications of a quick run (None at full scale), command, wall-clock time, and machine.

    ``unread`` are the experiments on other readings of the paper that were not run.
    """

    quick_runs: int | None
    command: str
    wall: float
    paper: Paper
    machine: str
    unread: Sequence[Unread] = ()


def write(chapters: Sequence[Chapter], out: Path, making: Making) -> Path:
    """Write the whole report into ``out``, and return the path of its page."""
    for folder in ("figures", "tables"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    first = headline(chapters, making.paper.own)
    if first is not None and making.quick_runs is not None:
        mark(first.figure, f"quick run: {making.quick_runs} replications")
    pictures = [picture for chapter in chapters for picture in chapter.pictures] + ([first] if first else [])
    images = {picture.name: _save(picture.figure, out / "figures" / picture.name) for picture in pictures}
    for chapter in chapters:
        for table in chapter.tables:
            table.frame.to_csv(out / "tables" / f"{table.name}.csv", index=False)
        if chapter.verdicts:
            _claims_frame(chapter.verdicts).to_csv(out / "tables" / f"{chapter.name}-claims.csv", index=False)
    page = out / "index.html"
    for template, file in (("page.html", page), ("results.md", out / "results.md")):
        file.write_text(_render(template, chapters, making, images, first), encoding="utf-8")
    return page


def sentence(verdict: Verdict) -> str:
    """Describe the comparison that decides, in words."""
    c = verdict.closest
    what = c.what[0].upper() + c.what[1:] if len(verdict.comparisons) == 1 else f"Least in favor: {c.what}"
    text = f"{what}: {measured(c.value)}"
    if c.low < c.high:
        text += f" [{measured(c.low)}, {measured(c.high)}]"
    if not math.isnan(c.ratio):
        text += f", ratio {measured(c.ratio)}"
    limits = [
        f"{'above' if end == c.least else 'below'} {measured(end)}" for end in (c.least, c.most) if math.isfinite(end)
    ]
    text += f"; should be {' and '.join(limits)}"
    return text + (f"; {verdict.pairs} replications." if verdict.pairs else ".")


def _render(
    template: str, chapters: Sequence[Chapter], making: Making, images: dict[str, str], first: ChapterFigure | None
) -> str:
    """Fill a template with the chapters."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only those who write a report wait for it

    environment = Environment(
        loader=PackageLoader("dirichlet_bandits.report", "."),
        autoescape=template.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(
        making=making,
        chapters=[chapter for chapter in chapters if not chapter.paper.of],
        reread=[chapter for chapter in chapters if chapter.paper.of],
        everything=chapters,
        otherwise=otherwise,
        statements=statements,
        outcomes=OUTCOMES,
        headline=first,
        images=images,
        versions=versions(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        duration=duration,
        short=measured,
        sentence=sentence,
        zip=zip,
    )


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the numbers depend on.

    >>> "numpy" in versions()
    True
    """
    found = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"Python": platform.python_version(), **found}


def _save(figure: "Figure", path: Path) -> str:
    """Save a figure as PNG and PDF, and return it as an SVG data URI, which is sharp on phones and in print."""
    from matplotlib import rc_context

    figure.savefig(path.with_name(path.name + ".png"), dpi=_PIXELS_PER_INCH)
    figure.set_layout_engine(None)  # everything has its place now, and finding it takes most of the time
    figure.savefig(path.with_name(path.name + ".pdf"), metadata={"CreationDate": None})
    buffer = io.StringIO()
    with rc_context({"svg.hashsalt": path.name}):  # equal figures give equal bytes
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(themed(buffer.getvalue()).encode()).decode("ascii")


def _claims_frame(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Return every comparison of every claim, one row per comparison."""
    return pd.DataFrame(
        [
            {
                "claim": verdict.says,
                "read_as": verdict.reading,
                "claim_outcome": verdict.outcome,
                "comparison": c.what,
                "value": c.value,
                "low": c.low,
                "high": c.high,
                "should_exceed": c.least,
                "should_stay_below": c.most,
                "ratio": c.ratio,
                "outcome": c.outcome,
                "replications": verdict.pairs,
            }
            for verdict in verdicts
            for c in verdict.comparisons
        ]
    )
