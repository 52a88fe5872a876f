"""The HTML table that shows a study in a notebook."""

from typing import TYPE_CHECKING

from dirichlet_bandits.display import html_tables

if TYPE_CHECKING:
    from dirichlet_bandits.live.reading import ReadableStudy

_NUMBERS = ("told", "pending", "mean", "std", "low", "high", "lift", "lift_low", "lift_high")


def study_html(study: "ReadableStudy") -> str:
    """Return one row per arm, the best in bold: trials, mean and interval."""
    summary, best = study.summary(), study.best_arm
    keys = [key for key in ("value", *_NUMBERS) if key in summary]
    level = f"{100 * summary.attrs['level']:g} %"
    headers = {"value": summary.attrs["objective"], "low": f"{level} from", "high": "to"}
    headers |= {"lift_low": "from", "lift_high": "to"}
    rows = [
        (
            f"{arm}" if row["active"] else f"{arm} (retired)",
            *(int(row[key]) if key in ("told", "pending") else float(row[key]) for key in keys),
        )
        for arm, row in summary.iterrows()
    ]
    marked = None if best is None else list(summary.index).index(best)
    unit = "" if study.reward_unit is None else f", rewards in {study.reward_unit}"
    caption = f"Study {study.name}: {study.policy!r}, {len(study)} trials{unit}"
    shown = ["arm", *(headers.get(key, key) for key in keys)]
    return html_tables.table(caption, shown, rows, marked=marked, below=f"interval: {summary.attrs['interval']}")
