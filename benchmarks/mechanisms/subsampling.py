"""The mechanisms of the sub-sampling shortcuts, and the edits that leave them out."""

from tests.simulation.copies import Edit

from benchmarks.mechanisms import Mechanism

FOLDER = "policies/subsampling"
MECHANISMS = (
    Mechanism(
        "duels without a copy of the rewards",
        "db.WRSDA()",
        (f"{FOLDER}/fast_subsets.py",),
        (Edit(f"{FOLDER}/fast_subsets.py", "rewards(state, leader))", "rewards(state, leader).copy())"),),
    ),
    Mechanism(
        "more than half of the rewards are drawn by drawing the others",
        "db.WRSDA()",
        (),
        (Edit(f"{FOLDER}/subsets.py", "if 2 * n > size:", "if n > size:"),),
    ),
    Mechanism(
        "only new blocks are compared",
        "db.SSMC()",
        (),
        (Edit(f"{FOLDER}/fast.py", "seen[arm] = n_leader", "seen[arm] = 0"),),
    ),
    Mechanism(
        "nothing but duels",
        "db.LBSDA()",
        (f"{FOLDER}/fast.py",),
        (Edit(f"{FOLDER}/fast.py", "@shortcut(BlockParams)\n", ""),),
    ),
)
