"""Put refusals into the words of the forms: labels instead of the names of parameters, no Python."""

import re
from typing import Final

from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError
from dirichlet_bandits.service.problems import words_of

LABELS: Final = {
    "name": "The name",
    "new": "The new name",
    "arms": "The list of arms",
    "n": "The number of trials",
    "id": "The trial",
    "lower": "The lowest possible value",
    "upper": "The highest possible value",
    "floor": "The floor",
    "floors": "The list of floors",
    "baseline": "The number of successes among 100 trials",
    "lift": "The number of further successes",
    "late": "What a missing answer counts as",
    "segments": "The list of segments",
    "confirm": "What you type to confirm",
    "frame": "The file",
    "history": "The past data",
    "file": "The file",
}
_LONGEST: Final = 300
_INDEXED: Final = re.compile(r"'(\w+)\[(\d+)\]'")
_PYTHON: Final = re.compile(r" \(load_if_exists=True[^)]*\)")


def for_people(error: DirichletBanditsError) -> str:
    """Return the message of a refusal as a sentence for the reader of a page.

    >>> from dirichlet_bandits.errors import ConflictError
    >>> for_people(ArgumentError("arms[1]", "a name of its own", "red"))
    "Arm 2 must be a name of its own (got 'red')."
    >>> for_people(ArgumentError("reward", "a number", "much"))
    "The reward must be a number (got 'much')."
    >>> for_people(ConflictError("there is a study 'page' (load_if_exists=True opens it)"))
    "There is a study 'page'."
    """
    text = _PYTHON.sub("", words_of(error))
    if isinstance(error, ArgumentError):
        if found := _INDEXED.match(text):  # the rows of a form and the lines of a file count from 1
            text = f"{found[1].removesuffix('s')} {int(found[2]) + 1}{text[found.end() :]}"
        elif text.startswith(f"'{error.name}'"):
            label = LABELS.get(error.name, f"The {error.name.replace('_', ' ')}")
            text = label + text.removeprefix(f"'{error.name}'")
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "…"
    text = text.replace(" (got '')", "").replace(", or None", "")
    return sentence(text)


def sentence(text: str) -> str:
    """Return a message as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "…")) else ".")
