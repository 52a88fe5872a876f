"""Policies that forget in environments with late rewards and batches, against the naive loop, pull by pull."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.seeding import generator, replication_seeds, root_sequence
from tests.naive import environments as naive

HORIZON, REPLICATIONS, SEED = 150, 3, 7
BANDIT = db.Bandit([db.Uniform(0.0, 0.8), db.Uniform(0.1, 1.0), db.Uniform(0.0, 1.0)])
POLICIES = {
    "UCB1 in a window": (db.SlidingWindow(db.UCB1(0.5), 30), naive.asked_in_window),
    "TS in a window": (db.SlidingWindow(db.ThompsonSampling("bernoulli"), 9), naive.asked_in_window),
    "RDS in a window": (db.SlidingWindow(db.RDS(), 30), naive.asked_in_window),
    "discounted UCB1": (db.Discounted(db.UCB1(0.5), 0.8), naive.asked_discounted),
}
FEEDBACK = {
    "at once": {},
    "constant": {"delay": 5},
    "longer than a window": {"delay": [0, 40, 3]},
    "geometric": {"delay": db.Geometric(0.2)},
    "batches": {"batch": 12},
}


@pytest.mark.parametrize("name", FEEDBACK)
@pytest.mark.parametrize("called", POLICIES)
def test_windows_follow_the_order_of_decisions(called, name):
    policy, ask = POLICIES[called]
    feedback = FEEDBACK[name] or {"batch": [1] * HORIZON}  # the loop of scripts, with nothing to wait for
    settings = {"horizon": HORIZON, "replications": REPLICATIONS, "seed": SEED, "record": np.arange(1, HORIZON + 1)}
    result = db.simulate(BANDIT, policy, **settings, **feedback)
    seeds = replication_seeds(root_sequence(SEED), 0, REPLICATIONS, 5)
    delay, batch = feedback.get("delay", 0), feedback.get("batch", 1)
    for row in range(REPLICATIONS):
        tape, spare = BANDIT.rewards(seeds[row], HORIZON), generator(seeds[row, 4])
        each = delay if isinstance(delay, list) else [delay] * 3
        delays = [np.ceil(d.rvs(HORIZON, spare)) if hasattr(d, "rvs") else np.full(HORIZON, d) for d in each]
        pulls, regret = naive.play_tape(
            policy,
            BANDIT,
            tape,
            seeds[row, 3],
            spare,
            delay_of=lambda arm, t, j, delays=delays: delays[arm][j],
            batches=range(0, HORIZON, batch) if isinstance(batch, int) else range(HORIZON),
            ask=ask,
        )
        assert result.pulls.values[0, row].tolist() == pulls.tolist()
        np.testing.assert_allclose(result.regret.values[0, row], regret, rtol=0, atol=1e-12)
    if name == "at once":
        plain = db.simulate(BANDIT, policy, **settings)
        assert (plain.pulls.values == result.pulls.values).all()
