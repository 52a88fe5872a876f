"""Charts of a study as inline SVG: histograms, intervals and small shares; ``static/charts.js`` draws all others.

They need no script and load nothing; every text is escaped, and every color comes from the style sheet.

They are 360 units wide, so that a phone shows letters at their full size. Each shape has a title, which shows its
numbers when you point at it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from dirichlet_bandits.display.numbers import aligned, in_percent, short
from dirichlet_bandits.live.records import TOLD
from dirichlet_bandits.service.dashboard.series import OTHERS, Series
from dirichlet_bandits.types import Floats

WIDTH: Final = 360

MOST_INTERVALS: Final = 20
"""At most so many arms, and the control, have their intervals drawn."""

_BINS: Final = 24
_MOST_DECIMALS: Final = 6
_GRAY: Final = 8  # the color of all other arms


class Scale:
    """A linear map from values to positions."""

    def __init__(self, low: float, high: float, first: float, last: float) -> None:
        self.low, self.high, self.first, self.last = low, high, first, last

    def __call__(self, value: float) -> float:
        """Return the position of a value."""
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)


def swatch(k: int) -> Markup:
    """Return a square in the color of arm ``k``."""
    square = f'<rect class="fill c{k}" width="12" height="12" rx="2"/>'
    return Markup(f'<svg class="swatch" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">{square}</svg>')


def sparkline(found: Series) -> Markup:
    """Draw the share of each arm over time, stacked and without axes, for a card."""
    x, y = Scale(0, max([*found.at[-1:], 1]), 0, WIDTH), Scale(0.0, 1.0, 48, 0)
    return _svg(48, "Share of each arm over time", _areas(found, x, y), "spark")


def forest(rows: Sequence[Mapping[str, Any]], trials: pd.DataFrame, decimals: int | None = None) -> Markup:
    """Draw the mean and the interval of each arm on one axis, with a line at the mean of the control.

    ``rows`` are those of the table of arms, from the best down. An end of an interval that is outside of the axis has
    no cross stroke.
    """
    shown = [row for k, row in enumerate(rows) if k < MOST_INTERVALS or row["control"]]
    shown = [row for row in shown if math.isfinite(row["mean"])]
    if not shown:
        return Markup("")
    x, step = _interval_scale(shown, trials), 40
    height = step * len(shown) + 26
    parts = [_axis_x(x.low, x.high, height - 22, x)]
    marked = [row["mean"] for row in shown if row["control"]]
    parts += [f'<path class="control" d="M{x(mean):.1f} 18V{height - 22}"/>' for mean in marked]
    for k, row in enumerate(shown):
        named = row["arm"] + (" (control)" if row["control"] else "")
        parts += _label(step * k + 13, named, _interval_words(row, decimals))
        parts += _interval(x, step * k + 26, row)
    return _svg(height, "Mean and interval of each arm", parts)


def _interval_scale(rows: Sequence[Mapping[str, Any]], trials: pd.DataFrame) -> Scale:
    """Return one axis for the intervals of all arms, which does not extend far beyond the rewards."""
    rewards = trials.loc[trials["status"] == TOLD, "reward"].to_numpy(float)
    bounds = np.array([[row["mean"], row["low"], row["high"]] for row in rows], float)
    finite = bounds[np.isfinite(bounds)]
    room = 0.05 * (rewards.max() - rewards.min())
    low, high = max(finite.min(), rewards.min() - room), min(finite.max(), rewards.max() + room)
    return Scale(*_padded(low, high), 16, WIDTH - 16)


def _interval_words(row: Mapping[str, Any], decimals: int | None) -> str:
    ends = [aligned(row["low"], decimals), aligned(row["high"], decimals)]
    return aligned(row["mean"], decimals) + (f" ({ends[0]} to {ends[1]})" if all(ends) else "")


def _interval(x: Scale, y: float, row: Mapping[str, Any]) -> list[str]:
    """Draw the mean and the interval of one arm."""
    k = row["color"]
    ends = [(end, min(max(end, x.low), x.high)) for end in (row["low"], row["high"]) if math.isfinite(end)]
    parts = []
    if len(ends) == 2:
        left, right = x(ends[0][1]), x(ends[1][1])
        parts.append(f'<path class="line c{k}" d="M{left:.1f} {y}H{max(right, left + 0.5):.1f}"/>')
        parts += [f'<path class="line c{k}" d="M{x(end):.1f} {y - 5}v10"/>' for end, shown in ends if end == shown]
    return [*parts, f'<circle class="fill c{k}" cx="{x(row["mean"]):.1f}" cy="{y}" r="4.5"/>']


def histograms(arms: Sequence[str], trials: pd.DataFrame, level: float | None = None, costs: bool = False) -> Markup:
    """Draw the rewards of each arm on one axis; with a level, that share of the worst rewards is shaded."""
    told = trials[(trials["status"] == TOLD) & trials["arm"].isin(arms)]
    if told.empty:
        return Markup("")
    rewards, which = told["reward"].to_numpy(float), told["arm"].to_numpy()
    low, high = _padded(rewards.min(), rewards.max())
    x, step = Scale(low, high, 12, WIDTH - 12), 62
    height = step * len(arms) + 26
    parts = [_axis_x(low, high, height - 22, x)]
    for k, arm in enumerate(arms):
        values, base = np.sort(rewards[which == arm])[:: -1 if costs else 1], step * (k + 1) - 4
        in_tail = values[: math.ceil(level * values.size)] if level is not None else values[:0]
        parts.append(f'<path class="grid" d="M12 {base}H{WIDTH - 12}"/>')
        parts += _bars(values, in_tail, x, base, f"c{k}" + (" body" if level is not None else ""))
        parts += _label(step * k + 13, arm, f"rewards: {values.size:,}")
    shaded = "" if level is None else f"; the {'highest' if costs else 'lowest'} {in_percent(level)} are shaded"
    return _svg(height, f"Histograms of the rewards of each arm{shaded}", parts)


def _bars(values: Floats, in_tail: Floats, x: Scale, base: float, color: str) -> list[str]:
    """Draw the bars of one arm; the part in the lower tail is drawn over them, darker."""
    counts, edges = np.histogram(values, bins=_BINS, range=(x.low, x.high))
    below, _ = np.histogram(in_tail, bins=_BINS, range=(x.low, x.high))
    most = max(int(counts.max()), 1)
    parts = []
    for count, tail, left, right in zip(counts.tolist(), below.tolist(), edges[:-1], edges[1:], strict=True):
        place, wide = f'x="{x(left):.1f}"', f'width="{max(x(right) - x(left) - 1, 1):.1f}"'
        said = f"<title>{short(left)} to {short(right)}: {count:,}</title>"
        for number, kind in ((count, color), (tail, f"{color.split()[0]} tail")):
            if number:
                tall = 38 * number / most
                box = f'{place} y="{base - tall:.1f}" {wide} height="{tall:.1f}"'
                parts.append(f'<rect class="fill {kind}" {box}>{said}</rect>')
    return parts


def _areas(found: Series, x: Scale, y: Scale) -> list[str]:
    """Draw one area per arm, each stacked on those before it."""
    if not found.at:
        return []
    places = [x(0), *(x(at) for at in found.at)]
    below = np.zeros(len(places))
    parts = []
    for k, share in enumerate(found.share):
        above = np.minimum(below + np.concatenate([share[:1], share]), 1.0)
        edge = [*zip(places, above.tolist(), strict=True), *reversed([*zip(places, below.tolist(), strict=True)])]
        points = " ".join(f"{left:.1f},{y(up):.1f}" for left, up in edge)
        named, color = (found.arms[k], k) if k < len(found.arms) else (OTHERS, _GRAY)
        said = f"<title>{escape(named)}: {100 * share[-1]:.1f}% of the last {found.window} trials</title>"
        parts.append(f'<polygon class="fill c{color}" points="{points}">{said}</polygon>')
        below = above
    return parts


def _svg(height: int, title: str, parts: Sequence[str], kind: str = "chart") -> Markup:
    head = f'<svg class="{kind}" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}"'
    return Markup(head + (' preserveAspectRatio="none">' if kind == "spark" else ">") + "".join(parts) + "</svg>")


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _label(y: float, name: str, value: str) -> list[str]:
    """Return the name of an arm, cut to the room that the value leaves."""
    room = (WIDTH - 40) // 7 - len(value)
    cut = name if len(name) <= room else name[: max(room - 1, 3)] + "…"
    return [_text(12, y, cut), _text(WIDTH - 12, y, value, "end")]


def _axis_x(low: float, high: float, y: float, x: Scale) -> str:
    marks = [f'<path class="axis" d="M{x(low):.1f} {y}H{x(high):.1f}"/>']
    ticks = _ticks(low, high)
    places = -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9) if len(ticks) > 1 else None
    decimals = None if places is None or places > _MOST_DECIMALS or max(map(abs, ticks)) >= 1e9 else max(places, 0)
    for tick in ticks:
        anchor = "start" if x(tick) < 20 else "end" if x(tick) > WIDTH - 20 else "middle"
        marks.append(
            f'<path class="axis" d="M{x(tick):.1f} {y}v4"/>' + _text(x(tick), y + 16, aligned(tick, decimals), anchor)
        )
    return "".join(marks)


def _padded(low: float, high: float) -> tuple[float, float]:
    """Return a range that is wide enough to draw."""
    if high - low > 1e-9 * max(abs(low), abs(high), 1e-200):
        return float(low), float(high)
    room = max(abs(low) * 0.05, 0.5)
    return float(low - room), float(high + room)


def _ticks(low: float, high: float) -> list[float]:
    """Return a few round numbers in a range.

    >>> _ticks(0.0, 103.0)
    [0.0, 50.0, 100.0]
    """
    rough = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((m * size for m in (1.0, 2.0, 5.0, 10.0) if m * size >= rough), 10 * size)
    first = math.ceil(low / step)
    return [k * step for k in range(first, first + 7) if k * step <= high]
