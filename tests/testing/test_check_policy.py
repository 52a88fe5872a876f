"""A deliberately broken policy for each check, and sound ones of both forms."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.engine.verbs import duel, implements, index, init, update
from dirichlet_bandits.testing import check_policy
from dirichlet_bandits.testing.compiled import CompiledPlayer


def problems(policy):
    with pytest.raises(db.PolicyError) as caught:
        check_policy(policy)
    return "\n".join(caught.value.problems)


class Sound:
    """Epsilon-greedy; the broken ones below differ in one thing each."""

    def init(self, n_arms):
        self.pulls, self.sums = np.zeros(n_arms), np.zeros(n_arms)

    def select(self, rng):
        if rng.random() < 0.3:
            return int(rng.integers(self.pulls.size))
        means = self.sums / self.pulls
        return int(rng.choice(np.flatnonzero(means == means.max())))

    def update(self, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward


def test_sound_python_policy():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    report = check_policy(Sound())
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002 - it is left alone
    assert report.kind == "a plain Python policy"
    assert str(report).startswith("Sound, a plain Python policy, is sound:\n- plays with 2 and 10 arms")


def test_sound_round_as_list():
    class Rounds(Sound):
        def select(self, rng):
            return rng.permutation(self.pulls.size)

    check_policy(Rounds())


def test_a_class_is_not_a_policy():
    assert problems(Sound) == "it is a class: give check_policy an instance"


def test_missing_methods():
    assert problems(object()) == "it has no method select(rng)\nit has no method update(arm, reward)"


def test_wrong_arguments():
    class Wrong(Sound):
        def update(self, arm):
            pass

        def init(self):
            pass

    found = problems(Wrong())
    assert "update must accept (arm, reward); it is update(arm)" in found
    assert "init must accept (n_arms); it is init()" in found


def test_cannot_be_copied():
    class Open(Sound):
        def __deepcopy__(self, memo):
            raise TypeError("no copies")

    assert problems(Open()) == "it cannot be copied, and each replication plays with a copy: no copies"


@pytest.mark.parametrize("answer", [-1, 99, 0.0, True, None, [], [0, 99], "0"])
def test_answers_that_are_not_arms(answer):
    class Wrong(Sound):
        def select(self, rng):
            return answer

    found = problems(Wrong())
    assert "select must return an arm" in found
    assert f"it returned {answer!r} (2 arms, equal rewards)" in found
    assert found.count("\n") == 0


def test_crash_with_many_arms_only():
    class Wrong(Sound):
        def select(self, rng):
            return [0, 1][self.pulls.size - 2]

    assert "select raises IndexError: list index out of range (10 arms, equal rewards)" in problems(Wrong())


def test_crash_with_zero_rewards_only():
    class Wrong(Sound):
        def update(self, arm, reward):
            super().update(arm, 1 // int(reward * 2))

    assert "update raises ZeroDivisionError" in problems(Wrong())


def test_crash_with_large_rewards_only():
    class Wrong(Sound):
        def update(self, arm, reward):
            if reward > 1:
                raise ValueError("too much")
            super().update(arm, reward)

    assert problems(Wrong()) == "update raises ValueError: too much (2 arms, large rewards)"


def test_ties_that_starve_arms():
    class Wrong(Sound):
        def select(self, rng):
            return int(np.argmax(self.sums / self.pulls))

    assert "select never chose arms [1, 2, 3, 4, 5, 6, 7, 8, 9] in 600 pulls of equal rewards" in problems(Wrong())


def test_global_random_state():
    class Wrong(Sound):
        def select(self, rng):
            return np.random.randint(self.pulls.size)  # noqa: NPY002

    assert problems(Wrong()) == "it uses the global random state: draw from the rng that select is given"


def test_generator_of_its_own():
    class Wrong(Sound):
        def select(self, rng):
            return int(np.random.default_rng().integers(self.pulls.size))

    assert "two plays with equal generators differ" in problems(Wrong())


def test_memory_in_the_class():
    class Wrong(Sound):
        log: list[float] = []  # noqa: RUF012 - the mistake

        def update(self, arm, reward):
            self.log.append(reward)
            super().update(arm, reward)

    assert problems(Wrong()) == "it changes 'log', a class attribute that all copies share: make it in __init__"


def test_sound_compiled_policy():
    report = check_policy(db.UCB1(sigma=1.0))
    assert report.kind == "a compiled policy"
    assert "runs in simulate" in report.checks


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [
        db.BDS(upper=1.0),
        db.BDS(upper=-3.0),
        db.BDS(rho=4.0, gamma=0.1),
        db.RDS(),
        db.QDS(),
        db.NPTS(upper=1.0),
        db.RUCBLT(),
        db.KLUCB("bernoulli"),
        db.KLUCB("poisson"),
        db.EmpiricalKLUCB(upper=1.0),
        db.IMED("gaussian", sigma=1.0),
        db.EmpiricalIMED(upper=1.0),
        db.ThompsonSampling("bernoulli"),
        db.ThompsonSampling("exponential"),
        db.BinarizedTS(lower=2.0, upper=3.0),
        db.RBSDA(),
        db.SSMC(),
        db.WRSDA("sqrt-log"),
        db.BESA(),
    ],
    ids=repr,
)
def test_every_policy_of_the_library_is_sound(policy):
    check_policy(policy)


def test_no_params():
    assert "it has no property params" in problems(db.Policy())


class Silent(NamedTuple):
    scale: float


class Words(NamedTuple):
    family: str


class Empty(NamedTuple):
    pass


class Duelling(NamedTuple):
    scale: float


@implements(duel, Duelling)
def always(policy, state, challenger, leader, rng):
    return True


class Unstable(NamedTuple):
    scale: float


@implements(index, Unstable)
def misspelt(policy, state, arm, total, top, rng):
    return state.meens[arm]


@dataclass(frozen=True)
class Holds(db.Policy):
    """A policy with any params."""

    held: object

    @property
    def params(self):
        return self.held


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ([1.0], "params must be a NamedTuple of numbers; it is [1.0]"),
        ((1.0,), "params must be a NamedTuple of numbers; it is (1.0,)"),
        (Empty(), "params must have at least one field; without parameters, add a number that no verb uses"),
        (Words("gaussian"), "params.family must be a number; it is 'gaussian'"),
        (Silent(1.0), "no verb decides for Silent: register an index, a select, or a duel and duel_round"),
        (Duelling(1.0), "Duelling has a duel but no select: implements(select, Duelling)(duel_round)"),
    ],
    ids=str,
)
def test_params_and_verbs(params, message):
    assert problems(Holds(params)) == message


class Hasty:
    """Takes each reward for that of its last choice."""

    def init(self, n_arms):
        self.last, self.sums = 0, [0.0] * n_arms

    def select(self, rng):
        self.last = int(rng.integers(len(self.sums)))
        return self.last

    def update(self, arm, reward):
        if self.sums.count(0.0) == 0 and arm != self.last:
            raise ValueError("not my last choice")
        self.sums[arm] += 1.0 + reward


def test_rewards_may_come_late():
    with pytest.raises(
        db.PolicyError, match=r"update raises ValueError: not my last choice \(\d+ arms, late rewards\)"
    ):
        db.testing.check_policy(Hasty())


@pytest.mark.parametrize("guarantee", ["linear", "none known", "quadratic"])
def test_the_guarantee_is_one_of_the_labels(guarantee):
    kind = type("Labelled", (db.UCB1,), {"guarantee": guarantee})
    found = [text for text in CompiledPlayer.check_shape(kind(1.0)) if "guarantee" in text]
    labels = "'optimal', 'logarithmic', 'almost logarithmic', 'linear', 'none known'"
    wrong = f"guarantee must be one of {labels}; it is 'quadratic'"
    assert found == ([wrong] if guarantee == "quadratic" else [])


def test_params_that_fail():
    class Wrong(db.UCB1):
        @property
        def params(self):
            return 1 / 0

    assert problems(Wrong(1.0)) == "params raises ZeroDivisionError: division by zero"


def test_verb_that_does_not_compile():
    found = problems(Holds(Unstable(1.0)))
    assert "select raises TypingError: " in found
    assert found.count("\n") == 0


@pytest.mark.parametrize("bounds", [(1.0, 0.0), (0.0, 0.0), 3, None])
def test_bounds_that_make_no_sense(bounds):
    class Wrong(db.UCB1):
        reward_bounds = bounds

    assert "reward_bounds must be two numbers" in problems(Wrong(1.0))


def test_bounds_that_are_not_checked():
    class Wrong(db.UCB1):
        reward_bounds = (0.0, 1.0)

        def check_reward(self, reward):
            if not np.isfinite(reward):
                raise db.RewardError("not finite")

    assert problems(Wrong(1.0)) == "check_reward lets 2.0 pass; its bounds are [0, 1]"


def test_wrong_error_for_bad_rewards():
    class Wrong(db.UCB1):
        def check_reward(self, reward):
            raise KeyError(reward)

    assert "check_reward must raise RewardError; it raises KeyError: nan" in problems(Wrong(1.0))


# The verbs of these are those of UCB1; the doors in front of them are broken.


def test_select_that_changes_the_state():
    class Wrong(db.UCB1):
        def select(self, state, rng):
            state.means[0] += 1.0
            return super().select(state, rng)

    assert "select changes the state" in problems(Wrong(1.0))


def test_update_that_does_not_count():
    class Wrong(db.UCB1):
        def update(self, state, arm, reward, rng):
            return state

    assert "state.pulls must count the pulls of each arm; it does not after update" in problems(Wrong(1.0))


def test_update_without_a_state():
    class Wrong(db.UCB1):
        def update(self, state, arm, reward, rng):
            super().update(state, arm, reward, rng)

    assert "update must return a state with a field pulls, one count per arm" in problems(Wrong(1.0))


def test_update_that_accepts_anything():
    class Wrong(db.UCB1):
        def update(self, state, arm, reward, rng):
            return super().update(state, arm, 0.0, rng)

    assert problems(Wrong(1.0)) == "update must call check_reward: it accepts a reward of nan"


def test_states_that_share_memory():
    shared = {}

    class Wrong(db.UCB1):
        def init(self, n_arms):
            state = shared.setdefault(n_arms, super().init(n_arms))
            if n_arms != 2:
                return super().init(n_arms)
            return state

    assert "init must make a new state each time; two of them share memory" in problems(Wrong(1.0))


class Changing(NamedTuple):
    scale: float


class Counts(NamedTuple):
    pulls: np.ndarray


class MoreCounts(NamedTuple):
    pulls: np.ndarray
    means: np.ndarray


@implements(init, Changing)
def counts(policy, n_arms):
    return Counts(np.zeros(n_arms, np.int64))


@implements(update, Changing)
def more_counts(policy, state, arm, reward, rng):
    state.pulls[arm] += 1
    return MoreCounts(state.pulls, np.zeros(state.pulls.size))


@implements(index, Changing)
def noise(policy, state, arm, total, top, rng):
    return rng.random()


def test_state_that_changes_its_type():
    assert "simulate fails: TypingError: " in problems(Holds(Changing(1.0)))
