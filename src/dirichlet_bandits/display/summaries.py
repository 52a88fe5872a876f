"""Summaries: pandas tables that print what fits on a line."""

import textwrap
from typing import TYPE_CHECKING, Final

from dirichlet_bandits.display.numbers import belief, drift_words, earnings, lift_percent, number
from dirichlet_bandits.lazy import whole_module

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = whole_module("pandas")

_IMPORTANT: Final = (
    "told", "mean", "low", "high", "value", "value_low", "value_high", "probability_best", "lift_percent", "pending",
    "held", "late", "no_interval", "std", "lift", "lift_low", "lift_high", "abandoned", "voided", "active",
)  # fmt: skip
_OPTIONAL: Final = ("no_interval", "probability_best", "lift_percent")


class Summary(pd.DataFrame):  # type: ignore[misc]  # pandas has no types of its own
    """A table with more columns than fit on a line; printing shows the most important ones and names the others.

    Below the table, it prints the earnings compared with an equal split, and warns of arms that change.

    >>> print(Summary({"told": [1200], "mean": [0.10583], "std": [0.3]}, index=pd.Index(["green"], name="arm")))
           told   mean  std
    arm
    green  1200 0.1058  0.3
    """

    def __repr__(self) -> str:
        width = pd.get_option("display.width") or 80
        shown: list[str] = []
        table = ""
        for column in sorted(self.columns, key=lambda name: (*_IMPORTANT, name).index(name)):
            if column in _OPTIONAL and self[column].isna().all():
                continue
            text = _written(self[[name for name in self.columns if name in {*shown, column}]])
            if max(map(len, text.splitlines())) <= width:
                shown, table = [*shown, column], text
        if not shown:
            return super().__repr__()
        hidden = [name for name in self.columns if name not in shown]
        below = [f"not shown: {', '.join(hidden)}"] if hidden else []
        if "earned" in self.attrs and self["told"].sum():
            below.append(earnings(self.attrs))
        if "; careful: " in self.attrs.get("interval", ""):
            below.append(self.attrs["interval"].partition("; ")[2])
        if self.attrs.get("drift"):
            below.append(f"careful: {drift_words(self.attrs['drift'])}")
        return "\n".join([table, *(textwrap.fill(text, width) for text in below)])


def _written(table: pd.DataFrame) -> str:
    text = table.to_string(
        float_format=number,
        formatters={"probability_best": belief, "lift_percent": lift_percent},
        max_rows=pd.get_option("display.max_rows"),
    )
    return "\n".join(line.rstrip() for line in text.splitlines())
