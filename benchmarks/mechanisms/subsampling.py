"""The mechanisms of the sub-sampling shortcuts, and the edits that leave them out."""

from tests.simulation.copies import Edit

from benchmarks.mechanisms import Mechanism

FOLDER = "policies/subsampling"
MECHANISMS = (
    Mechanism(
        "duels without a copy of the rewards",
        "db.WRSDA()",
        tuple(f"{FOLDER}/fast.py:{name}" for name in ("start_draws", "duel_with_subset")),
        (
            Edit(
                f"{FOLDER}/fast.py",
                "leader, rewards(state, leader), memory",
                "leader, rewards(state, leader).copy(), memory",
            ),
        ),
    ),
    Mechanism(
        "large subsets are marked",
        "db.WRSDA()",
        tuple(
            f"engine/subsets.py:{name}"
            for name in ("count_bits", "marked_sum", "mark_subset", "marked", "sum_in_random_order")
        ),
        (Edit(f"{FOLDER}/subsets.py", "n > size // MARKS_SHARE + MARKS_COST", "n > size"),),
    ),
    Mechanism(
        "only new blocks are compared",
        "db.SSMC()",
        (),
        (Edit(f"{FOLDER}/probability.py", "    seen[challenger] = running.size\n", "    last[challenger] = -1\n"),),
    ),
    Mechanism(
        "nothing but duels",
        "db.LBSDA()",
        (f"{FOLDER}/fast.py",),
        (Edit(f"{FOLDER}/fast.py", "@shortcut(BlockParams, SubsetParams)", "@shortcut(SubsetParams)"),),
    ),
)
