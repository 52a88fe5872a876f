"""The mechanisms of NPTS's shortcut."""

from tests.simulation.copies import Edit

from benchmarks.mechanisms import Mechanism

_POLICY, _FOLDER = "db.NPTS(upper)", "policies/npts/"

MECHANISMS = (
    Mechanism(
        "normal variables in contests",
        _POLICY,
        (
            _FOLDER + "quantiles.py:fit_polynomial",
            _FOLDER + "quantiles.py:bound_error",
            _FOLDER + "quantiles.py:index_bounds",
            _FOLDER + "fast.py:drawn_below",
            _FOLDER + "fast.py:index_is_larger",
        ),
        (Edit(_FOLDER + "quantiles.py", "if n <= EXPANSION_LEAST or", "if n > 0.0 or"),),
    ),
    Mechanism(
        "a clock for far arms in contests",
        _POLICY,
        (_FOLDER + "fast.py:split", _FOLDER + "fast.py:far_winner"),
        (Edit(_FOLDER + "fast.py", "if state.pulls[leader] >= LEADER_LEAST else", "if leader < 0 else"),),
    ),
    Mechanism(
        "bounds of the leader's distribution function",
        _POLICY,
        (_FOLDER + "quantiles.py:chance_below",),
        (Edit(_FOLDER + "challengers.py", "if x.size >= EXPANSION_LEAST:", "if x.size < 0:"),),
    ),
    Mechanism(
        "groups",
        _POLICY,
        ("numerics/resampling.py",),
        (Edit("numerics/resampling.py", "if is_due(groups, arm, x.size):", "if groups.paid[arm] < 0:"),),
    ),
)
