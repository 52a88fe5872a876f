"""Propensities against the frequencies of the policies' own choices, and against closed forms.

Seeds are fixed; with other seeds a correct program would fail one comparison of frequencies in a million.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

import dirichlet_bandits as db
from dirichlet_bandits.engine.verbs import has_own, implements, index
from dirichlet_bandits.numerics.argmax import gaussian
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.policies.index import random_index_propensities
from dirichlet_bandits.policies.perturbed import weighted_ratio
from dirichlet_bandits.policies.registry import all_policies, has_propensities
from dirichlet_bandits.policies.rounds import win_probability
from dirichlet_bandits.policies.thompson import heads_law
from tests import naive
from tests.policies.test_policies import told
from tests.policies.twins import PAIRS, default

ALARM = 1e-6
SEVERAL_ARMS = {  # policies that may pull several arms at once: their propensities need not sum to 1
    name
    for name, pair in PAIRS.items()
    if pair.several
    or hasattr(pair.policy.params, "detector")  # arms are pulled together after their restart
    or any(has_own(win_probability, one.params) for one in (pair.policy, getattr(pair.policy, "policy", pair.policy)))
}
RNG = np.random.default_rng(5)
HISTORIES = {
    "unit": {
        "one observation each": [[0.25], [0.5], [1.0]],
        "one against many": [[0.5], list(RNG.random(12).round(3)), list(RNG.random(40).round(3))],
        "equal rewards": [[0.5] * 3, [0.5] * 3, [0.5] * 3],
        "equal means": [[0.5] * 2, [0.25, 0.75, 0.5], [0.5]],
        "tied leaders": [[0.25, 0.75, 0.5], [0.5, 0.5, 0.5], [0.0, 0.5], [0.25]],
        "tied in pulls": [[1.0, 0.5], [0.0, 0.5], [0.25]],
        "at the bounds": [[1.0, 1.0], [1.0], [0.0, 0.0, 0.0]],
        "one below": [[1.0] * 4, [1.0, 1.0, 0.75], [0.0, 1.0]],
    },
    "positive": {
        "one observation each": [[1.0], [2.0], [4.0]],
        "unequal": [[2.0, 3.0], [1.0, 4.0, 2.0, 2.0, 1.0], [3.0]],
        "equal rewards": [[2.0] * 3, [2.0] * 3],
        "no events": [[0.0, 0.0], [1.0, 0.0], [0.0]],
        "nothing at all": [[0.0], [0.0, 0.0]],
    },
    "binary": {
        "one observation each": [[0.0], [1.0], [1.0]],
        "unequal": [[0.0, 1.0], [1.0, 0.0, 0.0, 1.0, 1.0], [1.0], [0.0] * 3],
        "equal rewards": [[1.0] * 3, [1.0] * 3],
        "one against many": [[1.0], [0.0, 1.0] * 30],
    },
}
CASES = [(name, case) for name, pair in PAIRS.items() if pair.live for case in HISTORIES[pair.rewards]]
OFTEN = {"unit": ("one against many", "tied leaders"), "positive": ("unequal", "no events")}
OFTEN["binary"] = ("unequal", "one against many")
SOME = [(name, case) for name, case in CASES if case in OFTEN[PAIRS[name].rewards]]


def frequencies_agree(counts, chances, draws):
    for count, chance in zip(counts, chances, strict=True):
        assert 0.0 <= chance <= 1.0
        if chance in (0.0, 1.0):
            assert count == chance * draws
        else:
            assert stats.binomtest(int(count), draws, chance).pvalue > ALARM


def counted(draw, arms, draws, rng):
    """How often each arm is drawn; a draw that leaves the generator as it was would be the same for ever."""
    counts, before = np.zeros(arms), rng.bit_generator.state
    counts[draw()] += 1
    if rng.bit_generator.state == before:
        return counts * draws
    for _ in range(draws - 1):
        counts[draw()] += 1
    return counts


def check_frequencies(name, case, draws):
    policy, histories = PAIRS[name].policy, HISTORIES[PAIRS[name].rewards][case]
    state = told(policy, histories, seed=3)
    chances = db.state_propensities(policy, state)
    if name not in SEVERAL_ARMS:
        assert chances.sum() == pytest.approx(1.0, abs=1e-12), (
            "if a round pulls several arms: Example(..., several=True)"
        )
    if PAIRS[name].toss is None and not PAIRS[name].ordered:
        np.testing.assert_array_equal(db.propensities(policy, histories), chances)
    rng = np.random.default_rng(4)
    frequencies_agree(counted(lambda: policy.select(state, rng), len(histories), draws, rng), chances, draws)


@pytest.mark.parametrize(("name", "case"), default(SOME))
def test_frequencies_of_select(name, case):
    check_frequencies(name, case, 2000)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), CASES)
def test_frequencies_of_select_at_full_scale(name, case):
    check_frequencies(name, case, 20_000)


def test_every_policy_has_a_propensity():
    covered = {type(PAIRS[name].policy) for name, _ in CASES}
    assert covered == {policy for policy in all_policies().values() if has_propensities(policy)}


@pytest.mark.parametrize("policy", [db.WRSDA(), db.BESA()], ids=repr)
def test_who_has_none_is_refused_with_the_reason_and_before_anything_is_written(policy, tmp_path):
    reason = "'policy' must be a policy with exact propensities: .* count of all subsets"
    with pytest.raises(db.ArgumentError, match=reason):
        db.propensities(policy, [[0.5], [0.25, 1.0]])
    with pytest.raises(db.ArgumentError, match=reason):
        db.create_study("s", arms=["a", "b"], policy=policy, storage=f"sqlite:///{tmp_path}/studies.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("case", ["one observation each", "one against many", "tied leaders"])
def test_coins_are_averaged_over(case):
    policy, histories = db.BinarizedTS(0.0, 1.0), HISTORIES["unit"][case]
    chances = db.propensities(policy, histories)
    rng = np.random.default_rng(8)
    draws = 1500

    def draw():
        state = policy.init(len(histories))
        for arm, history in enumerate(histories):
            for reward in history:
                state = policy.update(state, arm, reward, rng)
        return policy.select(state, rng)

    frequencies_agree(counted(draw, len(histories), draws, rng), chances, draws)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)


def test_the_law_of_the_heads():
    coins = np.random.default_rng(0).random(9)
    law = np.zeros(10)
    for outcome in range(2**9):
        shown = (outcome >> np.arange(9)) & 1
        law[shown.sum()] += np.prod(np.where(shown, coins, 1 - coins))
    np.testing.assert_allclose(heads_law(coins), law, atol=1e-15)
    many = heads_law(np.full(1000, 0.3))
    np.testing.assert_allclose(many, stats.binom(1000, 0.3).pmf(np.arange(1001)), atol=1e-14)


def test_the_opening_pulls_every_new_arm():
    for name in ("RDS sqrt-log", "UCB1", "NPTS", "BinarizedTS", "TS bernoulli"):
        chances = db.propensities(PAIRS[name].policy, {"a": [0.5], "b": [], "c": []})
        assert chances == {"a": 0.0, "b": 1.0, "c": 1.0}


PAIRS_OF_SIZES = [(1, 1), (3, 8), (40, 400), (100_000, 99_000), (2, 100_000)]


@pytest.mark.parametrize("sizes", PAIRS_OF_SIZES)
@pytest.mark.parametrize("factor", [1.0, 1.02, 1.5])
def test_two_arms_of_thompson_sampling_have_closed_forms(sizes, factor):
    """Relative errors: small probabilities too."""
    n1, n2 = sizes
    first, second = 0.3, 0.3 * factor
    total1, total2 = n1 * first, n2 * second

    def chance(family, **more):
        policy = db.ThompsonSampling(family, **more)
        state = policy.init(2)
        state.pulls[:], state.means[:], state.sums[:] = (n1, n2), (first, second), (total1, total2)
        chances = db.state_propensities(policy, state)
        assert chances.sum() == pytest.approx(1.0, abs=1e-12)
        return chances[0]

    gap = (first - second) / math.sqrt(4 / n1 + 4 / n2)
    assert chance("gaussian", sigma=2.0) == pytest.approx(special.ndtr(gap), rel=1e-9)
    # S1/G1 > S2/G2: a share of two Gammas is Beta.
    share = special.betainc(n1, n2, total1 / (total1 + total2))
    assert chance("exponential") == pytest.approx(share, rel=1e-9, abs=1e-300)
    share = special.betaincc(total1 + 0.5, total2 + 0.5, n1 / (n1 + n2))
    assert chance("poisson") == pytest.approx(share, rel=1e-9, abs=1e-300)


def test_two_coins_in_high_precision():
    policy = db.BinarizedTS(0.0, 1.0)
    state = policy.init(2)
    for n1, h1, n2, h2 in ((1, 0, 1, 1), (5, 2, 9, 6), (30, 2, 60, 50), (200, 150, 3, 3)):
        state.pulls[:], state.sums[:] = (n1, n2), (h1, h2)
        with mp.workdps(60):  # P(second > first) = sum over i of B(1 + h1 + i, ...) terms, all positive
            a1, b1, a2, b2 = 1 + h1, 1 + n1 - h1, 1 + h2, 1 + n2 - h2
            terms = (mp.beta(a1 + i, b1 + b2) / ((b2 + i) * mp.beta(1 + i, b2) * mp.beta(a1, b1)) for i in range(a2))
            want = float(mp.fsum(terms))
        chances = db.state_propensities(policy, state)
        assert chances[1] == pytest.approx(want, rel=1e-10)
        assert chances[0] == pytest.approx(1 - want, rel=1e-9)


def test_npts_of_one_reward_is_uniform():
    chances = db.propensities(db.NPTS(upper=1.0), [[0.0], [0.5]])
    np.testing.assert_allclose(chances, [0.25, 0.75], rtol=1e-12)
    np.testing.assert_array_equal(db.propensities(db.NPTS(upper=1.0), [[1.0, 1.0], [0.0], [1.0]]), [0.5, 0, 0.5])


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_npts_against_the_closed_form(shift):
    first, second, upper = [0.1, 0.35, 0.6, 0.2], [0.3 - shift, 0.5 - shift, 0.9 - shift], 1.0

    def density(x, v):  # the derivative of the closed form
        total = 0.0
        for i, xi in enumerate(x):
            if xi > v:
                rest = math.prod(xi - xj for j, xj in enumerate(x) if j != i)
                total += (len(x) - 1) * (xi - v) ** (len(x) - 2) / rest
        return total

    knots = sorted({*first, *(v for v in second if v > min(first)), upper})
    want = 0.0
    nodes, weights = special.roots_legendre(8)  # exact for the polynomials between knots
    for low, high in itertools.pairwise(knots):
        for node, weight in zip(nodes, weights, strict=True):
            v = low + (node + 1) / 2 * (high - low)
            below = 1 - naive.crossing_closed_form([*second, upper], v)
            want += weight * (high - low) / 2 * density([*first, upper], v) * float(below)
    assert db.propensities(db.NPTS(upper), [first, second])[0] == pytest.approx(want, rel=1e-10)


def test_npts_with_many_rewards_is_almost_gaussian_and_sums_to_one():
    rng = np.random.default_rng(1)
    data = [rng.beta(2, 3, 30_000), rng.beta(2, 3, 20_000) + 0.002]
    chances = db.propensities(db.NPTS(upper=2.0), data)
    gap = data[0].mean() - data[1].mean() + 1.6 / 30_000 - 1.6 / 20_000
    about = special.ndtr(gap / math.sqrt(sum(x.var() / x.size for x in data)))
    assert chances[0] == pytest.approx(about, abs=0.01)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("upper", [1.0, 3.0])
def test_npts_sums_to_one_when_rewards_almost_agree(upper):
    """The law of the index then has a layer far narrower than the rest of it: no panel may overlook it."""
    rng = np.random.default_rng(7)
    for _ in range(5):
        data = [0.9 * rng.random() + 1e-6 * rng.random(n) for n in (46, 946, 3)]
        assert db.propensities(db.NPTS(upper), data).sum() == pytest.approx(1.0, abs=1e-12)  # no warning either


@pytest.mark.parametrize("shape", ["gamma", "pareto", "coin", "two clusters"])
@pytest.mark.parametrize("n", [65, 1000, 20_000])
def test_compressd_samples_cross_like_the_full_ones(shape, n):
    rng = np.random.default_rng(n)
    x = {
        "gamma": rng.gamma(0.5, 2.0, n),
        "pareto": rng.pareto(1.5, n),
        "coin": (rng.random(n) < 0.1).astype(float),
        "two clusters": np.where(rng.random(n) < 0.5, 0.0, 1.0) + 1e-3 * rng.normal(size=n),
    }[shape]
    points, weights = compress(x, np.empty(0))
    assert points.size <= 32
    assert weights.sum() == pytest.approx(n)
    upper = x.max() + 1.0
    for z in (-4.0, -1.0, 0.0, 1.0, 4.0, 8.0):
        v = x.mean() + z * x.std() / math.sqrt(n)
        if not x.min() < v < upper:
            continue
        full = db.crossing_probability(np.append(x, upper), v, log=True)
        few = db.crossing_probability(np.append(points, upper), v, np.append(weights, 1.0), log=True)
        if full > -60:
            assert few == pytest.approx(full, rel=1e-10, abs=1e-11)


def test_a_defect_is_reported_not_hidden():
    lame = gaussian(0.0, 1.0)._replace(tails=lambda v: (0.5 * special.ndtr(v), special.ndtr(-v)))
    with pytest.warns(UserWarning, match="propensities sum to 1"):
        chances = random_index_propensities([lame, gaussian(0.0, 1.0)])
    assert chances.sum() != pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("policy", [db.GIRO(), db.BootstrapTS()], ids=repr)
def test_bootstrap_means_of_any_rewards_are_refused_with_a_reason(policy):
    with pytest.raises(db.ArgumentError, match=r"'policy' must be \w+\(binary=True\) where .* as many values as"):
        db.propensities(policy, [[0.0], [1.0]])


def test_replicates_are_not_part_of_a_history():
    with pytest.raises(db.ArgumentError, match=r"'policy' must be one that draws nothing .*state_propensities"):
        db.propensities(db.OnlineBootstrapTS(), [[0.0], [1.0]])


def test_coins_of_phe_one_by_one():
    """All outcomes of 2, 3 and 4 coins, written down, ties shared."""
    histories = [[1.0], [0.0, 1.0], [0.5, 0.0, 0.0]]
    want = np.zeros(3)
    for shown in itertools.product(*(itertools.product([0, 1], repeat=m) for m in (2, 3, 4))):
        means = [Fraction(sum(h) + sum(c)) / (len(h) + len(c)) for h, c in zip(histories, shown, strict=True)]
        best = np.array([mean == max(means) for mean in means])
        want += best / best.sum() / 2**9
    np.testing.assert_allclose(db.propensities(db.PHE(1.1), histories), want, rtol=1e-13)


@pytest.mark.parametrize(("n1", "n2"), [(1, 1), (1, 40), (6, 9), (30, 5000)])
def test_two_arms_of_mbe_by_quadrature(n1, n2):
    """P(first > second) over the two weights, all else being normal given these; small probabilities too."""
    policy = db.MBE()
    state = policy.init(2)
    state.pulls[:], state.means[:], state.squares[:] = (n1, n2), (0.3, 0.6), (0.1 * n1, 0.05 * n2)
    laws = [
        weighted_ratio(policy.params, *(float(x[k]) for x in (state.pulls, state.means, state.squares))) for k in (0, 1)
    ]
    nodes, weights = special.roots_legendre(400)
    grids = []
    for law in laws:
        mean, deviation = law.weight, math.sqrt(law.weight_variance)
        low, high = max(0.0, mean - 14 * deviation), mean + 14 * deviation
        d = low + (nodes + 1) / 2 * (high - low)
        grids.append((law, d, weights * (high - low) / 2 * stats.norm(mean, deviation).pdf(d)))
    (a, d1, w1), (b, d2, w2) = grids
    ratio = a.excess_variance / d1[:, None] ** 2 + b.excess_variance / d2**2
    gap = (a.center + a.excess / d1)[:, None] - (b.center + b.excess / d2)
    finite = float((w1[:, None] * w2 * special.ndtr(gap / np.sqrt(ratio))).sum())
    infinite = [float(special.ndtr(-law.weight / math.sqrt(law.weight_variance))) for law in laws]
    want = finite + infinite[0] * (1.0 - infinite[1] / 2)
    assert db.state_propensities(policy, state)[0] == pytest.approx(want, rel=1e-8, abs=1e-15)


class GreedyParams(NamedTuple):
    unused: float = 0.0


@dataclass(frozen=True)
class Greedy(db.Policy):
    @property
    def params(self):
        return GreedyParams()


@implements(index, GreedyParams)
def greedy(policy, state, arm, total, top, rng):
    return state.means[arm]


def test_a_policy_of_ones_own_joins_by_registration():
    class Newcomer(Greedy):
        """Of this test alone: other tests register Greedy itself."""

    histories = [[0.0], [1.0], [1.0]]
    with pytest.raises(db.ArgumentError, match=r"'policy' must be BCVTS, BDS, .*NPTS.* propensity_of"):
        db.propensities(Newcomer(), histories)

    @db.propensity_of(Newcomer)
    def rule(policy, state):
        best = state.means == state.means.max()
        return best / best.sum()

    np.testing.assert_array_equal(db.propensities(Newcomer(), histories), [0.0, 0.5, 0.5])


def test_bad_histories_are_named():
    with pytest.raises(db.ArgumentError, match=r"'histories\[1\]' must be finite numbers"):
        db.propensities(db.RDS(), [[1.0], [math.nan]])
    with pytest.raises(db.ArgumentError, match=r"'histories\['b'\]'"):
        db.propensities(db.RDS(), {"a": [1.0], "b": "text"})
    for bad in ([], [[1.0]], 3, "ab", None):
        with pytest.raises(db.ArgumentError, match="'histories' must be the rewards of at least two arms"):
            db.propensities(db.RDS(), bad)
    with pytest.raises(db.RewardError):
        db.propensities(db.NPTS(upper=1.0), [[1.0], [1.5]])
    for policy in ("NTPS", 3):
        with pytest.raises(db.ArgumentError, match="'policy' must be"):
            db.propensities(policy, [[1.0], [1.5]])
    assert db.propensities("RDS", [[1.0], [1.5]]).tolist() == db.propensities(db.RDS(), [[1.0], [1.5]]).tolist()
