"""Notebook output that changes while a cell runs. It needs only IPython, which every notebook has."""

import importlib
import sys
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
