"""Published regrets in changing environments: each within four standard errors, or 3% where it was read off a plot.

References are of three kinds, and a row may have several of them:

* ``printed``: the mean of a table, and its standard error (Besson's thesis, 2019, chapter 6, problem 1, 1000 runs).
* ``simulated``: an independent simulation of the published definition, and its standard error. Each one agrees with
  its publication, or with the corrected definition where the released code has a mistake: SW-klUCB and D-klUCB explore
  at the levels log min(t, window) and log n_gamma as published, where the figure of Baudry, Russac and Cappé (2021) has
  log t; EXP3.S weighs a reward by the probability with which it was drawn; GLR tests by the arm's own count.
* ``drawn``: the end of a curve in the figures of Baudry, Russac and Cappé (2021), or a simulation of the published
  definition whose standard error is not known.

Four standard errors of the difference: a correct program with other seeds fails one comparison in 16,000.

``python -m tools.world_numbers`` plays all rows, stores what it finds, and writes the table of ``docs/worlds.md``.
"""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import dirichlet_bandits as db
from tests.environments.problems import LBSDA_BERNOULLI, LBSDA_GAUSSIAN, PB1, PB2, THESIS_1

FROM_A_PLOT = 0.03  # what may be misread, as a share of the value
MEASURED = Path(__file__).parents[2] / "docs/figures/worlds_published.json"


class Row(NamedTuple):
    """An environment, a horizon, a policy, and references: means with their standard errors, and a curve's end.

    Without a policy, it is an oracle: kl-UCB that restarts whenever an arm changes.
    """

    world: db.Piecewise
    horizon: int
    policy: db.Policy | None
    printed: tuple[float, float] | None = None
    simulated: tuple[float, float] | None = None
    drawn: float | None = None


def over(mean, deviation, runs):
    """A mean and its standard error."""
    return mean, deviation / math.sqrt(runs)


def window(horizon, changes):
    return int(2 * math.sqrt(horizon * math.log(horizon) / changes))


def gamma(horizon, changes, slower=1.0):
    return 1.0 - math.sqrt(changes / horizon) / (4.0 * slower)


KLUCB, TS = db.KLUCB("bernoulli"), db.ThompsonSampling("bernoulli")
K = 3


def mucb(width, horizon, rate):
    """kl-UCB with the detector of M-UCB, explored on its schedule."""
    shift = db.MeanShift(width, math.sqrt(width * math.log(2 * K * horizon**2) / 2))
    return db.Restarting(KLUCB, shift, exploration=rate, scheduled=True)


def thesis_glr(scope, scale):
    """delta and exploration of the thesis; each arm of a local restart counts as a problem of its own."""
    problems = 4 * K if scope == "local" else 4
    return db.GLRKLUCB(1 / math.sqrt(problems * 5000), scale * math.sqrt(problems * math.log(5000) / 5000), scope)


def thesis():
    """Besson (2019), problem 1."""
    cusum = db.Restarting(
        KLUCB,
        db.CUSUM(150, 0.1, math.log(5000 / 4)),
        exploration=math.sqrt(4 * math.log(5000 / 4) / 5000),
        scope="local",
    )
    return {
        "kl-UCB": Row(THESIS_1, 5000, KLUCB, over(270, 76, 1000), (273.2, 5.6)),
        "TS": Row(THESIS_1, 5000, TS, over(493, 175, 1000), (490.5, 9.3)),
        "SW-klUCB": Row(THESIS_1, 5000, db.SlidingWindow(KLUCB, window(5000, 4)), over(177, 34, 1000), (177.8, 0.9)),
        "CUSUM-klUCB": Row(THESIS_1, 5000, cusum, None, (141.6, 0.8)),
        "D-klUCB": Row(THESIS_1, 5000, db.Discounted(KLUCB, gamma(5000, 4)), None, over(214.8, 30, 200)),
        "GLR local": Row(THESIS_1, 5000, thesis_glr("local", 0.05), None, (43.5, 0.7)),
        "GLR global": Row(THESIS_1, 5000, thesis_glr("global", 0.05), None, (47.3, 0.9)),
        "GLR local .1": Row(THESIS_1, 5000, thesis_glr("local", 0.1), None, (52.9, 0.7)),
        "GLR global .1": Row(THESIS_1, 5000, thesis_glr("global", 0.1), None, (50.8, 0.9)),
        "D-TS": Row(THESIS_1, 5000, db.Discounted(TS, 0.95), drawn=423.4),
        "M-klUCB": Row(THESIS_1, 5000, mucb(150, 5000, 0.366), drawn=578.3),
        "oracle": Row(THESIS_1, 5000, None, drawn=57.2),
    }


def lbsda_bernoulli():
    """Baudry, Russac and Cappé (2021), Bernoulli arms."""
    world, horizon, w, g = LBSDA_BERNOULLI, 10_000, window(10_000, 2), gamma(10_000, 2)
    released = math.sqrt(2 * K * math.log(horizon) / horizon)
    return {
        "SW-LB-SDA": Row(world, horizon, db.SWLBSDA(w), None, over(276.4, 34, 300), 277),
        "SW-TS": Row(world, horizon, db.SlidingWindow(TS, w), None, (284.1, 1.9), 283),
        "D-TS": Row(world, horizon, db.Discounted(TS, g), None, over(307.5, 29, 300), 311),
        "SW-klUCB": Row(world, horizon, db.SlidingWindow(KLUCB, w), None, over(339.3, 30, 300)),
        "D-klUCB": Row(world, horizon, db.Discounted(KLUCB, g), None, over(388.1, 25, 300)),
        "M-UCB": Row(
            world, horizon, db.MUCB(800, horizon, 3, exploration=released, scheduled=True), None, (362.8, 1.9), 363
        ),
        "M-UCB of its paper": Row(world, horizon, db.MUCB(800, horizon, 3, scheduled=True), None, (716.6, 2.3)),
        "CUSUM": Row(world, horizon, db.CUSUMUCB(horizon, 2, forced=True), None, (373.6, 6.7), 373),
        "CUSUM of its paper": Row(world, horizon, db.CUSUMUCB(horizon, 2), None, (321.7, 7.0)),
        "EXP3.S": Row(world, horizon, db.EXP3S(horizon, 3), None, (527.2, 2.9), 530),
    }


def lbsda_gaussian():
    """Baudry, Russac and Cappé (2021), Gaussian arms; windows of UCB policies are 1 + 2 sigma times as long."""
    world, horizon, w, bell = LBSDA_GAUSSIAN, 10_000, window(10_000, 3), db.ThompsonSampling("gaussian", 0.5)
    return {
        "SW-LB-SDA": Row(world, horizon, db.SWLBSDA(w), None, over(266, 26, 100), 272),
        "SW-TS": Row(world, horizon, db.SlidingWindow(bell, w), None, over(335, 42, 100), 336),
        "D-TS": Row(world, horizon, db.Discounted(bell, gamma(horizon, 3)), None, over(355, 31, 100), 357),
        "SW-UCB": Row(world, horizon, db.SlidingWindow(db.UCB1(0.5), 2 * w), None, over(337, 40, 100), 343),
        "D-UCB": Row(
            world, horizon, db.Discounted(db.UCB1(0.5), gamma(horizon, 3, 2.0)), None, over(360, 26, 100), 360
        ),
        "UCB1": Row(world, horizon, db.UCB1(0.5), None, over(793, 175, 100), 774),
    }


T_20 = 20_000
JMLR = math.sqrt(K * math.log(T_20) / T_20)


def jmlr_glr(scope, scale=1.0, scheduled=True):
    """Where exploration is rare, much depends on how soon after a change it is scheduled: as in the paper's code."""
    return db.GLRKLUCB(1 / math.sqrt(T_20), scale * JMLR, scope, "jmlr", growing=True, scheduled=scheduled)


def cusum_klucb(first, drift):
    """CUSUM around kl-UCB, explored on the schedule and at the rate of M-klUCB."""
    shift = db.CUSUM(first, drift, math.log(T_20 / 4))
    return db.Restarting(KLUCB, shift, exploration=math.sqrt(4) * JMLR, scope="local", scheduled=True)


def glr(world, problem):
    """Besson et al. (2022), problems 1 and 2."""
    w, g = window(T_20, 4), gamma(T_20, 4)
    policies = {
        "kl-UCB": KLUCB,
        "GLR global": jmlr_glr("global"),
        "GLR local": jmlr_glr("local"),
        "GLR global .05": jmlr_glr("global", 0.05),
        "GLR local .05": jmlr_glr("local", 0.05),
        "GLR global .05, at random": jmlr_glr("global", 0.05, scheduled=False),
        "CUSUM-klUCB 200": cusum_klucb(200, 0.1),
        "CUSUM-klUCB 400": cusum_klucb(400, 0.05),
        "SW-klUCB": db.SlidingWindow(KLUCB, w),
        "D-klUCB": db.Discounted(KLUCB, g),
        "SW-TS": db.SlidingWindow(TS, w),
        "D-TS": db.Discounted(TS, g),
        "SW-LB-SDA": db.SWLBSDA(w),
        "M-klUCB 200": mucb(200, T_20, math.sqrt(4) * JMLR),
        "M-klUCB 800": mucb(800, T_20, math.sqrt(4) * JMLR),
        "EXP3.S": db.EXP3S(T_20, 5),
        "EXP3.S, breaks": db.EXP3S(T_20, 4),
        "oracle": None,
    }
    return {name: Row(world, T_20, policies[name], None, values[problem]) for name, values in GLR_VALUES.items()}


GLR_VALUES = {  # of problem 1, and of problem 2
    "kl-UCB": (over(992, 184, 60), over(559, 168, 60)),
    "GLR global": ((453.0, 9.8), (443.3, 1.5)),
    "GLR local": ((481.4, 12.5), (446.6, 2.3)),
    "GLR global .05": ((198.1, 25.2), (125.3, 1.8)),
    "GLR local .05": ((266.3, 36.3), (98.7, 2.0)),
    "GLR global .05, at random": (None, None),
    "CUSUM-klUCB 200": ((619.0, 9.8), (518.1, 6.0)),
    "CUSUM-klUCB 400": ((733.1, 19.6), (526.8, 8.7)),
    "SW-klUCB": (over(480, 38, 60), over(453, 28, 60)),
    "D-klUCB": (over(578, 29, 60), over(586, 28, 60)),
    "SW-TS": (over(330, 29, 60), over(299, 24, 60)),
    "D-TS": (over(414, 28, 60), over(381, 28, 60)),
    "SW-LB-SDA": (over(411, 57, 60), over(378, 25, 60)),
    "M-klUCB 200": ((595.5, 6.5), (1819.5, 27.7)),
    "M-klUCB 800": ((641.2, 10.6), (1210.2, 63.1)),
    "EXP3.S": ((874.8, 7.0), (677.1, 5.9)),
    "EXP3.S, breaks": ((870.7, 7.0), (662.1, 5.9)),
    "oracle": (over(82, 14, 60), over(92, 17, 60)),
}
TABLES = {
    "thesis": thesis(),
    "Bernoulli": lbsda_bernoulli(),
    "Gaussian": lbsda_gaussian(),
    "PB1": glr(PB1, 0),
    "PB2": glr(PB2, 1),
}
ROWS = {f"{table} {name}": row for table, rows in TABLES.items() for name, row in rows.items()}
EXPLAINED = {  # rows that differ from their reference, and why
    "Gaussian SW-UCB": "explores at the level log min(t, window), as published; the authors' code has log t",
}
FEW = {
    "Bernoulli SW-TS": 20,
    "Bernoulli D-TS": 10,
    "Bernoulli EXP3.S": 40,
}


def played(name, runs):
    """Our mean and its standard error."""
    row, settings = ROWS[name], {"replications": runs, "record": 1, "progress": False}
    if row.policy is None:
        ends = pairwise([*row.world.starts(row.horizon), row.horizon])
        games = [(bandit, last - first) for bandit, (first, last) in zip(row.world.bandits, ends, strict=True)]
        regrets = [db.simulate(x, KLUCB, horizon=n, seed=k, **settings).regret for k, (x, n) in enumerate(games)]
        found = sum(regret.to_numpy()[0, :, -1] for regret in regrets)
    else:
        result = db.simulate(row.world, row.policy, horizon=row.horizon, seed=11, **settings)
        found = result.regret.to_numpy()[0, :, -1]
    return float(found.mean()), float(found.std(ddof=1)) / math.sqrt(runs)


def disagreements(name, mean, error):
    """The references of a row that our mean is too far from, as texts."""
    row, found = ROWS[name], []
    for kind in ("printed", "simulated"):
        reference = getattr(row, kind)
        if reference is not None and abs(mean - reference[0]) > 4.0 * math.hypot(error, reference[1]):
            found.append(f"{mean:.1f} ± {error:.1f}, {kind} {reference[0]:.1f} ± {reference[1]:.1f}")
    if row.drawn is not None and abs(mean - row.drawn) > FROM_A_PLOT * row.drawn + 4.0 * error:
        found.append(f"{mean:.1f} ± {error:.1f}, drawn {row.drawn}")
    return found


@pytest.mark.parametrize("name", FEW)
def test_in_a_few_runs(name):
    assert disagreements(name, *played(name, FEW[name])) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_all_rows(name):
    assert name in EXPLAINED or disagreements(name, *played(name, 400)) == []


@pytest.mark.slow
def test_the_figure_of_sw_ucb_has_log_t():
    """An independent loop: with log t it ends where the figure does, with log min(t, window) where we do."""
    ends, runs, size = [], 400, 2 * window(10_000, 3)
    for at_most in (10_000, size):
        rng, rows = np.random.default_rng(5), np.arange(runs)
        arms, rewards = np.full((size, runs), -1), np.zeros((size, runs))
        counts, sums, regret = np.zeros((runs, K)), np.zeros((runs, K)), np.zeros(runs)
        for t, values in enumerate(LBSDA_GAUSSIAN.values(10_000)):
            level = math.log(max(1, min(t, at_most)))
            safe = np.maximum(counts, 1)
            chosen = np.where(counts > 0, sums / safe + 0.5 * np.sqrt(2 * level / safe), np.inf).argmax(axis=1)
            regret += values.max() - values[chosen]
            old = arms[t % size]
            if t >= size:
                counts[rows, old] -= 1
                sums[rows, old] -= rewards[t % size]
            arms[t % size], rewards[t % size] = chosen, values[chosen] + 0.5 * rng.standard_normal(runs)
            counts[rows, chosen] += 1
            sums[rows, chosen] += rewards[t % size]
        ends.append((regret.mean(), regret.std() / math.sqrt(runs)))
    (released, released_error), (ours, our_error) = ends
    assert abs(released - 343) < FROM_A_PLOT * 343 + 4 * released_error
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))["Gaussian SW-UCB"]
    assert abs(ours - measured["mean"]) < 4 * math.hypot(our_error, measured["error"])


def test_all_rows_agree_as_measured():
    """The stored numbers of at least 50 runs: those that differ are explained, and no others are."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert list(measured) == list(ROWS)
    assert all(row["runs"] >= 50 for row in measured.values())
    found = {name for name, row in measured.items() if disagreements(name, row["mean"], row["error"])}
    assert found == set(EXPLAINED)


def test_a_wrong_mean_is_noticed():
    assert disagreements("thesis TS", 493.0, 1.0) == []
    assert len(disagreements("thesis TS", 560.0, 1.0)) == 2
    assert len(disagreements("Bernoulli SW-TS", 300.0, 0.1)) == 2
