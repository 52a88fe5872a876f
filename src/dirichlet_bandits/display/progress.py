"""Progress bars and spinners for long work on a terminal or in a notebook; silent elsewhere, or on request."""

import html
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook.

    >>> in_notebook()
    False
    """
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


class LiveArea:
    """An area below the running cell that shows one text at a time."""

    def __init__(self) -> None:
        display: Any = importlib.import_module("IPython.display")
        self._handle = display.display(_bundle("", ""), raw=True, display_id=True)

    def show(self, html: str, text: str) -> None:
        """Replace what is shown; ``text`` is for front ends without HTML."""
        self._handle.update(_bundle(html, text), raw=True)

    def clear(self) -> None:
        """Remove all output."""
        self.show("", "")


def _bundle(html: str, text: str) -> dict[str, str]:
    return {"text/html": html, "text/plain": text}


_REDRAW_SECONDS = 0.2  # a notebook that is updated more often falls behind

_open: list["Bars"] = []  # bars of this process, shown or not


class Bars:
    """Invisible bars: the handle that :func:`bars` yields where there is no terminal and no notebook."""

    def show(self, name: str, done: int, total: int | None = None) -> None:
        """Set how much of one bar is done, and optionally its new total."""

    def say(self, text: str) -> Callable[[], None]:
        """Show beside the bars what takes time, until the returned function is called."""
        return lambda: None

    def close(self) -> None:
        """Remove the bars."""


@contextmanager
def bars(totals: Mapping[str, int], show: bool | None, what: str) -> Iterator[Bars]:
    """Show one bar per name; ``show=None`` means only on a terminal or in a notebook."""
    made = _made(totals, show, what)
    _open.append(made)
    try:
        yield made
    finally:
        _open.remove(made)
        made.close()


def _made(totals: Mapping[str, int], show: bool | None, what: str) -> Bars:
    notebook = in_notebook()
    if show is False or (show is None and not notebook and not sys.stderr.isatty()):
        return Bars()
    return _NotebookBars(totals, what) if notebook else _TerminalBars(totals, what)


def busy(text: str) -> Callable[[], None]:
    """Show what takes time, with a spinner on a terminal, until the returned function is called.

    If there are bars, the text is shown beside them, or not at all if they are hidden.
    """
    if _open:
        return _open[-1].say(text)
    if in_notebook():
        area = LiveArea()
        area.show(f"<i>{html.escape(text)}...</i>", text)
        return area.clear
    if not sys.stderr.isatty():
        return lambda: None
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    spinner = Progress(*columns, console=Console(stderr=True), transient=True)
    spinner.add_task(text, total=None)
    spinner.start()
    return spinner.stop


class _TerminalBars(Bars):
    """Bars on stderr."""

    def __init__(self, totals: Mapping[str, int], what: str) -> None:
        from rich import progress
        from rich.console import Console

        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn(what),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left:"),
            progress.TimeRemainingColumn(),
        )
        self._progress = progress.Progress(*columns, console=Console(stderr=True), transient=True)
        self._tasks = {name: self._progress.add_task(name, total=total) for name, total in totals.items()}
        self._progress.start()

    def show(self, name: str, done: int, total: int | None = None) -> None:
        self._progress.update(self._tasks[name], completed=done, total=total)

    def say(self, text: str) -> Callable[[], None]:
        self._progress.console.print(text, markup=False)
        return super().say(text)

    def close(self) -> None:
        self._progress.stop()


class _NotebookBars(Bars):
    """Bars below the running cell; only the thread that calls :meth:`show` draws."""

    def __init__(self, totals: Mapping[str, int], what: str) -> None:
        self._rows = {name: (0, total) for name, total in totals.items()}
        self._what = what
        self._said = ""
        self._began = self._drawn = time.monotonic()
        self._area = LiveArea()
        self._draw()

    def show(self, name: str, done: int, total: int | None = None) -> None:
        self._rows[name] = (done, self._rows[name][1] if total is None else total)
        if time.monotonic() - self._drawn >= _REDRAW_SECONDS:
            self._draw()

    def say(self, text: str) -> Callable[[], None]:
        self._said = text

        def end() -> None:
            self._said = ""

        return end

    def close(self) -> None:
        self._area.clear()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        seconds = self._drawn - self._began
        done, total = (sum(row[column] for row in self._rows.values()) for column in (0, 1))
        left = f", {seconds * (total - done) / done:.0f} s left" if done else ""
        last = f"{seconds:.0f} s{left}" + (f"; {self._said}" if self._said else "")
        lines = [
            f"<tr><td>{html.escape(name)}</td><td><progress max='{n}' value='{k}'></progress></td>"
            f"<td>{k}/{n} {html.escape(self._what)}</td></tr>"
            for name, (k, n) in self._rows.items()
        ]
        said = ", ".join(f"{name} {k}/{n}" for name, (k, n) in self._rows.items())
        self._area.show(f"<table>{''.join(lines)}</table><small>{html.escape(last)}</small>", f"{said}; {last}")
