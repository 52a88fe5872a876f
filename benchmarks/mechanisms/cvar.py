"""The mechanisms of B-CVTS."""

from tests.simulation.copies import Edit

from benchmarks.mechanisms import Mechanism

_FAST, _ORDERING = "policies/cvar/fast.py", "policies/cvar/ordering.py"
_POLICY = "db.BCVTS(upper, 0.2)"

MECHANISMS = (
    Mechanism(
        "low rewards drawn together",
        _POLICY,
        tuple(f"{_ORDERING}:{name}" for name in ("cut", "place_reward", "gathered")),
        (Edit(_ORDERING, "return low if low >= _LOW_LEAST else 0, min", "return 0, min"),),
    ),
    Mechanism(
        "bounds before weights",
        _POLICY,
        (f"{_ORDERING}:finish_index",),
        (Edit(_ORDERING, "        if known and n - low > _FEW:", "        if known and n - low > x.size:"),),
    ),
    Mechanism(
        "the index of equal values",
        _POLICY,
        (),
        (Edit(_ORDERING, "    if known and x[n] == least:", "    if known and x[n] < least:"),),
    ),
    Mechanism(
        "clocks of tilted draws",
        _POLICY,
        (
            *(f"{_FAST}:{name}" for name in ("value_at", "set_numbers", "terms", "set_clock", "rare_number")),
            *(f"{_FAST}:{name}" for name in ("tilted_number", "index_above", "estimate", "survey", "tick")),
            f"{_FAST}:draft_below",
        ),
        (Edit(_FAST, "challenger.ceiling < _CEILING_MOST", "challenger.ceiling < 0.0"),),
    ),
)
