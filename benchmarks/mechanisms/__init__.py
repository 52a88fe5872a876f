"""What each mechanism of a shortcut is worth: its lines, and how much slower runs are without it.

One module per family of policies lists the mechanisms as edits that leave them out.
"""

from typing import NamedTuple

from tests.simulation.copies import Edit


class Mechanism(NamedTuple):
    """A mechanism, the policy that shows its worth, the functions it consists of, and how to leave it out.

    ``policy`` is an expression in ``db`` and ``upper``, the largest reward. ``parts`` are files of the package, or
    functions and classes in them as ``"file.py:name"``; their lines are counted.
    """

    name: str
    policy: str
    parts: tuple[str, ...]
    without: tuple[Edit, ...]
