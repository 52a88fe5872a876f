"""Calls with tokens: what was done once is not done again, whatever others have done since."""

import pytest

import dirichlet_bandits as db

ARMS = ["a", "b", "c"]


@pytest.fixture
def study(storage):
    made = db.create_study("s", arms=ARMS, policy=db.UCB1(sigma=1.0), storage=storage, seed=3)
    made.tell_many(range(4), [float(trial.id) for trial in made.ask(4)])
    made.void(3, "the wrong plot")
    made.ask(3)
    return made


def log(study):
    """Everything that a call may change."""
    frame = study.trials_dataframe()[["status", "reward", "original", "reason", "revisions", "note", "attributes"]]
    return frame.to_json(), study.arms, study.floor, study.archived, study.propensities()


CALLS = {  # a call, and what somebody else does afterwards
    "tell": (lambda s, t: s.tell(4, 1.0, note="x", token=t), lambda s: s.correct(4, 2.0)),
    "tell, then void": (lambda s, t: s.tell(4, 1.0, token=t), lambda s: s.void(4, "no")),
    "tell again": (lambda s, t: s.tell(1, 1.0, token=t), lambda s: s.correct(1, 2.0)),
    "tell_many": (lambda s, t: s.tell_many([0, 5], [0.0, 5.0], token=t), lambda s: s.correct(5, 9.0)),
    "abandon": (lambda s, t: s.abandon(6, token=t), lambda s: s.annotate(6, note="gone")),
    "void": (lambda s, t: s.void(0, "mine", token=t), lambda s: s.correct(0, 5.0)),
    "void what is void": (lambda s, t: s.void(3, "mine", token=t), lambda s: s.correct(3, 5.0)),
    "correct": (lambda s, t: s.correct(1, 7.0, "mine", token=t), lambda s: s.correct(1, 8.0, "theirs")),
    "correct to what it is": (lambda s, t: s.correct(1, 1.0, token=t), lambda s: s.correct(1, 8.0)),
    "annotate": (lambda s, t: s.annotate(2, note="mine", token=t), lambda s: s.annotate(2, note="theirs")),
    "add_arm": (lambda s, t: s.add_arm("d", token=t), lambda s: s.retire_arm("d")),
    "retire_arm": (lambda s, t: s.retire_arm("b", token=t), lambda s: s.add_arm("b")),
    "set_floor": (lambda s, t: s.set_floor(0.3, token=t), lambda s: s.set_floor({"a": 1.0})),
    "set_floor, then an arm": (lambda s, t: s.set_floor(0.3, token=t), lambda s: (s.set_floor(0), s.add_arm("d"))),
    "set_floor to what it is": (lambda s, t: s.set_floor(0, token=t), lambda s: s.set_floor(0.1)),
    "archive": (lambda s, t: s.archive(token=t), lambda s: s.unarchive()),
    "unarchive": (lambda s, t: s.unarchive(token=t), lambda s: s.archive()),
    "rename": (lambda s, t: s.rename("new", token=t), lambda s: s.rename("s")),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_made_again_undoes_nothing(study, name):
    act, others = CALLS[name]
    act(study, "mine")
    others(study)
    before, n_events = log(study), len(study.storage.read(study.name))
    fresh = db.load_study(study.name, study.storage)
    for handle in (study, fresh):  # the same process, or the one after it
        act(handle, "mine")
        assert log(handle) == before
        assert (handle.name, len(handle.storage.read(handle.name))) == (study.name, n_events)
    assert study.replay().same


@pytest.mark.parametrize(
    "other",
    [
        lambda s: s.void(0, "another reason", token="mine"),
        lambda s: s.void(1, "mine", token="mine"),
        lambda s: s.correct(0, 5.0, "mine", token="mine"),
        lambda s: s.tell(4, 1.0, token="mine"),
        lambda s: s.tell_many([0, 4], [0.0, 1.0], token="mine"),
        lambda s: s.annotate(0, note="mine", token="mine"),
        lambda s: s.retire_arm("a", token="mine"),
        lambda s: s.add_arm("d", token="mine"),
        lambda s: s.set_floor(0.1, token="mine"),
        lambda s: s.rename("t", token="mine"),
        lambda s: s.archive(token="mine"),
        lambda s: s.ask(token="mine"),
        lambda s: s.add_trials({"arm": ["a"], "reward": [1.0]}, token="mine"),
    ],
)
def test_a_token_of_another_call_is_refused(study, other):
    study.void(0, "mine", token="mine")
    before = log(study)
    with pytest.raises(db.ConflictError, match="token 'mine' was used for another call"):
        other(study)
    assert (log(study), study.name) == (before, "s")


def test_a_token_is_that_of_the_whole_call(study):
    study.tell_many([4, 1], [4.0, 1.0], token="x")  # half of it is no news
    study.tell_many([4, 1], [4.0, 1.0], token="x")
    for ids in ([4], [4, 1, 5], [1]):
        with pytest.raises(db.ConflictError, match="token 'x' was used for another call"):
            study.tell_many(ids, [float(id) for id in ids], token="x")
    study.ask(2, token="asked")
    with pytest.raises(db.ConflictError, match="token 'asked' has asked for, or added, trials"):
        study.void(0, "why", token="asked")
    with pytest.raises(db.ArgumentError, match="'token' must be a text"):
        study.void(0, "why", token="")
    assert study.replay().same


def test_a_refused_call_leaves_its_token_free(study):
    with pytest.raises(db.ConflictError, match="has no reward yet"):
        study.void(4, "why", token="x")
    study.tell(4, 1.0)
    study.void(4, "why", token="x")
    assert study.trials_dataframe()["status"][4] == "voided"


def test_another_study_of_the_same_name_is_never_taken_for_ones_own(storage):
    """The same seed, policy and number of events; only the identity tells them apart."""
    settings = {"policy": db.UCB1(sigma=1.0), "storage": storage, "seed": 3}
    study = db.create_study("s", arms=ARMS, control="a", **settings)
    unread = db.load_study("s", storage)
    study.ask(3)
    db.delete_study("s", storage, confirm="s", identity=study.identity)
    other = db.create_study("s", arms=["x", "y", "z"], control="x", **settings)
    trials = other.ask(3)
    assert other.identity != study.identity
    for handle in (study, unread):
        for act in (
            handle.ask,
            handle.summary,
            handle.replay,
            handle.archive,
            lambda handle=handle: handle.tell(0, 1.0),
            lambda handle=handle: handle.archived,
            lambda handle=handle: handle.rename("t"),
            lambda handle=handle: handle.estimate("x"),
        ):
            with pytest.raises(db.ConflictError, match="the study 's' was replaced by another one of this name"):
                act()
    with pytest.raises(db.ConflictError, match="was replaced by another one"):
        db.delete_study("s", storage, confirm="s", identity=study.identity)
    assert (other.pending, other.archived, db.study_names(storage)) == (trials, False, ["s"])
    assert db.load_study("s", storage).identity == other.identity
