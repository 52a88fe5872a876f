"""Pictures of a study as inline SVG: no script, no style sheet, nothing loaded; every text escaped.

They are 360 units wide, so that a phone shows letters at their full size.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

WIDTH: Final = 360
SHOWN: Final = 30
"""At most so many arms are drawn, those with the most trials."""

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#6b5b00", "#56b4e9", "#8b0000", "#555555")  # Okabe-Ito
_DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")
_LEFT: Final = 40
_RIGHT: Final = 10
_BINS: Final = 24
_POINTS: Final = 150


def colour(k: int) -> str:
    """The colour of the k-th arm, the same in every picture."""
    return _COLOURS[k % len(_COLOURS)]


def swatch(k: int) -> Markup:
    """A short piece of the k-th arm's line."""
    line = f'<line x1="0" x2="24" y1="6" y2="6" {_stroke(k)}/>'
    return Markup(f'<svg class="swatch" viewBox="0 0 24 12" width="24" height="12" aria-hidden="true">{line}</svg>')


def pulls(arms: Sequence[str], trials: pd.DataFrame) -> Markup:
    """Number of trials of each arm against the number of all."""
    n, height, bottom = len(trials), 200, 24
    at = np.unique(np.linspace(0, n, _POINTS + 1).astype(int))
    which = trials["arm"].to_numpy()
    counts = [np.concatenate([[0], np.cumsum(which == arm)])[at] for arm in arms]
    most = max([int(count[-1]) for count in counts] + [1])
    x, y = _Scale(0, max(n, 1), _LEFT, WIDTH - _RIGHT), _Scale(0, most, height - bottom, 10)
    parts = [_axis_x(0, max(n, 1), height - bottom, x, whole=True), _text(WIDTH - _RIGHT, height - 2, "trials", "end")]
    for tick in _ticks(0, most, whole=True):
        parts.append(_text(_LEFT - 5, y(tick) + 4, f"{tick:g}", "end"))
        parts.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>')
    for k, count in enumerate(counts):
        points = " ".join(f"{x(i):.1f},{y(c):.1f}" for i, c in zip(at.tolist(), count.tolist(), strict=True))
        parts.append(f'<polyline points="{points}" fill="none" {_stroke(k)}/>')
    return _svg(height, "Trials of each arm over time", parts)


def means(summary: pd.DataFrame) -> Markup:
    """Mean and interval of each arm."""
    bounds = summary[["mean", "low", "high"]].to_numpy(float)
    finite = bounds[np.isfinite(bounds)]
    if not finite.size or not summary["told"].any():
        return Markup("")
    low, high = _padded(finite.min(), finite.max())
    x = _Scale(low, high, 12, WIDTH - 12)
    height = 36 * len(summary) + 26
    parts = [_axis_x(low, high, height - 22, x)]
    for k, (arm, row) in enumerate(summary.iterrows()):
        top = 36 * k
        known = f"{row['mean']:.4g}" if row["told"] else "no reward yet"
        if row["told"] and math.isfinite(row["low"]):
            known += f" ({row['low']:.4g} to {row['high']:.4g})"
            left, right = x(row["low"]), x(row["high"])
            parts.append(f'<path d="M{left:.1f} {top + 25}H{right:.1f}" {_stroke(k)}/>')
            parts += [f'<path d="M{end:.1f} {top + 20}v10" {_stroke(k)}/>' for end in (left, right)]
        if row["told"]:
            parts.append(f'<circle cx="{x(row["mean"]):.1f}" cy="{top + 25}" r="5" fill="{colour(k)}"/>')
        parts += _label(k, top + 13, str(arm), known)
    return _svg(height, "Mean reward of each arm, with its interval", parts)


def histograms(arms: Sequence[str], trials: pd.DataFrame) -> Markup:
    """How the rewards of each arm are spread, all on one axis."""
    told = trials[trials["status"] == "told"]
    if told.empty:
        return Markup("")
    rewards, which = told["reward"].to_numpy(), told["arm"].to_numpy()
    low, high = _padded(rewards.min(), rewards.max())
    x, step = _Scale(low, high, 12, WIDTH - 12), 62
    height = step * len(arms) + 26
    parts = [_axis_x(low, high, height - 22, x)]
    for k, arm in enumerate(arms):
        values = rewards[which == arm]
        base = step * (k + 1) - 4
        counts, edges = np.histogram(values, bins=_BINS, range=(low, high))
        most = max(int(counts.max()), 1)
        parts.append(f'<path d="M12 {base}H{WIDTH - 12}" stroke="#ddd"/>')
        for count, left, right in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if count:
                tall, wide = 38 * count / most, x(right) - x(left) - 1
                box = f'x="{x(left):.1f}" y="{base - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}"'
                parts.append(f'<rect {box} fill="{colour(k)}"/>')
        parts += _label(k, step * k + 13, arm, f"{values.size} rewards" if values.size != 1 else "1 reward")
    return _svg(height, "Histograms of the rewards of each arm", parts)


def propensities(arms: Sequence[str], chances: Mapping[str, float]) -> Markup:
    """The probability of each arm to be in the next round."""
    x = _Scale(0, 1, 12, WIDTH - 12)
    parts = []
    for k, arm in enumerate(arms):
        top, chance = 34 * k, min(max(chances[arm], 0.0), 1.0)
        parts.append(f'<rect x="12" y="{top + 18}" width="{WIDTH - 24}" height="10" fill="#eee"/>')
        parts.append(f'<rect x="12" y="{top + 18}" width="{x(chance) - 12:.1f}" height="10" fill="{colour(k)}"/>')
        parts += _label(k, top + 13, arm, f"{chances[arm]:.4g}")
    return _svg(34 * len(arms), "Probability of each arm to be in the next round", parts)


def _svg(height: int, title: str, parts: Sequence[str]) -> Markup:
    head = f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
    return Markup(head + "".join(parts) + "</svg>")


def _stroke(k: int) -> str:
    dash = _DASHES[k // len(_COLOURS) % len(_DASHES)]
    return f'stroke="{colour(k)}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _label(k: int, y: float, name: str, value: str) -> list[str]:
    """The name of an arm, cut to the room that the value leaves."""
    room = (WIDTH - 40) // 7 - len(value)
    short = name if len(name) <= room else name[: max(room - 1, 3)] + "…"
    return [_text(12, y, short), _text(WIDTH - 12, y, value, "end")]


def _axis_x(low: float, high: float, y: float, x: "_Scale", whole: bool = False) -> str:
    marks = [f'<path d="M{x(low):.1f} {y}H{x(high):.1f}" stroke="#666"/>']
    for tick in _ticks(low, high, whole):
        anchor = "start" if x(tick) < 20 else "end" if x(tick) > WIDTH - 20 else "middle"
        marks.append(f'<path d="M{x(tick):.1f} {y}v4" stroke="#666"/>' + _text(x(tick), y + 16, f"{tick:g}", anchor))
    return "".join(marks)


class _Scale:
    """From values to places."""

    def __init__(self, low: float, high: float, first: float, last: float) -> None:
        self.low, self.high, self.first, self.last = low, high, first, last

    def __call__(self, value: float) -> float:
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)


def _padded(low: float, high: float) -> tuple[float, float]:
    """A range that is wide enough to be drawn."""
    if high - low > 1e-9 * max(abs(low), abs(high), 1e-200):
        return float(low), float(high)
    room = max(abs(low) * 0.05, 0.5)
    return float(low - room), float(high + room)


def _ticks(low: float, high: float, whole: bool = False) -> list[float]:
    """Some round numbers in a range.

    >>> _ticks(0.0, 103.0)
    [0.0, 50.0, 100.0]
    """
    rough = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((m * size for m in (1.0, 2.0, 5.0, 10.0) if m * size >= rough), 10 * size)
    if whole:
        step = max(1.0, step)
    first = math.ceil(low / step)
    return [k * step for k in range(first, first + 7) if k * step <= high]
