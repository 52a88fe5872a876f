"""The mechanisms of Dirichlet Sampling."""

from tests.simulation.copies import Edit

from benchmarks.mechanisms import Mechanism

_FAST, _DUELS = "policies/dirichlet/fast.py", "policies/dirichlet/fast.py"
_SUMS, _PROBABILITY = "policies/dirichlet/sums.py", "policies/dirichlet/probability.py"

_NO_EXPANSIONS = Edit("numerics/costs.py", "EXPANSION_LEAST: Final = 80", "EXPANSION_LEAST: Final = 1 << 40")
_NO_CLOCKS = Edit("numerics/costs.py", "OFTEN: Final = 0.4", "OFTEN: Final = 0.0")
_NO_FOLLOWING = Edit(_PROBABILITY, "if 4 * (x.size - sample.followed) >= x.size:", "if x.size > sample.followed:")
_NO_MERGING = Edit(_PROBABILITY, "        if k == FEW:", "        if k >= 0:")
_NO_BOUNDS = Edit(
    _DUELS,
    "    least, most = shortfall_bounds(sample, high)",
    "    least = most = take_shortfall(sample, x, high)",
)
_NO_WINDOW = Edit(_SUMS, "    if 4 * (n - sample.known) >= n:", "    if n > sample.known:")

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
        (
            "numerics/expansion.py",
            *(f"{_SUMS}:{name}" for name in ("add_powers", "start_sums", "all_sums")),
            f"{_DUELS}:rough_win",
        ),
        (_NO_EXPANSIONS,),
    ),
    Mechanism(
        "contours that follow the rewards",
        "db.RDS()",
        (f"{_PROBABILITY}:follow", f"{_PROBABILITY}:follow_rewards"),
        (_NO_FOLLOWING,),
    ),
    Mechanism(
        "bounds on the bonus",
        "db.RDS()",
        (f"{_SUMS}:shortfall_bounds", f"{_SUMS}:take_shortfall", f"{_SUMS}:add_shortfall"),
        (_NO_BOUNDS,),
    ),
    Mechanism("equal values merged", "db.RDS()", (f"{_PROBABILITY}:merged", f"{_DUELS}:duel_by_draws"), (_NO_MERGING,)),
    Mechanism(
        "a window on the tail",
        "db.QDS()",
        tuple(f"{_SUMS}:{name}" for name in ("_insert", "part", "_add", "update_tail")),
        (_NO_WINDOW,),
    ),
)
