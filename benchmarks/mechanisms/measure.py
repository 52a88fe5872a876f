"""``python -m benchmarks.mechanisms.measure "db.NPTS(upper)"``: microseconds per pull on the five problems, as JSON.

Options: ``--plain`` runs the plain loop, ``--horizon N`` only one horizon.
"""

import argparse
import json
import time
from pathlib import Path

import dirichlet_bandits as db
from benchmarks.mechanisms.problems import PROBLEMS

HORIZONS = (10_000, 100_000)
SECONDS = 0.5  # processor time per problem and horizon, at least
BATCH = 80_000  # pulls between two looks at the time; at least two runs


def microseconds_per_pull(expression: str, problem: str, horizon: int, fast: bool = True) -> float:
    """Return the mean processor time of one pull, over the same runs whichever copy of the package is measured."""
    bandit = PROBLEMS[problem]()
    policy = eval(expression, {"db": db, "upper": bandit.support()[1]})
    if isinstance(policy, db.BCVTS):
        bandit = db.Bandit(bandit.arms, objective=db.CVaR(policy.level))
    settings = {"workers": 1, "record": 1, "fast": fast, "progress": False}
    db.simulate(bandit, policy, horizon=len(bandit) + 10, replications=1, seed=0, **settings)
    runs, spent, batch = 0, 0.0, max(2, BATCH // horizon)
    while spent < SECONDS and runs < 64:
        begin = time.process_time()
        db.simulate(bandit, policy, horizon=horizon, replications=batch, seed=runs, **settings)
        spent += time.process_time() - begin
        runs += batch
    return 1e6 * spent / (runs * horizon)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policy")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--horizon", type=int, action="append")
    chosen = parser.parse_args()
    horizons = chosen.horizon or HORIZONS
    found = {
        f"{problem}, {horizon}": microseconds_per_pull(chosen.policy, problem, horizon, fast=not chosen.plain)
        for problem in PROBLEMS
        for horizon in horizons
    }
    print(json.dumps({"package": str(Path(db.__file__).parent), **found}))
