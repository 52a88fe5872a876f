"""Progress bars and spinners for long work: silent when the output is not a terminal, or when told."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_open: list["Progress"] = []  # bars of this process, shown or not


@contextmanager
def bars(totals: Mapping[str, int], show: bool | None, what: str) -> Iterator["Bars"]:
    """A bar for each name; ``show=None`` means only on a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(what),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    visible = sys.stderr.isatty() if show is None else show
    with Progress(*columns, console=console, disable=not visible, transient=True) as progress:
        _open.append(progress)
        try:
            yield Bars(progress, totals)
        finally:
            _open.remove(progress)


def busy(text: str) -> Callable[[], None]:
    """Say on a terminal what takes time, with a spinner until the answer is called.

    Where there are bars it is a line above them, and nothing if they were not to be shown.
    """
    if _open:
        bar = _open[-1]
        if not bar.disable:
            bar.console.print(text)
        return lambda: None
    if not sys.stderr.isatty():
        return lambda: None
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    spinner = Progress(*columns, console=Console(stderr=True), transient=True)
    spinner.add_task(text, total=None)
    spinner.start()
    return spinner.stop


class Bars:
    """Handle on the bars of :func:`bars`."""

    def __init__(self, progress: "Progress", totals: Mapping[str, int]) -> None:
        self._progress = progress
        self._tasks = {name: progress.add_task(name, total=total) for name, total in totals.items()}

    def show(self, name: str, done: int, total: int | None = None) -> None:
        """Set how much of one bar is done, and of how much if that was not known before."""
        self._progress.update(self._tasks[name], completed=done, total=total)
