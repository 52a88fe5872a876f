"""The mechanisms of Dirichlet Sampling."""

from tests.simulation.copies import Edit

from benchmarks.mechanisms import Mechanism

_FAST, _DUELS = "policies/dirichlet/fast.py", "policies/dirichlet/duels.py"
_SUMS, _TAIL = "policies/dirichlet/sums.py", "policies/dirichlet/tail.py"

_NO_EXPANSIONS = Edit("numerics/costs.py", "EXPANSION_LEAST: Final = 80", "EXPANSION_LEAST: Final = 1 << 40")
_NO_CLOCKS = Edit("numerics/costs.py", "OFTEN: Final = 0.4", "OFTEN: Final = 0.0")
_NO_FOLLOWING = Edit(_DUELS, "note.followed) * follow_cost(policy, x.size) < x.size:", "note.followed) == 0:")
_NO_MERGING = Edit(_DUELS, "        if k == _FEW:", "        if k >= 0:")
_NO_BOUNDS = Edit(
    _DUELS,
    "    least, most = shortfall_bounds(sample, m)",
    "    least = most = mean_shortfall(rewards(state, arm), m)",
)
_NO_WINDOW = Edit(_TAIL, "    if 4 * (n - sample.known) >= n:", "    if n > sample.known:")

MECHANISMS = (
    Mechanism(
        "clocks",
        "db.RDS()",
        (
            "engine/clocks.py",
            *(f"{_FAST}:{name}" for name in ("seek_certificate", "end_certificate")),
            f"{_DUELS}:log_ceiling",
        ),
        (_NO_CLOCKS,),
    ),
    Mechanism(
        "expansions",
        "db.RDS()",
        ("numerics/expansion.py", _SUMS, f"{_DUELS}:sums_of_rewards", f"{_DUELS}:expanded_win"),
        (_NO_EXPANSIONS,),
    ),
    Mechanism(
        "contours that follow the rewards",
        "db.RDS()",
        (f"{_DUELS}:follow_cost", f"{_DUELS}:cost_of_value"),
        (_NO_FOLLOWING,),
    ),
    Mechanism(
        "bounds on the bonus",
        "db.RDS()",
        (f"{_SUMS}:shortfall_bounds", f"{_SUMS}:take_shortfall", f"{_SUMS}:add_shortfall", f"{_DUELS}:bonus_bounds"),
        (_NO_BOUNDS,),
    ),
    Mechanism("equal values merged", "db.RDS()", (f"{_DUELS}:merged", f"{_DUELS}:duel_by_draws"), (_NO_MERGING,)),
    Mechanism("a window on the tail", "db.QDS()", (_TAIL,), (_NO_WINDOW,)),
)
