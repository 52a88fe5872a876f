"""What a study promises: decisions, tells, arms, and the same in every process."""

import itertools
import json
import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.registry import all_policies
from tests.live.reporting import report_some
from tests.policies.twins import PAIRS, default

ARMS = ["a", "b", "c"]


def play(study, trials, rng, told=True):
    for _ in range(trials):
        trial = study.ask()
        if told:
            study.tell(trial.id, float(rng.random() < {"a": 0.3, "b": 0.5}.get(trial.arm, 0.7)))


@pytest.fixture(params=["memory", "sqlite"])
def url(request, tmp_path):
    return None if request.param == "memory" else f"sqlite:///{tmp_path}/studies.db"


# Their own decisions are compared in tests/environments/test_restarting.py; GLRKLUCB lives as they do.
ALIKE = ("GLRKLUCB local", "GLRKLUCB scheduled", "MUCB", "MUCB scheduled", "CUSUMUCB", "CUSUMUCB forced")
LIVE = [name for name, pair in PAIRS.items() if pair.live]


@pytest.mark.parametrize(
    "name",
    [
        *default(name for name in LIVE if name not in ALIKE),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ALIKE),
    ],
)
def test_every_policy_lives_and_replays(name):
    policy = PAIRS[name].policy
    study = db.create_study("s", arms=ARMS, policy=policy, seed=5)
    rng = np.random.default_rng(1)
    values = {"unit": [0.25, 0.5, 1.0], "positive": [1.0, 2.0, 3.0], "binary": [0.0, 1.0]}[PAIRS[name].rewards]
    waiting = []
    for step in range(60):
        waiting += study.ask(1 + step % 3)
        report_some(study, waiting, rng, 4, 0.1, lambda: float(rng.choice(values)))
        if step in (15, 25, 45):  # mistakes of some steps ago, noticed with decisions in between
            told = study.trials_dataframe().query("status == 'told'").index
            study.void(int(told[-7]), "the wrong plot")
            study.correct(int(told[-9]), values[0], "mistyped")
            study.correct(int(told[-7]), values[-1])
            study.void(int(told[-2]), "told twice")
        if step == 30:
            study.add_arm("d")
        if step == 40:
            study.retire_arm("b")
        if step == 50:
            study.add_arm("b")
    replay = study.replay()
    assert replay.same, str(replay)
    assert replay.trials == len(study) == 120
    frame = study.trials_dataframe()
    assert (frame["propensity"] > 0).all()
    assert not (frame["arm"][82:99] == "b").any()
    assert set(frame["arm"]) == {"a", "b", "c", "d"}


def test_a_policy_without_propensities_is_refused_before_anything_is_written(tmp_path):
    url = f"sqlite:///{tmp_path}/studies.db"
    with pytest.raises(db.ArgumentError, match=r"'policy' must be GIRO\(binary=True\) where propensities are needed"):
        db.create_study("s", arms=ARMS, policy=db.GIRO(), storage=url)
    assert list(tmp_path.iterdir()) == []
    study = db.create_study("s", arms=ARMS, policy=db.GIRO(binary=True), storage=url, seed=0)
    with pytest.raises(db.RewardError, match=r"expects rewards 0 or 1 \(got 0.5\)"):
        study.tell(study.ask().id, 0.5)


def test_all_policies_are_covered():
    assert {type(pair.policy) for pair in PAIRS.values()} == set(all_policies().values())


def test_every_arm_comes_first_and_waiting_ones_do_not_block(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=0)
    first = study.ask(5)
    assert sorted(trial.arm for trial in first[:3]) == ARMS
    assert len({trial.arm for trial in first[3:]}) == 2
    assert all(trial.propensity == 1.0 for trial in first)
    assert study.best_arm is None
    a, b, c = sorted(first[:3], key=lambda trial: trial.arm)
    study.tell_many([a.id, b.id], [1.0, 0.0])
    assert study.ask().arm == ({"a", "b", "c"} - {trial.arm for trial in first[3:]}).pop()  # the round is not over
    assert study.propensities()["c"] == 0.0  # c waits for its first reward; a and b are known
    assert {trial.arm for trial in study.ask(30)} <= {"a", "b"}
    study.tell(c.id, 5.0)
    assert study.propensities()["c"] > 0.0
    assert (study.best_arm, study.summary()["mean"].idxmax()) == (None, "c")  # after one reward


def test_an_abandoned_first_try_is_tried_again():
    study = db.create_study("s", arms=ARMS, seed=0)
    trials = {trial.arm: trial for trial in study.ask(3)}
    study.tell(trials["a"].id, 1.0)
    study.tell(trials["b"].id, 0.0)
    study.abandon(trials["c"].id)
    study.abandon(trials["c"].id)
    assert study.propensities() == {"a": 0.0, "b": 0.0, "c": 1.0}
    assert study.ask().arm == "c"


def test_arms_come_and_go(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=3)
    play(study, 30, np.random.default_rng(0))
    late = study.ask()
    study.add_arm("d")
    assert study.ask().arm == "d"
    study.retire_arm(late.arm)
    study.retire_arm(late.arm)
    assert late.arm not in study.arms
    study.tell(late.id, 1.0)  # its reward is still welcome
    assert study.propensities()[late.arm] == 0.0
    assert late.arm not in {trial.arm for trial in study.ask(40)}
    study.add_arm(late.arm)
    assert study.propensities()[late.arm] > 0.0  # with its rewards
    with pytest.raises(db.ConflictError, match="has an arm"):
        study.add_arm("d")
    with pytest.raises(db.NotFoundError, match="no arm 'x'"):
        study.retire_arm("x")
    for name in study.arms[:-1]:
        study.retire_arm(name)
    with pytest.raises(db.ConflictError, match="last arm"):
        study.retire_arm(study.arms[0])
    assert {trial.arm for trial in study.ask(4)} == set(study.arms)
    assert study.replay().same


def test_a_change_of_arms_ends_the_round():
    study = db.create_study("s", arms=[*"abcdef"], seed=3)
    study.ask(2)
    study.retire_arm("a")
    study.add_arm("g")
    tried = {trial.arm for trial in study.pending}
    fresh = [trial.arm for trial in study.ask(7 - 1 - len(tried - {"a"}))]
    assert set(fresh) == set("bcdefg") - tried
    assert study.replay().same


def test_telling_twice_is_one_tell(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=0)
    one, two, three = study.ask(3)
    study.tell(one.id, 0.5)
    study.tell(one.id, 0.5)
    with pytest.raises(db.ConflictError, match=r"was given 0.5 \(now 0.75\)"):
        study.tell(one.id, 0.75)
    study.abandon(two.id)
    with pytest.raises(db.ConflictError, match="abandoned"):
        study.tell(two.id, 0.5)
    with pytest.raises(db.ConflictError, match="cannot be abandoned"):
        study.abandon(one.id)
    with pytest.raises(db.NotFoundError, match="no trial 17"):
        study.tell(17, 0.5)
    with pytest.raises(db.ConflictError, match="abandoned"):
        study.tell_many([three.id, two.id], [1.0, 1.0])  # all or none
    assert [trial.id for trial in study.pending] == [three.id]
    with pytest.raises(db.ConflictError, match="two rewards"):
        study.tell_many([three.id, three.id], [1.0, 2.0])
    study.tell_many([three.id, three.id, one.id], [1.0, 1.0, 0.5])
    assert study.summary()["told"].sum() == 2
    assert study.summary()["abandoned"].sum() == 1


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", None, [1.0]])
def test_bad_rewards_are_refused(bad):
    study = db.create_study("s", arms=ARMS, seed=0)
    trial = study.ask()
    with pytest.raises(db.ArgumentError, match="'reward' must be a finite number"):
        study.tell(trial.id, bad)
    assert study.pending == [trial]


def test_rewards_outside_of_the_bounds_are_refused():
    study = db.create_study("s", arms=ARMS, policy=db.NPTS(upper=1.0), seed=0)
    trial = study.ask()
    with pytest.raises(db.RewardError, match="expects rewards in"):
        study.tell(trial.id, 1.5)
    assert len(study.pending) == 1


@pytest.mark.parametrize("bad", [-1, 1.0, "0", None, True])
def test_bad_ids(bad):
    study = db.create_study("s", arms=ARMS, seed=0)
    study.ask()
    with pytest.raises(db.ArgumentError, match="'id' must be an integer"):
        study.tell(bad, 1.0)
    with pytest.raises(db.ArgumentError, match="'id' must be an integer"):
        study.abandon(bad)
    with pytest.raises(db.ArgumentError, match="'n' must be an integer"):
        study.ask(0)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("arms", {"arms": []}),
        ("arms", {"arms": "abc"}),
        ("arms[1]", {"arms": ["a", "a"]}),
        ("arms[0]", {"arms": [""]}),
        ("arms[0]", {"arms": [3]}),
        ("arms[1]", {"arms": ["a", "b\x00"]}),
        ("arms[0]", {"arms": ["\ud800"]}),
        ("arms[0]", {"arms": ["x" * 201]}),
        ("policy", {"policy": "Magic"}),
        ("policy", {"policy": "NPTS"}),
        ("direction", {"direction": "down"}),
        ("direction", {"direction": "minimize", "policy": db.NPTS(upper=1.0)}),
        ("direction", {"direction": "minimize", "policy": db.KLUCB("poisson")}),
        ("direction", {"direction": "minimize", "policy": db.MCVTS([0.0, 1.0, 3.0], 0.2)}),
        ("control", {"control": "d"}),
        ("reward_unit", {"reward_unit": ""}),
        ("policy", {"policy": db.RDS}),
        ("seed", {"seed": -1}),
        ("name", {"name": ""}),
        ("name", {"name": "line\nbreak"}),
        ("storage", {"storage": "maize.db"}),
        ("storage", {"storage": "sqlite:///:memory:"}),
        ("storage", {"storage": "sqlite:///file:?uri=true"}),  # no path: a temporary file, gone at the end
    ],
)
def test_bad_studies_are_refused_by_name(field, given):
    arguments = {"name": "s", "arms": ARMS, **given}
    with pytest.raises(db.ArgumentError) as caught:
        db.create_study(arguments.pop("name"), **arguments)
    assert caught.value.name == field


def test_load_if_exists(tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    with pytest.raises(db.NotFoundError, match="no storage at"):
        db.load_study("s", url)
    assert list(tmp_path.iterdir()) == []
    study = db.create_study("s", arms=ARMS, storage=url, seed=4)
    play(study, 10, np.random.default_rng(0))
    with pytest.raises(db.ConflictError, match="load_if_exists"):
        db.create_study("s", arms=ARMS, storage=url)
    again = db.create_study("s", arms=ARMS, storage=url, load_if_exists=True)
    assert (again.seed, len(again), again.best_arm) == (4, 10, study.best_arm)
    for other in ({"arms": ["a"]}, {"policy": db.QDS()}, {"seed": 5}):
        with pytest.raises(db.ConflictError, match="was created with"):
            db.create_study("s", **{"arms": ARMS, "storage": url, "load_if_exists": True, **other})
    with pytest.raises(db.NotFoundError, match="no study 't'"):
        db.load_study("t", url)
    db.create_study("'; DROP TABLE bandit_events; --", arms=["<b>", "%s", ":x"], storage=url)
    assert db.study_names(url) == ["s", "'; DROP TABLE bandit_events; --"]
    assert db.load_study("s", url).replay().same


def test_same_seed_same_decisions_in_another_process_or_storage(tmp_path):
    """One study object; and a fresh one for every single step, as many processes would have."""
    url = f"sqlite:///{tmp_path}/s.db"
    first = db.create_study("s", arms=ARMS, policy=db.RBSDA(), seed=9)
    db.create_study("s", arms=ARMS, policy=db.RBSDA(), storage=url, seed=9)
    rng = np.random.default_rng(0)
    for _ in range(60):
        one, two = first.ask(), db.load_study("s", url).ask()
        assert one[:3] == two[:3]
        reward = float(rng.normal())
        first.tell(one.id, reward)
        db.load_study("s", url).tell(two.id, reward)
    other = db.create_study("s", arms=ARMS, policy=db.RBSDA(), seed=10)
    rng = np.random.default_rng(0)
    for _ in range(60):
        other.tell(other.ask().id, float(rng.normal()))
    assert list(other.trials_dataframe()["arm"]) != list(first.trials_dataframe()["arm"])


def test_two_objects_see_each_other(tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    one = db.create_study("s", arms=ARMS, storage=url, seed=1)
    two = db.load_study("s", url)
    trials = one.ask(4)
    assert two.pending == trials == one.pending
    two.tell(trials[0].id, 1.0)
    assert one.summary()["mean"].dropna().to_dict() == {trials[0].arm: 1.0}
    two.retire_arm("b")
    assert one.arms == ["a", "c"]


def test_an_ask_with_the_same_token_gets_the_same_trials(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=1)
    one, three = study.ask(token="x"), study.ask(3, token="<'; --")
    assert [trial.id for trial in [one, *three]] == [0, 1, 2, 3]
    study.tell(one.id, 1.0)
    assert study.ask(token="x") == one  # also when it has been told meanwhile
    assert study.ask(1, token="x") == [one]
    assert study.ask(3, token="<'; --") == three
    with pytest.raises(db.ConflictError, match="token 'x' has asked for 1 trials"):
        study.ask(2, token="x")
    with pytest.raises(db.ArgumentError, match="token"):
        study.ask(token="")
    assert study.ask().id == 4
    assert len(study) == 5
    if url is not None:
        again = db.load_study("s", url)  # another process, or the same after a crash
        assert again.ask(3, token="<'; --") == three
        assert again.replay().same
        again.storage.close()


def test_rewards_that_would_overflow_are_refused():
    study = db.create_study("s", arms=ARMS, seed=1)
    for _ in range(6):
        for trial, reward in zip(study.ask(6), [1e100, -1e100, 1e100, 5e-324, 0.0, 1.0], strict=True):
            study.tell(trial.id, reward)
    id = study.ask().id
    for reward in (1.1e100, -1e308):
        with pytest.raises(db.ArgumentError, match=r"'reward' must be between -1e\+100 and 1e\+100"):
            study.tell(id, reward)
    summary = study.summary()
    assert np.isfinite(summary.loc[summary["told"] > 9, ["mean", "std", "low", "high"]].to_numpy()).all()
    assert np.isfinite(list(study.propensities().values())).all()


def test_levels_at_the_edge_give_intervals():
    study = db.create_study("s", arms=ARMS, seed=1)
    study.tell_many(range(36), [float(trial.id % 4) for trial in study.ask(36)])
    widths = [(frame["high"] - frame["low"]) for frame in map(study.summary, (5e-324, 1e-9, 0.5, 1 - 1e-16))]
    assert all((narrow <= wide).all() for narrow, wide in itertools.pairwise(widths))
    assert np.isfinite(widths).all()


def test_a_policy_of_ones_own(tmp_path):
    from tests.policies.test_propensity import Greedy

    url = f"sqlite:///{tmp_path}/s.db"

    @db.propensity_of(Greedy)
    def rule(policy, state):
        best = state.means == state.means.max()
        return best / best.sum()

    study = db.create_study("s", arms=ARMS, policy=Greedy(), storage=url, seed=1)
    play(study, 10, np.random.default_rng(0))
    with pytest.raises(db.ArgumentError, match="'policy' must be given: the study's class Greedy"):
        db.load_study("s", url)
    with pytest.raises(db.ArgumentError, match="'policy' must be that of the study"):
        db.load_study("s", url, policy=db.RDS())
    assert db.load_study("s", url, policy=Greedy()).replay().same


def test_a_new_name_of_the_library_takes_no_study_over(tmp_path, monkeypatch):
    from dirichlet_bandits import policies
    from tests.policies.test_propensity import Greedy

    class Other(Greedy):
        """As the library's of a later version, or another one of the user's own."""

    Other.__name__, Other.__module__ = "Greedy", "dirichlet_bandits.policies.greedy"
    for known in (Greedy, Other):
        db.propensity_of(known)(lambda policy, state: np.full(state.means.size, 1 / state.means.size))
    storage = db.create_study("own", arms=ARMS, policy=Greedy(), storage=f"sqlite:///{tmp_path}/s.db").storage
    with storage._engine.begin() as connection:  # and one as it was written before the module was stored
        words = connection.exec_driver_sql("SELECT settings FROM bandit_studies").scalar()
        stored = json.loads(words)
        assert stored["policy"].pop("from") == "tests.policies.test_propensity"
        old = json.dumps({key: value for key, value in stored.items() if key != "identity"})
    assert storage.create("old", json.loads(old), [])
    monkeypatch.setattr(policies, "Greedy", Other, raising=False)
    for name in ("own", "old"):
        with pytest.raises(db.ArgumentError, match="'policy' must be given: the study's class Greedy"):
            db.load_study(name, storage)
        assert type(db.load_study(name, storage, policy=Greedy()).policy) is Greedy
    with pytest.raises(db.ArgumentError, match=r"must be that of the study.*'tests\.policies\.test_propensity'"):
        db.load_study("own", storage, policy=Other())
    assert len(db.load_study("own", storage, policy=Greedy()).ask(2)) == 2
    with pytest.raises(db.ConflictError, match="was created with policy"):
        db.create_study("own", arms=ARMS, policy=Other(), storage=storage, load_if_exists=True)
    monkeypatch.setattr(Greedy, "__module__", "mine")
    with pytest.raises(db.ArgumentError, match="'policy' must be that of the study"):
        db.load_study("own", storage, policy=Greedy())
    monkeypatch.setattr(Greedy, "__module__", "__main__")  # the same class in a script
    assert len(db.load_study("own", storage, policy=Greedy())) == 2
    newer = db.create_study("newer", arms=ARMS, policy=Other(), storage=storage)
    assert type(db.load_study("newer", storage).policy) is type(newer.policy)
    storage.close()


def test_a_lost_answer_to_create_is_asked_for_again(url):
    storage = db.create_study("other", arms=ARMS, storage=url).storage
    made = db.create_study("s", arms=ARMS, storage=storage, seed=3, token="mine")
    assert db.create_study("s", arms=ARMS, storage=storage, seed=3, token="mine").seed == made.seed
    for token in (None, "another's"):
        with pytest.raises(db.ConflictError, match="there is a study 's'"):
            db.create_study("s", arms=ARMS, storage=storage, seed=3, token=token)
    with pytest.raises(db.ConflictError, match="was created with seed 3"):
        db.create_study("s", arms=ARMS, storage=storage, seed=4, token="mine")


EXTREMES = {
    "KLUCB": (db.KLUCB("bernoulli"), [5e-324, 0.0, 1.0, 5e-324, 0.5]),
    "IMED": (db.IMED("bernoulli"), [5e-324, 0.0, 1.0, 5e-324, 0.5]),
    "KLUCB, Poisson": (db.KLUCB("poisson"), [5e-324, 0.0, 1e100, 1.0]),
    "QDS": (db.QDS(rho=1e300), [1e100, -1e100, 0.0, 1.0]),
}


@pytest.mark.parametrize("name", list(EXTREMES))
def test_extreme_rewards_leave_propensities_that_are_numbers(name):
    policy, rewards = EXTREMES[name]
    study = db.create_study("s", arms=ARMS, policy=policy, seed=1)
    for step in range(60):
        study.tell(study.ask().id, rewards[(step + step // len(rewards)) % len(rewards)])
    chances = np.array(study.trials_dataframe()["propensity"])
    assert ((chances > 0) & (chances <= 1)).all()
    assert study.replay().same


def test_propensities_that_are_no_numbers_are_never_stored(monkeypatch):
    from dirichlet_bandits.policies import registry
    from tests.policies.test_propensity import Greedy

    monkeypatch.setitem(registry._REGISTERED, Greedy, registry.Registration(lambda policy, state: np.full(3, math.nan)))
    study = db.create_study("s", arms=ARMS, policy=Greedy(), seed=1)
    study.tell_many(range(3), [1.0 for _ in study.ask(3)])
    with pytest.raises(
        db.PolicyError, match=r"Greedy\(\) is not a sound policy:\n- has propensities \[nan, nan, nan\]"
    ):
        study.ask()
    assert len(study) == 3


@pytest.mark.parametrize("yes", [True, np.True_])
def test_true_and_false_are_rewards(yes):
    study = db.create_study("s", arms=["a", "b"], history={"a": [True, False]}, weight=1.0, policy=db.UCB1(1.0), seed=1)
    trials = study.ask(2)
    study.tell(trials[0], yes)
    study.tell_many(trials[1:], [not yes])
    study.correct(trials[1], yes, "misread")
    study.add_trials({"arm": ["a", "b"], "reward": [True, False]})
    assert study.trials_dataframe()["reward"].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert db.Bandit({"a": [True, False], "b": [yes, yes]}).means.tolist() == [0.5, 1.0]
