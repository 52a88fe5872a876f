"""Policies that forget: windows and discounts in the order of the decisions, wherever and whenever rewards arrive.

Seeds are fixed; with other seeds, a correct program would fail one comparison of frequencies or distributions in a
million.
"""

import math
from functools import partial

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.live.description import described, restore
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.policies.ring import discounted_samples
from dirichlet_bandits.policies.written import parse_policy
from tests.live.reporting import report_some
from tests.naive import forgetting
from tests.naive import policies as naive
from tests.policies.test_equal_law import ALARM, VALUES, chi_square, naive_counts, pull_counts
from tests.policies.test_propensity import counted, frequencies_agree
from tests.policies.twins import Example

SHORT = 6
TS = db.ThompsonSampling("bernoulli")
INNER = {
    "UCB1": (db.UCB1(sigma=0.5), partial(naive.ucb1, sigma=0.5)),
    "KLUCB": (db.KLUCB("bernoulli"), partial(naive.klucb, family="bernoulli")),
    "TS": (TS, partial(naive.thompson, family="bernoulli")),
    "NPTS": (db.NPTS(upper=1.0), partial(naive.npts, upper=1.0)),
    "RDS": (db.RDS(), naive.rds),
}
EXAMPLES = {
    f"SlidingWindow {name}": (
        db.SlidingWindow(inner, SHORT),
        partial(forgetting.sliding_window, window=SHORT, inner=twin),
    )
    for name, (inner, twin) in INNER.items()
}
EXAMPLES |= {
    "Discounted UCB1": (db.Discounted(db.UCB1(0.5), 0.3), partial(forgetting.discounted_ucb1, gamma=0.3, sigma=0.5)),
    "Discounted KLUCB": (
        db.Discounted(db.KLUCB("bernoulli"), 0.5),
        partial(forgetting.discounted_klucb, gamma=0.5, family="bernoulli"),
    ),
    "Discounted TS": (db.Discounted(TS, 0.2), partial(forgetting.discounted_ts, gamma=0.2)),
    "Discounted NPTS": (
        db.Discounted(db.NPTS(upper=1.0), 0.8),
        partial(forgetting.discounted_npts, gamma=0.8, upper=1.0),
    ),
    "Discounted RDS": (db.Discounted(db.RDS(), 0.7), partial(forgetting.discounted_rds, gamma=0.7)),
    "SWLBSDA": (db.SWLBSDA(SHORT), forgetting.SWLBSDA(SHORT)),
    "SWLBSDA 12": (db.SWLBSDA(12), forgetting.SWLBSDA(12)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_pull_counts_have_the_distribution_of_the_reference(name):
    """Windows much shorter than the run."""
    policy, twin = EXAMPLES[name]
    expected = naive_counts(Example(None, twin), VALUES["unit"], 25, 1000)
    assert chi_square(expected, pull_counts(policy, VALUES["unit"], 25, 20_000, fast=True)) > ALARM


@pytest.mark.parametrize("forgotten", [SHORT - 2, SHORT + 2])
def test_the_comparison_notices_another_window(forgotten):
    policy, _ = EXAMPLES["SlidingWindow TS"]
    twin = partial(forgetting.sliding_window, window=forgotten, inner=INNER["TS"][1])
    expected = naive_counts(Example(None, twin), VALUES["unit"], 25, 1000)
    assert chi_square(expected, pull_counts(policy, VALUES["unit"], 25, 20_000, fast=True)) < ALARM


def _tell(policy, state, arm, reward, decision, now, rng):
    verbs.note(policy, state, decision, now)
    return verbs.update(policy, state, arm, reward, rng)


def _wait(policy, state, now):
    verbs.note(policy, state, now, now)


def reported(policy, n_arms, reports, now):
    """State after reports of (decision, arm, reward, decisions made until then), and ``now`` decisions."""
    state, rng = policy.init(n_arms), np.random.default_rng(0)
    for decision, arm, reward, made in reports:
        state = specialized(_tell, policy.params)(policy.params, state, arm, reward, decision, made, rng)
    specialized(_wait, policy.params)(policy.params, state, now)
    return state


def late_reports(rng, decisions, n_arms):
    """Rewards with random delays, in the order in which they arrive; some never do."""
    due = sorted((s + 1 + int(rng.geometric(0.2)), s) for s in range(decisions) if rng.random() < 0.9)
    arms, rewards = rng.integers(n_arms, size=decisions), rng.random(decisions).round(3)
    return [(s, int(arms[s]), float(rewards[s]), time) for time, s in due if time <= decisions]


@pytest.mark.parametrize("policy", [db.SlidingWindow(db.UCB1(0.5), 9), db.Discounted(db.UCB1(0.5), 0.6)], ids=repr)
def test_only_the_decisions_count_not_when_rewards_arrive(policy):
    """Arriving late, in any order, or all at once, rewards leave the same state: those of the last decisions."""
    rng = np.random.default_rng(1)
    size = policy.params.window
    for decisions in (3, 30, 100):
        reports = late_reports(rng, decisions, 3)
        state = reported(policy, 3, reports, decisions)
        shuffled = [(*reports[i][:3], decisions) for i in rng.permutation(len(reports))]
        for part, other in zip(state, reported(policy, 3, shuffled, decisions), strict=True):
            known = state.arms >= 0 if part is state.rewards else slice(None)
            np.testing.assert_array_equal(part[known], other[known])
        recent = {s: (arm, reward) for s, arm, reward, _ in reports if s >= decisions - size}
        for s in range(max(decisions - size, 0), decisions):
            arm, reward = recent.get(s, (-1, None))
            assert state.arms[s % size] == arm
            assert arm < 0 or state.rewards[s % size] == reward
        assert state.pulls.tolist() == [sum(arm == k for arm, _ in recent.values()) for k in range(3)]


@pytest.mark.parametrize(
    "policy",
    [
        db.SlidingWindow(db.RDS(), 10),
        db.Discounted(TS, 0.5),
        db.Discounted(db.NPTS(upper=1.0), 0.5),
        db.Discounted(db.RDS(), 0.5),
        db.SWLBSDA(10),
    ],
    ids=repr,
)
def test_memory_and_the_rewards_of_a_decision_do_not_grow(policy):
    state, rng = policy.init(3), np.random.default_rng(0)
    before = [part.shape for part in state]
    for step in range(300):
        state = policy.update(state, step % 3, float(rng.random()), rng)
    assert [part.shape for part in state] == before
    # Decisions and propensities are made from these arrays alone: their cost is that of the window.
    assert state.pulls.sum() == state.arms.size == policy.params.window
    if isinstance(policy, db.Discounted):
        used = specialized(discounted_samples, policy.params)(policy.params, state)
        assert used.values.size == policy.params.window
        assert used.weights.min() >= 1e-6 > used.weights.min() * policy.gamma


@pytest.mark.parametrize("policy", [db.SlidingWindow(TS, 15), db.Discounted(TS, 0.5), db.SWLBSDA(15)], ids=repr)
def test_a_study_remembers_no_more_than_the_window(policy):
    """The state of a study has the same size after 40 and after 160 trials."""
    study, sizes = db.create_study("s", arms=["a", "b", "c"], policy=policy, seed=1), []
    for step in range(160):
        study.tell(study.ask().id, float(step % 3 == 0))
        if step + 1 in (40, 160):
            study.propensities()
            sizes.append([part.size for part in local_of(study)._state.decider._state])
    assert sizes[0] == sizes[1]
    assert max(sizes[0]) == policy.params.window


def test_a_discounted_state_is_that_of_its_definition():
    policy, rng = db.Discounted(db.UCB1(0.5), 0.8), np.random.default_rng(2)
    reports = late_reports(rng, 60, 2)
    state = reported(policy, 2, reports, 60)
    weights = [[0.8 ** (59 - s) for s, arm, _, _ in reports if arm == k] for k in range(2)]
    counts = [math.fsum(w) for w in weights]
    means = [math.fsum(0.8 ** (59 - s) * x for s, arm, x, _ in reports if arm == k) / counts[k] for k in range(2)]
    indices = [means[k] + 0.5 * math.sqrt(2 * math.log(sum(counts)) / counts[k]) for k in range(2)]
    assert db.state_propensities(policy, state).tolist() == [float(i == max(indices)) for i in indices]


def test_discounted_npts_where_the_answer_is_known():
    """Two arms with one reward x each: P(upper - index <= s) = (s / (upper - x))^w, so the older arm wins with
    probability w_new / (w_old + w_new), however small the weights are."""
    for gamma, now in ((0.5, 2), (0.5, 15), (0.2, 2), (0.999, 2), (0.9, 100)):
        policy = db.Discounted(db.NPTS(upper=2.0), gamma)
        state = reported(policy, 2, [(0, 0, 0.25, 1), (1, 1, 0.25, 2)], now)
        expected = np.array([1.0, gamma]) / (1.0 + gamma)
        np.testing.assert_allclose(db.state_propensities(policy, state), expected, rtol=1e-11)
    best = reported(policy, 3, [(0, 0, 2.0, 1), (1, 1, 2.0, 2), (2, 2, 1.5, 3)], 3)
    assert db.state_propensities(policy, best).tolist() == [0.5, 0.5, 0.0]
    assert {policy.select(best, np.random.default_rng(seed))[0] for seed in range(20)} == {0, 1}


def test_discounted_rds_where_the_answer_is_known():
    """A challenger with one reward of weight w, below the leader's mean: it wins if G_w <= rho E, with probability
    (1 + 1/rho)^-w, rho = sqrt(log(1 + w))."""
    for gamma, now in ((0.5, 3), (0.5, 15), (0.9, 60)):
        policy = db.Discounted(db.RDS(), gamma)
        state = reported(policy, 2, [(0, 0, 0.25, 1), (1, 1, 0.5, 2), (2, 1, 0.75, 3)], now)
        w = gamma ** (now - 1)
        wins = (1.0 + 1.0 / math.sqrt(math.log1p(w))) ** -w
        np.testing.assert_allclose(db.state_propensities(policy, state), [wins, 1.0 - wins], rtol=1e-9)


def test_hardly_discounted_rewards_are_those_of_the_plain_policy():
    rewards = [(0, 0.2), (1, 0.7), (0, 0.6), (2, 0.4), (1, 0.1), (0, 0.9), (1, 0.8), (1, 0.3)]
    histories = [[x for arm, x in rewards if arm == k] for k in range(3)]
    for inner in (db.NPTS(upper=1.0), db.RDS()):
        policy = db.Discounted(inner, 1.0 - 1e-4)
        state = reported(policy, 3, [(s, arm, x, s + 1) for s, (arm, x) in enumerate(rewards)], len(rewards))
        found = db.state_propensities(policy, state)
        np.testing.assert_allclose(found, db.propensities(inner, histories), atol=2e-3)


def test_a_discounted_total_below_one_explores_nothing():
    """Two old rewards: log t would be negative, and is taken as 0."""
    for inner in (db.UCB1(0.5), db.KLUCB("bernoulli")):
        policy = db.Discounted(inner, 0.5)
        state = reported(policy, 2, [(0, 0, 0.4, 1), (1, 1, 0.6, 2)], 6)
        assert db.state_propensities(policy, state).tolist() == [0.0, 1.0]
        assert policy.select(state, np.random.default_rng(0)) == [1]


@pytest.mark.parametrize("name", EXAMPLES)
def test_frequencies_of_select_after_late_rewards(name):
    """In a window or discounted, exact propensities are those of the decisions; 2000 draws in each of three states."""
    policy, rng = EXAMPLES[name][0], np.random.default_rng(3)
    for decisions in (25, 40, 41):
        state = reported(policy, 3, late_reports(rng, decisions, 3), decisions)
        chances = db.state_propensities(policy, state)
        if not state.pulls.all():
            assert chances.tolist() == (state.pulls == 0).tolist()
        draws = np.random.default_rng(4)
        frequencies_agree(counted(lambda s=state, d=draws: policy.select(s, d), 3, 2000, draws), chances, 2000)


@pytest.mark.parametrize(("inner", "window"), [(INNER["UCB1"][0], 25), (TS, 8), (INNER["RDS"][0], 25)], ids=repr)
def test_live_propensities_are_those_of_the_inner_policy_on_the_last_trials(inner, window):
    """Rewards late, lost, voided and corrected: at each ask the last trials with a reward make the histories."""
    rng, absent = np.random.default_rng(5), 0
    study = db.create_study("s", arms=["a", "b", "c"], policy=db.SlidingWindow(inner, window), seed=3)
    waiting = []
    for step in range(90):
        waiting += study.ask(1 + step % 2)
        report_some(study, waiting, rng, 3, 0.1, lambda: float(rng.random() < 0.5))
        if step == 60:
            frame = study.trials_dataframe().query("status == 'told'")
            study.void(int(frame.index[-2]), "told twice")
            study.correct(int(frame.index[-4]), 1.0, "mistyped")
        frame = study.trials_dataframe()
        told = frame[(frame["status"] == "told") & (frame.index >= len(frame) - window)]
        histories = {arm: told["reward"][told["arm"] == arm].to_numpy() for arm in study.arms}
        known = set(frame["arm"][frame["status"] == "told"])
        if step < 10 or known != set(study.arms):
            continue
        absent += not all(len(x) for x in histories.values())
        found = study.propensities()
        expected = db.propensities(inner, histories)
        assert found == pytest.approx(expected, abs=1e-12)
    assert study.replay().same
    assert absent > 0 or window > 8


@pytest.mark.parametrize("policy", [db.SlidingWindow(TS, 15), db.Discounted(TS, 0.8)], ids=repr)
def test_decisions_do_not_depend_on_the_order_of_tells(policy):
    """Rewards that are known at the same asks lead to the same decisions, in whatever order they were told."""
    studies = [db.create_study(f"s{k}", arms=["a", "b", "c"], policy=policy, seed=1) for k in range(2)]
    rng = np.random.default_rng(6)
    for _ in range(25):
        asked = [study.ask(4) for study in studies]
        first, second = ([(trial.id, trial.arm, trial.propensity) for trial in trials] for trials in asked)
        assert first == second
        rewards = [float(rng.random() < 0.5) for _ in first]
        for study, order in zip(studies, (range(4), rng.permutation(4)), strict=True):
            for i in order:
                study.tell(first[i][0], rewards[i])
    assert all(study.replay().same for study in studies)


@pytest.mark.parametrize(
    "policy", [db.SlidingWindow(db.NPTS(upper=1.0), 20), db.Discounted(db.KLUCB("bernoulli"), 0.9), db.SWLBSDA(20)]
)
def test_another_process_continues_a_study(policy, tmp_path):
    """A study that is opened again, between any two calls, decides as the first process would have."""
    storage, rng = f"sqlite:///{tmp_path}/s.db", np.random.default_rng(7)
    study = db.create_study("s", arms=["a", "b", "c"], policy=policy, storage=storage, seed=2)
    waiting = []
    for step in range(60):
        if step % 7 == 3:
            other = db.load_study("s", storage=storage)
            assert other.policy == policy
            assert other.propensities() == study.propensities()
            study = other
        waiting += study.ask(1)
        if len(waiting) > 3:
            study.tell(waiting.pop(int(rng.integers(4))).id, float(rng.random() < 0.4))
    assert study.replay().same


@pytest.mark.parametrize("name", EXAMPLES)
def test_wrapped_policies_are_stored_and_written(name):
    policy = EXAMPLES[name][0]
    assert parse_policy(repr(policy)) == policy
    assert restore(described(policy), None) == policy
    db.testing.check_policy(policy)


def test_a_damaged_description_of_a_wrapped_policy_is_refused():
    stored = described(db.SlidingWindow(TS, 10))
    assert stored["inner"] == {"policy": "ThompsonSampling", "from": "dirichlet_bandits", **vars(TS)}
    for damage in ({}, {"inner": 3}, {"inner": {"policy": "BESA", "from": "dirichlet_bandits"}}, {"inner": {}}):
        rest = {key: value for key, value in stored.items() if key != "inner"}
        with pytest.raises(db.FormatError, match="the study's policy cannot be made"):
            restore({**rest, **damage}, None)


def test_in_experiment_files():
    text = """
    horizon = 50
    replications = 2
    seed = 0
    arms = [{ law = "Bernoulli", p = 0.4 }, { law = "Bernoulli", p = 0.6 }]
    [[policies]]
    policy = "SlidingWindow"
    window = 20
    [policies.inner]
    policy = "KLUCB"
    family = "bernoulli"
    """
    (policy,) = db.experiments.reading.parse(text).policies.values()
    assert policy == db.SlidingWindow(db.KLUCB("bernoulli"), 20)
    without = text[: text.index("[policies.inner]")]
    with pytest.raises(db.FormatError, match=r"'policies\[0\].inner' is missing: a table with the policy"):
        db.experiments.reading.parse(without)
    with pytest.raises(db.FormatError, match=r"'policies\[0\].inner.family' must be one of 'bernoulli'"):
        db.experiments.reading.parse(text.replace('"bernoulli"', '"coins"'))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.SlidingWindow(TS, 0), r"'window' must be an integer from 1 to 10000000 \(got 0\)"),
        (lambda: db.SlidingWindow(TS, 10.0), "'window' must be an integer"),
        (lambda: db.SlidingWindow(TS, 10**12), "'window' must be an integer"),
        (lambda: db.SWLBSDA(0), "'window' must be an integer"),
        (lambda: db.SlidingWindow(db.BESA(), 10), r"'policy' must be a policy of the class UCB1, .* or RDS \(got BESA"),
        (lambda: db.SlidingWindow("RDS", 10), r"'policy' must be a policy of the class .* \(got 'RDS'\)"),
        (lambda: db.SlidingWindow(db.RDS, 10), r"'policy' must be a policy of the class"),
        (lambda: db.SlidingWindow(db.SlidingWindow(TS, 5), 10), "'policy' must be a policy of the class"),
        (lambda: db.Discounted(db.BDS(upper=1), 0.9), "'policy' must be a policy of the class UCB1, KLUCB, Thompson"),
        (lambda: db.Discounted(db.RDS(level=0.5), 0.9), "'policy' must be an RDS without a level"),
        (lambda: db.Discounted(TS, 0), r"'gamma' must be above 0 and .*\(got 0\)"),
        (lambda: db.Discounted(TS, 1), r"'gamma' must be above 0 and .*\(got 1\)"),
        (lambda: db.Discounted(TS, 1 - 1e-9), "'gamma' must be above 0 and at most 1 - 1.4e-06"),
        (lambda: db.Discounted(TS, math.nan), "'gamma' must be a finite number"),
        (lambda: db.propensities(db.SlidingWindow(TS, 3), [[0, 1], [1, 0]]), r"'histories' must be at most 3 rewards"),
        (
            lambda: db.propensities(db.Discounted(TS, 0.9), [[0], [1]]),
            "'policy' must be one that does not depend on the order of",
        ),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(db.ArgumentError, match=message):
        make()


def test_rewards_and_objective_are_those_of_the_inner_policy():
    policy = db.SlidingWindow(db.RDS(level=0.5), 10)
    assert policy.objective == db.CVaR(0.5)
    with pytest.raises(db.RewardError):
        db.SlidingWindow(TS, 10).update(db.SlidingWindow(TS, 10).init(2), 0, 1.5, np.random.default_rng(0))
