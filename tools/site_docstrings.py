"""Docstrings as the API reference shows them: with lists of parameters; examples and roles become code.

This is an extension of Griffe.
"""

import re
from typing import Any

import griffe
from tools.site_parameters import section

SECTION = re.compile(r"^[A-Z]\w+\n-{3,}$", re.MULTILINE)
EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
ROLE = re.compile(r":\w+:`~?([^`]+)`")


class Examples(griffe.Extension):
    """Doctests stand in our docstrings without a heading: they become fences, or a section where there are sections."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called for everything that is loaded."""
        if obj.docstring is not None:
            public = (obj.is_class or obj.is_function) and not re.search(r"\._", obj.path)
            obj.docstring.value = shown(obj.docstring.value, section(obj.path) if public else "")


def shown(text: str, parameters: str = "") -> str:
    """A docstring in the words of the site, with a list of parameters before its first example if it has none.

    A doctest after ``Parameters`` would be taken for one of them, so it becomes a section.
    """
    text = ROLE.sub(r"`\1`", text)
    if parameters and not SECTION.search(text):
        example = EXAMPLE.search(text)
        cut = example.start() if example else len(text)
        text = f"{text[:cut].rstrip()}\n\n{parameters}\n\n{text[cut:]}"
    if SECTION.search(text):
        return EXAMPLE.sub(lambda found: f"Examples\n--------\n{found.group()}", text, count=1)
    return EXAMPLE.sub(lambda found: f"```pycon\n{found.group()}\n```", text)
