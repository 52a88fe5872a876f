"""Past rewards in a pandas frame: each option becomes a distribution that draws from its past rewards."""

from typing import TYPE_CHECKING

from dirichlet_bandits.arms.laws import Empirical
from dirichlet_bandits.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd


def laws_of_frame(frame: "pd.DataFrame", arm: str, reward: str) -> dict[str, Empirical]:
    """Return one distribution per value of the column ``arm``, from its rows in the column ``reward``."""
    columns = getattr(frame, "columns", None)
    if columns is None:
        raise ArgumentError("frame", "a pandas DataFrame", frame)
    for argument, column in (("arm", arm), ("reward", reward)):
        if list(columns).count(column) != 1:
            raise ArgumentError(argument, f"a column of the frame, one of {list(columns)}", column)
    if arm == reward:
        raise ArgumentError("reward", "another column than that of the arms", reward)
    options, rewards = frame[arm], frame[reward]
    if options.isna().any():
        raise ArgumentError("frame", f"one that names an arm in every row of column {arm!r}", "missing values")
    laws: dict[str, Empirical] = {}
    for option in options.unique():
        name, values = str(option), rewards[options == option]
        if name in laws:
            raise ArgumentError("frame", f"one whose arms in column {arm!r} are written differently", name)
        if len(values) < 2:
            raise ArgumentError("frame", f"one with at least two rewards of each arm, also of {name!r}", len(values))
        try:
            laws[name] = Empirical(values.to_numpy())
        except ArgumentError as error:
            raise ArgumentError(f"rewards of {name!r}", *error.args[1:]) from error
    if len(laws) < 2:
        raise ArgumentError("frame", f"one with at least two arms in column {arm!r}", list(laws))
    return laws
