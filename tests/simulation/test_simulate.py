"""What must hold of every simulation: reproducible, common random numbers, bounds kept, nothing lost."""

import hashlib
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits import seeding
from dirichlet_bandits.display.progress import Bars
from dirichlet_bandits.seeding import new_stream, replication_seeds, root_sequence, start_stream, stream_seeds
from tests.simulation.games import GreedyUCB

BANDIT = db.Bandit([db.Gaussian(0.0, 1.0), db.Gaussian(0.5, 1.0), db.Exponential(0.2)], names=["a", "b", "c"])
POLICIES = {"RDS": db.RDS(), "UCB1": db.UCB1(sigma=1.0)}


def run(bandit=BANDIT, policies=POLICIES, **changes):
    return db.simulate(bandit, policies, **{"horizon": 300, "replications": 20, "seed": 3, **changes})


def digest(result):
    return hashlib.sha256(
        b"".join(result.data[name].values.tobytes() for name in ("regret", "pulls", "reward"))
    ).hexdigest()


def test_same_numbers_for_any_number_of_workers():
    assert digest(run(workers=1)) == digest(run(workers=2)) == digest(run(workers=5))


def test_same_numbers_in_a_fresh_process():
    code = "from tests.simulation.test_simulate import digest, run; print(digest(run()))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == digest(run())


def test_replications_do_not_depend_on_how_many_there_are():
    few, many = run(replications=5), run(replications=20)
    np.testing.assert_array_equal(few.regret, many.regret[:, :5])


def test_policies_do_not_depend_on_their_company():
    np.testing.assert_array_equal(run(policies=db.RDS()).regret[0], run().regret.sel(policy="RDS"))


def test_seeds_matter_and_a_generator_or_sequence_is_a_seed():
    assert digest(run(seed=3)) != digest(run(seed=4))
    assert digest(run(seed=np.random.SeedSequence(3))) == digest(run(seed=3))
    assert digest(run(seed=np.random.default_rng(3))) == digest(run(seed=np.random.default_rng(3)))


@pytest.mark.parametrize("foreign", [False, True])
def test_every_policy_meets_the_same_rewards(foreign):
    """The reward of a run is the sum of the first rewards of each arm's own stream, whoever pulls."""
    arms = [stats.norm(0.0, 1.0), stats.gamma(2.0), db.Uniform(0.0, 1.0)] if foreign else BANDIT.arms
    bandit = db.Bandit(arms)
    result = run(bandit, {**POLICIES, "Python": GreedyUCB()}, horizon=2500, replications=2)
    for replication in range(2):
        for policy in result.policies:
            tape = bandit.rewards(stream_seeds(root_sequence(3), replication, 4), 2500)
            pulls = result.pulls.sel(policy=policy, replication=replication).values
            total = sum(tape[k, : pulls[k]].sum() for k in range(3))
            assert result.reward.sel(policy=policy, replication=replication).item() == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("foreign", [False, True])
def test_python_and_compiled_policies_play_the_same_game(foreign):
    bandit = db.Bandit([stats.norm(0.0, 1.0), stats.norm(0.3, 1.0)]) if foreign else BANDIT
    result = run(bandit, {"compiled": db.UCB1(sigma=1.0), "Python": GreedyUCB()}, replications=5)
    np.testing.assert_array_equal(result.pulls.sel(policy="compiled"), result.pulls.sel(policy="Python"))
    np.testing.assert_allclose(
        result.regret.sel(policy="compiled"), result.regret.sel(policy="Python"), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("key", [(), (0,), (2**33, 4)], ids=str)
@pytest.mark.parametrize("entropy", [0, 2**32 - 1, 2**32, 2**128, [2**40, 3, 4, 5]], ids=str)
def test_seeds_made_at_once_are_those_made_one_by_one(entropy, key):
    root = np.random.SeedSequence(entropy, spawn_key=key)
    one_by_one = [stream_seeds(root, replication, 3) for replication in range(5, 9)]
    np.testing.assert_array_equal(replication_seeds(root, 5, 9, 3), one_by_one)


def test_streams_are_those_of_numpy():
    seed = stream_seeds(root_sequence(11), replication=4, n_streams=2)[1]
    stream = new_stream()
    start_stream(*stream, seed)
    plain = np.random.Generator(np.random.SFC64(0))
    state = plain.bit_generator.state
    state["state"]["state"][:] = stream.words[:4]
    plain.bit_generator.state = state
    np.testing.assert_array_equal(stream.rng.standard_normal(5), plain.standard_normal(5))


@pytest.mark.parametrize("moved", [lambda words: words[::-1], lambda words: words.copy()], ids=["order", "elsewhere"])
def test_another_layout_of_numpys_memory_is_refused(moved, monkeypatch):
    """Words in another order are noticed when they are read, words that are not the state when they are written."""
    there = seeding._words_of
    monkeypatch.setattr(seeding, "_words_of", lambda bits: moved(there(bits)))
    seeding._check_layout.cache_clear()
    try:
        with pytest.raises(db.DirichletBanditsError, match="keeps the state of SFC64 in an unknown layout"):
            run()
    finally:
        seeding._check_layout.cache_clear()
    monkeypatch.undo()
    assert new_stream().words.size == 5


def test_regret_is_the_sum_of_gaps_times_pulls():
    result = run()
    np.testing.assert_allclose(result.regret.isel(time=-1), result.pulls.values @ BANDIT.gaps, rtol=1e-12)
    assert (result.pulls.sum("arm") == 300).all()
    assert (result.regret.diff("time") >= 0).all()


def test_recorded_times():
    assert run().data["time"].values[[0, -1]].tolist() == [1, 300]
    assert 150 <= run(horizon=5000, replications=1).data.sizes["time"] <= 205
    assert run(record=[10, 20]).data["time"].values.tolist() == [10, 20, 300]


def test_rounds_stop_at_the_horizon():
    equal = db.Bandit([db.Empirical([0.5])] * 5)
    for horizon in range(5, 14):
        assert (run(equal, db.RDS(), horizon=horizon).pulls.sum("arm") == horizon).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": -1}, "'horizon' must be an integer of at least 3"),
        ({"horizon": 2}, "'horizon' must be an integer of at least 3"),
        ({"horizon": 10.5}, "'horizon'"),
        ({"replications": 0}, "'replications' must be an integer of at least 1"),
        ({"workers": 0}, "'workers'"),
        ({"seed": -1}, "'seed' must be a non-negative int"),
        ({"seed": "x"}, "'seed'"),
        ({"record": []}, "'record'"),
        ({"record": [0]}, "'record'"),
        ({"record": [301]}, "'record'"),
        ({"policies": {}}, "at least one policy"),
        ({"policies": {"x": db.RDS}}, r"policies\['x'\]"),
        ({"policies": {"x": 3}}, r"policies\['x'\]"),
        ({"policies": [db.RDS(), db.RDS()]}, "different from each other"),
        (
            {"policies": db.NPTS(upper=1)},
            r"in \[-inf, inf\], the support of arm 'a', but its own bounds are \[-inf, 1\] \(got",
        ),
        ({"policies": db.ThompsonSampling("exponential")}, "support of arm 'a'"),
        ({"bandit": [db.Bernoulli(0.5)] * 2}, "'bandit' must be a Bandit"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(changes, message):
    with pytest.raises(db.ArgumentError, match=message):
        run(**changes)


class Unbounded:
    """A law that does not tell its support."""

    def __init__(self, value):
        self.value = value

    def rvs(self, size, random_state):
        return np.full(size, self.value)

    def mean(self):
        return 0.5


def test_a_reward_above_the_declared_bound_is_named():
    bandit = db.Bandit([Unbounded(0.5), Unbounded(1.2)], names=["fine", "too large"])
    with pytest.raises(
        db.RewardError, match=r"arm 'too large': BDS\(upper=1, .*expects rewards in \[-inf, 1\] \(got 1.2\)"
    ):
        run(bandit, db.BDS(upper=1))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_reward_that_is_not_a_number_is_named(value):
    with pytest.raises(db.RewardError, match="'arm 1': rvs must give finite numbers"):
        run(db.Bandit([Unbounded(0.5), Unbounded(value)]), db.RDS())


def test_a_policy_that_answers_nonsense_is_named():
    class Nonsense(GreedyUCB):
        def select(self, rng):
            return 7

    with pytest.raises(db.ArgumentError, match=r"'select\(rng\)' must be an arm from 0 to 2"):
        run(policies=Nonsense())


def test_ctrl_c_returns_what_is_done(monkeypatch):
    warm = run(policies=db.NPTS(upper=1), bandit=db.Bandit([db.Uniform(0, 1)] * 2), horizon=10, fast=False)
    assert warm.horizon == 10
    show = Bars.show

    def show_and_interrupt(bars, name, done, total=None):
        show(bars, name, done, total)
        if 0 < done < 100_000:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Bars, "show", show_and_interrupt)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        settings = {"horizon": 1000, "replications": 100_000, "seed": 5}  # the whole would take many minutes
        partial = db.simulate(db.Bandit([db.Uniform(0, 1)] * 2), db.NPTS(upper=1), fast=False, **settings)
        with pytest.raises(KeyboardInterrupt):
            db.simulate(
                db.Bandit([db.Uniform(0, 1)] * 2), db.NPTS(upper=1), fast=False, **settings, on_interrupt="raise"
            )
    monkeypatch.undo()
    with pytest.raises(db.ArgumentError, match="'on_interrupt' must be one of 'return', 'raise'"):
        run(on_interrupt="exit")
    assert any("interrupted" in str(warning.message) for warning in caught)
    done = ~np.isnan(partial.reward.values[0])
    assert 0 < done.sum() < 100_000
    assert partial.summary()["replications"].item() == done.sum()
    first = int(np.flatnonzero(done)[0])
    again = db.simulate(
        db.Bandit([db.Uniform(0, 1)] * 2), db.NPTS(upper=1), fast=False, horizon=1000, replications=first + 1, seed=5
    )
    np.testing.assert_array_equal(partial.regret[0, first], again.regret[0, first])
