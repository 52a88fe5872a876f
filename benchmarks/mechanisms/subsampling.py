"""The mechanisms of the sub-sampling shortcuts, and the edits that leave them out."""

from tests.simulation.copies import Edit

from benchmarks.mechanisms import Mechanism

FOLDER = "policies/subsampling"
MECHANISMS = (
    Mechanism(
        "a coin and tilted draws before plain ones",
        "db.WRSDA()",
        (f"{FOLDER}/tilted.py",),
        (
            Edit(
                f"{FOLDER}/tilted.py",
                "    if challenger.spent > challenger.patience",
                "    if False and challenger.spent > 0",
            ),
        ),
    ),
    Mechanism(
        "the leader's duels decided before the tournament",
        "db.BESA()",
        (f"{FOLDER}/fast_subsets.py:decide_duels",),
        (Edit(f"{FOLDER}/fast_subsets.py", "arms[0] == leader else -1", "arms[0] < 0 else -1"),),
    ),
    Mechanism(
        "only new blocks are compared",
        "db.SSMC()",
        (f"{FOLDER}/fast.py:play_blocks",),
        (Edit(f"{FOLDER}/fast.py", "seen[arm] = n_leader", "seen[arm] = 0"),),
    ),
    Mechanism(
        "nothing but duels",
        "db.LBSDA()",
        (f"{FOLDER}/fast.py",),
        (Edit(f"{FOLDER}/fast.py", "@shortcut(BlockParams)\n", ""),),
    ),
)
