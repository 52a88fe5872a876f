"""Docstrings as the API reference shows them: examples and roles become code (an extension of Griffe)."""

import re
from typing import Any

import griffe

SECTION = re.compile(r"^[A-Z]\w+\n-{3,}$", re.MULTILINE)
EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
ROLE = re.compile(r":\w+:`~?([^`]+)`")


class Examples(griffe.Extension):
    """Doctests stand in our docstrings without a heading: they become fences, or a section where there are sections."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called for everything that is loaded."""
        if obj.docstring is not None:
            obj.docstring.value = shown(obj.docstring.value)


def shown(text: str) -> str:
    """A docstring in the words of the site; a doctest after ``Parameters`` would be taken for one of them."""
    text = ROLE.sub(r"`\1`", text)
    if SECTION.search(text):
        return EXAMPLE.sub(lambda found: f"Examples\n--------\n{found.group()}", text, count=1)
    return EXAMPLE.sub(lambda found: f"```pycon\n{found.group()}\n```", text)
