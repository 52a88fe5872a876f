"""check_law and check_environment accept what the library has, and find planted mistakes."""

import math

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.environments.environment import Environment
from dirichlet_bandits.seeding import generator

COINS = [db.Bernoulli(0.3), db.Bernoulli(0.6)]


def wave(t):
    return [0.5, 0.5 + 0.3 * math.sin(t / 30)]


LAWS = [
    *(db.Bernoulli(0.3), db.Bernoulli(1.0), db.Bernoulli(1e-5), db.Gaussian(-1.0, 2.0), db.Exponential(2.0)),
    *(db.Uniform(-1.0, 3.0), db.Beta(0.5, 0.5), db.Poisson(0.01), db.Poisson(30.0), db.Empirical([0.0, 0.0, 3.0, 0.1])),
    *(db.ClippedGaussian(0.5, 0.5, 0.0, 1.0), db.GaussianMixture([0.9, 0.1], [-0.3, 5.0], [0.5, 0.1])),
    *(db.Geometric(0.1), db.Pareto(3.0), db.Pareto(0.5)),
    *(stats.norm(0.0, 1.0), stats.t(3.0), stats.poisson(2.0), stats.geom(0.2), stats.expon(loc=1.0)),
]
ENVIRONMENTS = [
    db.Bandit(COINS),
    db.Bandit([db.Bernoulli(0.0), db.Bernoulli(1.0)]),
    db.Bandit([db.Bernoulli(1e-5), db.Bernoulli(1e-3)]),
    db.Bandit([stats.norm(0.0, 1.0), db.Poisson(0.3)], objective=db.CVaR(0.3)),
    db.Piecewise({1: COINS, 100: COINS[::-1], 250: [db.Gaussian(0.0, 1e-3), db.Gaussian(1.0, 2.0)]}),
    db.Piecewise({1: COINS, 100: COINS[::-1]}, objective=db.CVaR(0.9)),
    db.Drifting(wave, noise=stats.norm(0.0, 0.3)),
    db.Drifting(wave, law="bernoulli"),
    db.Drifting(wave, law="poisson"),
    db.Drifting(wave, law="exponential"),
    db.Drifting(wave, law="gaussian", sigma=0.2),
    db.Drifting(lambda t: wave(50 * (t // 50)), law=lambda mean: db.Beta(mean, 1.0 - mean)),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: repr(law)[:40])
def test_the_laws_of_the_library_and_of_scipy_are_sound(law):
    """Seeded: a check would refuse a sound law once in a million."""
    assert db.testing.check_law(law).kind == "a law"


def without_address(environment):
    """Name a case the same in every process."""
    return repr(environment).partition(" at 0x")[0][:50]


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=without_address)
def test_the_environments_of_the_library_are_sound(environment):
    """Seeded: a check would refuse a sound environment once in a million."""
    assert len(db.testing.check_environment(environment, horizon=400).checks) == 5


class Own:
    """A sound law, Exponential(1) by inversion, of which tests spoil one part."""

    def rvs(self, size, random_state):
        return -np.log1p(-random_state.random(size))

    def mean(self):
        return 1.0

    def std(self):
        return 1.0

    def support(self):
        return 0.0, math.inf

    def cdf(self, x):
        return -np.expm1(-np.asarray(x))

    def ppf(self, q):
        return -np.log1p(-np.asarray(q))


class Three(Own):
    """Three values with equal chances."""

    def rvs(self, size, random_state):
        return random_state.integers(3, size=size).astype(float)

    def std(self):
        return math.sqrt(2.0 / 3.0)

    def atoms(self):
        return np.arange(3.0), np.full(3, 1.0 / 3.0)

    cdf = ppf = None


OTHER = np.random.default_rng(5)
SPOILED = [
    (Own, {"mean": lambda self: 1.05}, "its mean is 1.05, but 100,000 rewards have the mean"),
    (Own, {"mean": lambda self: math.nan}, r"mean\(\) must be a number"),
    (Own, {"std": lambda self: 1.2}, "its standard deviation is 1.2, but that of 100,000 rewards is"),
    (Own, {"support": lambda self: (0.0, 5.0)}, "are outside its support, from 0 to 5"),
    (Own, {"cdf": lambda self, x: -np.expm1(-1.05 * np.asarray(x))}, "of 100,000 rewards are at most that"),
    (Own, {"cdf": lambda self, x: np.asarray(x) * math.nan}, "is nan, but"),
    (Own, {"ppf": lambda self, q: -np.log1p(-np.asarray(q)) * 1.05}, r"ppf\(.*\) is .*, but .* are at most that"),
    (Own, {"rvs": lambda self, size, random_state: OTHER.random(size)}, "two draws with equal seeds differ"),
    (Own, {"rvs": lambda self, size, random_state: np.random.random(size)}, "two draws with equal seeds differ"),  # noqa: NPY002
    (Own, {"rvs": lambda self, size, random_state: np.arange(size)}, "two draws with different seeds are equal"),
    (
        Own,
        {"rvs": lambda self, size, random_state: random_state.random((size, 1))},
        "must return 100000 finite numbers",
    ),
    (Own, {"rvs": lambda self, size, random_state: np.full(size, math.nan)}, "must return 100000 finite numbers"),
    (Own, {"rvs": lambda self, size, random_state: [1 / 0]}, "raises ZeroDivisionError"),
    (Three, {"atoms": lambda self: (np.arange(2.0), np.full(2, 0.5))}, "draws 2, which is not among its atoms"),
    (
        Three,
        {"atoms": lambda self: (np.arange(3.0), np.array([0.3, 0.35, 0.35]))},
        "not the probabilities of its atoms",
    ),
    (Three, {"atoms": lambda self: (np.arange(3.0), np.full(3, 0.4))}, "sum to one"),
]


@pytest.mark.parametrize("kind", [Own, Three])
def test_a_law_of_ones_own_is_sound(kind):
    db.testing.check_law(kind())


@pytest.mark.parametrize(("kind", "spoiled", "message"), SPOILED, ids=[message[:30] for *_, message in SPOILED])
def test_a_mistake_in_a_law_is_found(kind, spoiled, message):
    with pytest.raises(db.errors.UnsoundError, match=message):
        db.testing.check_law(type("Spoiled", (kind,), spoiled)())


def test_what_is_no_law_is_refused():
    for wrong in (db.Bernoulli, 0.5, object()):
        with pytest.raises(db.errors.UnsoundError, match="it needs the methods rvs"):
            db.testing.check_law(wrong)


class Recovering(db.Environment):
    """The best arm breaks down at pull 150 and recovers slowly: values that move inside a segment."""

    names = ("steady", "broken")

    def values_over(self, horizon):
        pulls = np.arange(horizon)
        return np.stack([np.full(horizon, 0.5), np.where(pulls < 150, 0.8, 0.1 + 0.7 * (pulls - 150) / 250)], axis=1)

    def rewards(self, seeds, horizon):
        uniform = np.stack([generator(seed).random(horizon) for seed in seeds])
        return (uniform < self.values_over(horizon).T).astype(float)

    def support(self, horizon):
        return 0.0, 1.0

    def starts(self, horizon):
        return [0, 150]


class Average(Recovering):
    """Says the average of each segment, and pays what moves inside it."""

    indexed_by = "pulls"

    def values_over(self, horizon):
        values = super().values_over(horizon)
        return np.repeat([values[:150].mean(axis=0), values[150:].mean(axis=0)], [150, horizon - 150], axis=0)

    def rewards(self, seeds, horizon):
        uniform = np.stack([generator(seed).random(horizon) for seed in seeds])
        return (uniform < Recovering.values_over(self, horizon).T).astype(float)


def planted(base=Recovering, **changes):
    return type("Planted", (base,), changes)()


def shifted(self, horizon):
    return Recovering.values_over(self, horizon) + np.array([0.05, 0.0])


STREAM = np.random.default_rng(6)
PLANTED = {
    "indexed by pulls though values move": (
        planted(indexed_by="pulls"),
        "constant inside each segment, because rewards are indexed by pulls",
    ),
    "moves inside a segment and says the average": (planted(Average), "pays .* on average where values_over says"),
    "wrong mean": (
        planted(values_over=shifted, rewards=lambda self, s, n: Recovering().rewards(s, n)),
        "'steady' pays",
    ),
    "outside the support": (planted(support=lambda self, n: (0.0, 0.9)), "are outside its support, from 0 to 0.9"),
    "a generator of its own": (planted(rewards=lambda self, s, n: STREAM.random((2, n))), "equal seeds differ"),
    "the global generator": (
        planted(rewards=lambda self, s, n: np.random.random((2, n))),  # noqa: NPY002
        "equal seeds differ",
    ),
    "no use of the seeds": (
        planted(rewards=lambda self, s, n: np.random.default_rng(0).random((2, n))),
        "different seeds are equal",
    ),
    "transposed": (planted(rewards=lambda self, s, n: Recovering.rewards(self, s, n).T), "of shape \\(2, 400\\)"),
    "not finite": (planted(rewards=lambda self, s, n: np.full((2, n), math.inf)), "not finite"),
    "too few values": (planted(values_over=lambda self, n: np.zeros((n - 1, 2))), "of shape \\(400, 2\\)"),
    "wrong gaps": (planted(gaps_over=lambda self, n: np.zeros((n, 2))), "gaps_over must be the differences"),
    "starts late": (planted(starts=lambda self, n: [150]), "increasing times from 0 to 399, the first of them 0"),
    "one arm": (planted(names=("alone",)), "at least two arms"),
    "names in a list": (planted(names=["a", "b"]), "names must be a tuple"),
    "a law that is wrong": (db.Bandit([type("Off", (Own,), {"mean": lambda self: 1.1})()] * 2), "1.1"),
}


def test_an_environment_whose_values_move_inside_a_segment_is_sound():
    """Written as the guide shows; rewards indexed by pulls earned 215.9 where its values say 227.4."""
    db.testing.check_environment(Recovering(), horizon=400)
    result = db.simulate(Recovering(), db.EqualSplit(), horizon=400, replications=400, seed=0)
    expected = Recovering().values_over(400).mean(axis=1).sum()
    reward = result.reward.values[0]
    assert abs(reward.mean() - expected) < 5.0 * reward.std() / 20.0  # one false alarm in 1.7 million seeds


@pytest.mark.parametrize(("environment", "message"), PLANTED.values(), ids=PLANTED)
def test_a_mistake_in_an_environment_is_found(environment, message):
    with pytest.raises(db.errors.UnsoundError, match=message):
        db.testing.check_environment(environment, horizon=400)


def test_the_statistics_find_the_mistake_that_the_shape_shows(monkeypatch):
    """Without the refusal of values that move, rewards indexed by pulls are found to differ from the values."""
    monkeypatch.setattr("dirichlet_bandits.simulation.plan.checked_values", lambda environment, horizon: None)
    with pytest.raises(db.errors.UnsoundError, match=r"arm 'broken' pays .* on average where values_over says"):
        db.testing.check_environment(planted(indexed_by="pulls"), horizon=400)


def test_what_is_no_environment_is_refused():
    for wrong in (Environment, db.Bandit, COINS):
        with pytest.raises(db.errors.UnsoundError, match="derived from Environment"):
            db.testing.check_environment(wrong)
