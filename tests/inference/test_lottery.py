"""The theorem of the lottery rule and its running state."""

import itertools
import math

import numpy as np
import pytest

from dirichlet_bandits.inference.differences import MOST_STATES, Evidence
from dirichlet_bandits.inference.lottery import AVERAGE, BETS, CLIPPED, PRIOR, PRODUCT, Rounds, Wealth
from dirichlet_bandits.inference.pair_bet import Counts

RNG = np.random.default_rng


def rounds_of(seed: int, n: int, several: bool = False) -> tuple[np.ndarray, ...]:
    """Rounds of three arms with random probabilities, in which one arm is assigned, or each by itself."""
    rng = RNG(seed)
    chances = rng.dirichlet(np.ones(3), n) if not several else 0.4 + 0.6 * rng.random((n, 3))
    row, arm = [], []
    for k, p in enumerate(chances):
        arms = np.flatnonzero(rng.random(3) < p) if several else [rng.choice(3, p=p)]
        row += [k] * len(arms)
        arm += list(arms)
    rewards = rng.random(len(arm))
    rewards[rng.random(len(arm)) < 0.1] = math.nan
    return chances, np.array(row), np.array(arm), rewards


def factors(chances: np.ndarray, arms: list[int], rewards: list[float], f: float, h: float) -> np.ndarray:
    """The factors of arm 1 over arm 0, written down as in the module's docstring."""
    q = chances[1] / (chances[0] + chances[1])
    z = sum(
        (1 - q) * (x - f - q * h) if k == 1 else -q * (x - f + (1 - q) * h)
        for k, x in zip(arms, rewards, strict=True)
        if k < 2
    )
    worst = max((1 - q) * (f + q * h), q * (1 - f + (1 - q) * h)) * (1 if chances.sum() <= 1 + 1e-9 else 2)
    return 1.0 + np.minimum(BETS, 0.9 / worst if worst > 0 else math.inf) * z


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("h", [0.0, 0.1, -0.2])
def test_the_wealth_is_the_product_of_the_factors(several: bool, h: float) -> None:
    chances, row, arm, rewards = rounds_of(1, 400, several)
    wealth, told, largest = PRIOR.copy(), [], 1.0
    for k, p in enumerate(chances):
        mine = [*zip(arm[row == k].tolist(), rewards[row == k].tolist(), strict=True)]
        mine = [(a, x) for a, x in mine if a < 2 and x == x]
        f = (sum(told) + 0.5) / (len(told) + 1.0)
        if mine:
            wealth = wealth * factors(p, [a for a, _ in mine], [x for _, x in mine], f, h)
        told += [x for _, x in mine]
        largest = max(largest, wealth.sum())
    found = Wealth(1, 0, h).follow(Rounds(3).add(chances, row, arm, rewards))
    assert found.now == pytest.approx(math.log(wealth.sum()), rel=1e-9, abs=1e-12)
    assert found.peak == pytest.approx(math.log(largest), rel=1e-9, abs=1e-12)
    assert np.exp(found.logs) == pytest.approx(wealth, rel=1e-9)


@pytest.mark.parametrize("kind", [PRODUCT, CLIPPED, AVERAGE])
def test_the_state_is_the_same_however_the_rounds_are_divided(kind: int) -> None:
    chances, row, arm, rewards = rounds_of(2, 3000, several=True)
    rewards = rewards * (10.0 if kind == CLIPPED else 1.0)
    whole = Wealth(2, 1, 0.05, kind).follow(Rounds(3).add(chances, row, arm, rewards))
    parts, wealth = Rounds(3), Wealth(2, 1, 0.05, kind)
    cuts = [0, 1, 2, 500, 501, 3000]
    for first, last in itertools.pairwise(cuts):
        mine = (row >= first) & (row < last)
        wealth.follow(parts.add(chances[first:last], row[mine] - first, arm[mine], rewards[mine]))
    assert (wealth.now, wealth.peak, wealth.moved) == (whole.now, whole.peak, whole.moved)
    assert wealth.logs.tolist() == whole.logs.tolist()


def test_the_mean_of_a_factor_is_one_where_the_arms_differ_by_the_margin() -> None:
    """Over every joint distribution of two arms in a round, however dependent, and whatever the level is."""
    rng = RNG(3)
    for _ in range(200):
        joint = rng.dirichlet(np.full(4, 0.5))  # neither arm, a alone, b alone, both
        chances = np.array([joint[1] + joint[3], joint[2] + joint[3], rng.random()])
        h, level, f = rng.uniform(-0.3, 0.3), rng.uniform(0.35, 0.65), rng.random()
        means, bets = (level - h / 2, level + h / 2), 0.0
        for here, chance in zip(([], [0], [1], [0, 1]), joint, strict=True):
            for x in itertools.product((0.0, 1.0), repeat=len(here)):
                weight = math.prod(means[k] if one else 1.0 - means[k] for k, one in zip(here, x, strict=True))
                bets = bets + chance * weight * (factors(chances, here, list(x), f, h) if here else np.ones(BETS.size))
        assert np.asarray(bets) == pytest.approx(np.ones(BETS.size), abs=1e-9)


def test_bets_on_the_average_are_a_supermartingale_whatever_sign_the_differences_have() -> None:
    """The mean of exp(s Z - psi(s) Z^2) is at most exp(s w (mu_b - mu_a - h)), for every joint distribution."""
    rng, bets = RNG(13), BETS[:7]
    stake = 1.125 * bets
    psi = (-np.log1p(-stake) - stake) / 1.125**2
    for _ in range(300):
        joint = rng.dirichlet(np.full(4, 0.5))
        p_a, p_b = joint[1] + joint[3], joint[2] + joint[3]
        q, w = p_b / (p_a + p_b), p_a * p_b / (p_a + p_b)
        h, f, means, mean = rng.uniform(-1.0, 1.0), rng.random(), rng.random(2), np.zeros(bets.size)
        for here, chance in zip(([], [0], [1], [0, 1]), joint, strict=True):
            for x in itertools.product((0.0, 1.0), repeat=len(here)):
                weight = math.prod(means[k] if one else 1.0 - means[k] for k, one in zip(here, x, strict=True))
                of_arm = [
                    (1 - q) * (one - f - q * h) if k else -q * (one - f + (1 - q) * h)
                    for k, one in zip(here, x, strict=True)
                ]
                z = sum(of_arm)
                assert abs(z) <= 1.125
                mean += chance * weight * np.exp(bets * z - psi * z * z)
        assert (mean <= np.exp(bets * w * (means[1] - means[0] - h)) * (1.0 + 1e-12)).all()


def test_an_average_of_zero_is_rarely_taken_for_a_lead() -> None:
    """Differences of .4 and -.4 in turn: of 150 games at 20%, more than 55 wrong ones have a probability of 1e-6."""
    wrong = 0
    for game in range(150):
        rng = RNG([14, game])
        turn = np.arange(1000) % 2
        arm = (rng.random(1000) < 0.5).astype(int)
        rewards = (rng.random(1000) < 0.5 + 0.2 * (2 * turn - 1) * (2 * arm - 1)).astype(float)
        rounds, found = Rounds(2), [Wealth(b, 1 - b, 0.0, AVERAGE) for b in (0, 1)]
        largest = -math.inf
        for first in range(0, 1000, 20):
            new = slice(first, first + 20)
            rounds.add(np.full((20, 2), 0.5), np.arange(20), arm[new], rewards[new])
            largest = max(largest, *(one.follow(rounds).now for one in found))
        wrong += largest >= math.log(2 / 0.2)
    assert wrong <= 55


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("kind", [PRODUCT, CLIPPED, AVERAGE])
def test_the_wealth_decreases_in_the_margin(several: bool, kind: int) -> None:
    rounds = Rounds(3).add(*rounds_of(4, 150, several))
    found = [Wealth(1, 0, h, kind).follow(rounds).now for h in np.linspace(-0.9, 0.9, 37)]
    assert all(one >= other - 1e-12 for one, other in itertools.pairwise(found))
    assert found[0] > found[-1] + 1.0


def test_no_factor_is_negative_at_the_worst_rewards() -> None:
    for h in (-0.5, 0.0, 0.5):
        for p in (1e-9, 0.01, 0.5, 1.0 - 1e-9):
            for arm, reward in ((1, 0.0), (0, 1.0)):
                n = 400
                rounds = Rounds(2).add(np.tile([1.0 - p, p], (n, 1)), np.arange(n), np.full(n, arm), np.full(n, reward))
                assert math.isfinite(Wealth(1, 0, h).follow(rounds).now)
    both = Rounds(2).add(
        np.ones((400, 2)), np.repeat(np.arange(400), 2), np.tile([0, 1], 400), np.tile([1.0, 0.0], 400)
    )
    assert math.isfinite(Wealth(1, 0).follow(both).now)
    assert Wealth(0, 1).follow(both).now > 100.0


def test_certain_and_impossible_assignments_leave_the_wealth_alone() -> None:
    for chances in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]):
        rounds = Rounds(3).add(np.array([chances]), np.zeros(1, int), np.array([int(np.argmax(chances))]), np.ones(1))
        assert Wealth(1, 0).follow(rounds).now == pytest.approx(0.0, abs=1e-15)


def test_the_evidence_survives_wealth_beyond_all_numbers() -> None:
    n = 20_000
    arm = np.tile([0, 1], n // 2)
    wealth = Wealth(1, 0).follow(Rounds(2).add(np.full((n, 2), 0.5), np.arange(n), arm, arm.astype(float)))
    assert 1000.0 < wealth.now == wealth.peak < 1e5
    bad = Wealth(0, 1).follow(Rounds(2).add(np.full((n, 2), 0.5), np.arange(n), arm, arm.astype(float)))
    assert -1000.0 < bad.now < bad.peak == 0.0


def test_the_pair_bet_is_a_lower_bound_of_the_least_wealth() -> None:
    from dirichlet_bandits.inference.pair_bet import _ETA, _LOG_PRIOR

    rng = RNG(5)
    for n_a, n_b, p, q, h in (
        (30, 40, 0.3, 0.6, 0.0),
        (5, 200, 0.02, 0.1, 0.05),
        (300, 9, 0.9, 0.95, -0.2),
        (4, 4, 0, 1, 0),
    ):
        a, b = (rng.random(n_a) < p).astype(float), (rng.random(n_b) < q) * rng.random(n_b)
        found = Counts(2).add(np.repeat([0, 1], [n_a, n_b]), np.append(a, b)).log_wealth(1, 0, h)
        logs = [
            np.logaddexp.reduce(
                (
                    np.log1p(np.outer(b, _ETA)).sum(axis=0)[:, None]
                    - n_b * np.log1p(_ETA * m)[:, None]
                    + np.log1p(np.outer(1.0 - a, _ETA)).sum(axis=0)
                    - n_a * np.log1p(_ETA * (1.0 - m + h))
                    + _LOG_PRIOR
                ).ravel()
            )
            for m in np.linspace(max(h, 0.0), min(1.0, 1.0 + h), 2001)
        ]
        assert min(logs) - 0.02 <= found <= min(logs) + 1e-9


@pytest.mark.parametrize("apart", [False, True])
def test_the_ends_of_a_lead_are_where_the_evidence_meets_its_threshold(apart: bool) -> None:
    rng = RNG(6)
    arm = rng.integers(0, 2, 3000)
    rewards = 10.0 + 4.0 * rng.beta(2.0, np.where(arm == 1, 1.5, 2.0))
    evidence = Evidence(2, (10.0, 14.0))
    if apart:
        evidence.add_apart(arm, rewards)
    else:
        evidence.add_rounds(np.full((3000, 2), 0.5), np.arange(3000), arm, rewards)
    low, high = evidence.lead(1, 0, 3.0)
    assert low < evidence.estimate(1, 0) < high
    assert evidence.estimate(1, 0) == pytest.approx(rewards[arm == 1].mean() - rewards[arm == 0].mean(), abs=0.02)
    for b, a, end in ((1, 0, low), (0, 1, -high)):
        assert evidence.log_wealth(b, a, end) >= 3.0 > evidence.log_wealth(b, a, end + 0.02)


def test_intervals_of_the_lead_hold_at_all_times() -> None:
    """At 20%, while both levels move: more than 45 of 120 misses would have a probability of 2e-5."""
    missed = 0
    for game in range(120):
        rng = RNG([8, game])
        p = np.where(np.arange(800) < 100, 0.5, 0.9)
        arm = (rng.random(800) < p).astype(int)
        rewards = (rng.random(800) < np.linspace(0.1, 0.6, 800) + 0.1 * arm).astype(float)
        chances, evidence = np.stack([1.0 - p, p], axis=1), Evidence(2, (0.0, 1.0))
        evidence.add_rounds(chances, np.arange(800), arm, rewards)
        low, high = evidence.lead(1, 0, math.log(2 / 0.2))  # the largest wealth so far: all times at once
        missed += not low <= 0.1 <= high
    assert missed <= 45


def test_questions_about_many_margins_and_errors_do_not_fill_the_memory():
    evidence = Evidence(3, (0.0, 1.0)).add_rounds(*rounds_of(1, 60))
    first = evidence.log_wealth(1, 0, 0.01), evidence.lead(1, 0, 2.0)
    for k in range(MOST_STATES + 10):
        evidence.log_wealth(1, 0, 0.1 + 1e-4 * k)
    for k in range(MOST_STATES // 50):
        evidence.lead(1, 0, 3.0 + 1e-3 * k)
    assert len(evidence._bets) <= MOST_STATES
    assert len(evidence._ends) <= MOST_STATES
    assert first == (evidence.log_wealth(1, 0, 0.01), evidence.lead(1, 0, 2.0))
