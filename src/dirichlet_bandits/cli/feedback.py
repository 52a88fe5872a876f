"""Options for when rewards become known: ``--delay``, ``--window``, ``--late`` and ``--batch``."""

from pathlib import Path
from typing import Any

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.specs import Language


def given_feedback(
    file: Path, *, delay: str | None, window: int | None, late: str | None, batch: str | None
) -> dict[str, Any]:
    """Return the arguments of ``simulate`` for these options; a .toml file provides those that are not given."""
    import dirichlet_bandits as db

    found: dict[str, Any] = {}
    if file.suffix.lower() == ".toml":
        found = db.experiments.read_feedback(file)
    if delay is not None:
        found["delay"] = parse_delay(delay)
    if window is not None:
        found["window"] = window
    if late is not None:
        found["late"] = late if late == "abandon" else _number("--late", late, "'abandon' or a reward")
    if batch is not None:
        found["batch"] = _batch(batch)
    return found


def parse_delay(text: str) -> Any:
    """Parse a delay written as a number or like a call, ``Geometric(0.1)``; nothing is executed.

    >>> parse_delay("20"), parse_delay("Geometric(p=0.1)")
    (20.0, Geometric(p=0.1))
    """
    from dirichlet_bandits.experiments.reading import DELAYS

    expected = "a number of pulls, or a distribution such as Geometric(0.1)"
    if not text.strip()[:1].isalpha():
        return _number("--delay", text, expected)
    try:
        return Language(expected, DELAYS).from_text(text, "--delay")
    except ArgumentError as error:
        if error.name == "--delay":
            raise
        _, wanted, got = error.args
        raise ArgumentError(f"--delay: {error.name.partition('.')[2]}", wanted, got) from None


def in_words(value: Any) -> Any:
    """Return a value for JSON: numbers and texts unchanged, lists of them, and distributions as text."""
    if isinstance(value, list):
        return [in_words(one) for one in value]
    return value if isinstance(value, str | int | float) else repr(value)


def _batch(text: str) -> Any:
    """Parse a size, the name of a grid, or sizes separated by commas."""
    if text.strip().isalpha():
        return text.strip()
    expected = "a size, a list of sizes, 'geometric' or 'minimax'"
    sizes = [_number("--batch", size, expected) for size in text.split(",")]
    whole = [int(size) if size.is_integer() else size for size in sizes]
    return whole[0] if len(whole) == 1 else whole


def _number(option: str, text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(option, expected, text) from None
