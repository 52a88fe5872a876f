import dataclasses
import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.inference.winner import error_shares
from dirichlet_bandits.live import readings
from dirichlet_bandits.live.events import WinnerDeclared
from dirichlet_bandits.live.export import recover
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.winner import winner
from dirichlet_bandits.storage import MemoryStorage

DELTA = 0.05


def told(study: db.Study, rewards: np.ndarray, names: list[str] | None = None) -> None:
    """Rows of rewards, one column per arm."""
    names = names or study.arms
    study.add_trials({"arm": names * rewards.shape[0], "reward": rewards.astype(float).ravel()})


def coins(seed: int, n: int, *means: float) -> np.ndarray:
    return (np.random.default_rng(seed).random((n, len(means))) < means).astype(float)


def test_the_smallest_probability_of_error_is_possible() -> None:
    study = db.create_study("page", arms=["a", "b"], bounds=(0, 1), seed=1)
    told(study, np.tile([0.0, 1.0], (800, 1)))
    smallest = math.nextafter(0.0, 1.0)
    assert study.declare_winner(smallest).arm == "b"
    plan = db.plan(
        {"a": [0.0] * 2, "b": [1.0] * 2}, delta=smallest, horizon=1600, replications=2, policies=["EqualSplit"]
    )
    assert [row.decided for row in plan.rows] == [1.0]


def test_declared_bounds_hold_for_any_policy() -> None:
    place = MemoryStorage()
    study = db.create_study("page", arms=["a", "b"], policy="RDS", bounds=(0, 1), storage=place, seed=1)
    assert study.bounds == (0.0, 1.0)
    trial = study.ask()
    for give in (
        lambda: study.tell(trial, 1.5),
        lambda: study.tell_many([trial], [-0.1]),
        lambda: study.add_trials({"arm": ["a"], "reward": [2.0]}),
    ):
        with pytest.raises(db.ArgumentError, match=r"'reward.*' must be between 0 and 1, the bounds of the study"):
            give()
    told(study, coins(0, 40, 0.02, 0.98))
    summary = study.summary()
    assert summary["low"].min() >= 0.0
    assert summary["high"].max() <= 1.0
    assert "any distribution within the bounds" in summary.attrs["interval"]
    again = db.load_study("page", place)
    assert again.bounds == (0.0, 1.0)
    assert again.replay().same
    assert again.summary().equals(summary)
    with pytest.raises(db.ConflictError, match="was created with bounds"):
        db.create_study("page", arms=["a", "b"], bounds=(0, 2), storage=place, load_if_exists=True)
    for bad in ((1, 0), (0, math.inf), "01", (0, 1, 2)):
        with pytest.raises(db.ArgumentError, match="'bounds"):
            db.create_study("other", arms=["a"], bounds=bad)  # type: ignore[arg-type]
    with pytest.raises(db.ArgumentError, match="within those of"):
        db.create_study("other", arms=["a"], policy="NPTS(upper=1)", bounds=(0, 2))
    assert db.create_study("free", arms=["a", "b"]).bounds is None
    assert db.create_study("known", arms=["a", "b"], policy="BinarizedTS(0, 5)").bounds == (0.0, 5.0)


def played(study: db.Study, n: int, seed: int, *means: float, batch: int = 1) -> None:
    """Trials of the study's own, with rewards of 0 and 1."""
    rng, names = np.random.default_rng(seed), study.arms
    for _ in range(n // batch):
        for trial in study.ask(batch):
            study.tell(trial, float(rng.random() < means[names.index(trial.arm)]))


@pytest.mark.parametrize("bounds", [(0.0, 1.0), None])
@pytest.mark.parametrize("margin", [0.0, 0.07, -0.05])
def test_a_rival_is_beaten_if_and_only_if_the_interval_of_the_lead_excludes_the_margin(
    bounds: tuple[float, float] | None, margin: float
) -> None:
    outcomes = set()
    for n in range(40, 600, 40):
        study = db.create_study("page", arms=["a", "b", "c"], bounds=bounds, seed=1)
        told(study, coins(5, n, 0.5, 0.6, 0.8))
        found = study.declare_winner(DELTA, margin)
        for rival in found.rivals:
            assert (rival.statistic >= rival.threshold) == (rival.low >= -margin)
            outcomes.add(rival.beaten)
        assert (found.arm is not None) == all(rival.low >= -margin for rival in found.rivals)
    assert outcomes == {True, False}


def test_a_winner_is_recorded_once_and_never_silently_withdrawn(tmp_path: object) -> None:
    place = f"sqlite:///{tmp_path}/page.db"
    study = db.create_study("page", arms=["red", "blue"], bounds=(0, 1), storage=place, seed=1)
    told(study, coins(0, 200, 0.2, 0.7))
    first = study.declare_winner()
    assert (first.arm, first.established_at, first.note) == ("blue", 400, None)
    events = len(local_of(study).rows())
    assert study.declare_winner() == first
    assert study.declare_winner(0.2, 0.1).arm == "blue"
    assert len(local_of(study).rows()) == events  # laxer questions are answered by the first record
    assert study.declare_winner(1e-6).established_at == 400
    assert len(local_of(study).rows()) == events + 1
    told(study, np.ones((600, 1)), ["red"])
    told(study, np.zeros((600, 1)), ["blue"])
    later = db.load_study("page", place).declare_winner()
    assert (later.arm, later.established_at) == ("blue", 400)
    assert later.note == "the present rewards would establish red instead"
    assert "winner: blue\nestablished after 400 trials\nnote: the present rewards would" in str(later)
    assert study.replay().same
    study.export(f"{tmp_path}/log.csv")
    study.add_arm("green")
    assert study.declare_winner().note == (
        "the present rewards would not establish it (red leads, but not yet by enough over green)"
    )
    assert study.declare_winner(0.01).forecast == "too few rewards to estimate how many more trials it takes"
    fresh = study.declare_winner(1e-9)
    assert fresh.arm is None
    assert "green" in fresh.reason


def test_winner_of_costs_and_of_rewards_without_bounds() -> None:
    rng = np.random.default_rng(0)
    for bounds in ((-10.0, 10.0), None):
        study = db.create_study("costs", arms=["a", "b"], direction="minimize", bounds=bounds, seed=1)
        told(study, np.clip(rng.normal([1.0, 2.0], 1.0, (2000, 2)), -10.0, 10.0))
        found = study.declare_winner()
        assert (found.arm, found.proved) == ("a", bounds is not None)
        assert found.rivals[0].lead == pytest.approx(1.0, abs=0.2)
        assert ("not proved for all distributions" in str(found)) == (bounds is None)
    few = db.create_study("few", arms=["a", "b"], seed=1)
    told(few, np.array([[0.0, 1.0]] * 9))
    assert few.declare_winner().arm is None


@pytest.mark.parametrize(
    ("settings", "imported", "assumes"),
    [
        ({"policy": "EqualSplit"}, False, "if the differences between the arms keep their sign"),
        ({"policy": "EpsilonGreedy"}, False, "if the differences between the arms keep their sign"),
        ({"policy": "EpsilonGreedy"}, True, "if each arm's rewards keep one mean"),
        ({"policy": "UCB1(sigma=1)", "floor": 0.2}, False, "if each arm's rewards keep one mean"),
        ({"bounds": None}, False, "if the winner's rewards are distributed like a rival's, or less favorably"),
        ({"bounds": None}, True, "in the limit of many trials, if each arm's rewards keep one mean"),
    ],
)
def test_a_winner_says_what_it_assumes(settings: dict[str, object], imported: bool, assumes: str) -> None:
    study = db.create_study("page", arms=["a", "b"], **{"bounds": (0, 1), "seed": 1, **settings})
    played(study, 40, 1, 0.1, 0.9)
    if imported:
        told(study, coins(2, 60, 0.1, 0.9))
    found = study.declare_winner()
    assert found.assumes.startswith(assumes)
    assert found.claim == f"the probability of error is at most 5%, {found.assumes}"
    assert str(found).endswith(found.assumes)
    assert "if each arm's rewards keep one mean" in study.summary().attrs["interval"]


def test_a_winner_of_an_earlier_version_keeps_what_it_claimed() -> None:
    study = db.create_study("page", arms=["a", "b"], policy="EqualSplit", bounds=(0, 1), seed=1)
    played(study, 20, 1, 0.5, 0.5)
    local = local_of(study)
    old = WinnerDeclared(0, 0.05, 0.0, 17, True)
    with local._writing() as (_, draft, _):
        draft(old)
    found = db.load_study("page", study.storage).declare_winner()
    assert (found.arm, found.established_at, found.assumes) == ("a", 17, "if each arm's rewards keep one mean")
    assert "earlier version" in found.method


def test_no_winner_of_a_cvar_and_bad_questions() -> None:
    study = db.create_study("risk", arms=["a", "b"], policy="RDS(level=0.2)", bounds=(0, 1))
    with pytest.raises(db.ArgumentError, match="no winner is named by CVaR"):
        study.declare_winner()
    study = db.create_study("page", arms=["a", "b"], bounds=(0, 1))
    for delta in (0.0, 1.0, math.nan):
        with pytest.raises(db.ArgumentError, match="'delta'"):
            study.declare_winner(delta)
    with pytest.raises(db.ArgumentError, match="'margin'"):
        study.declare_winner(0.05, math.inf)


def test_arms_that_come_and_go_share_the_error() -> None:
    # Every ordered pair that ever exists has its share of the reserve, and all shares together are at most delta.
    total = sum(2 * k * float(error_shares([0] * (k + 1), k, False)[0]) for k in range(1, 300))
    assert total == pytest.approx(0.1 * (1.0 - 1.0 / 300.0))
    assert sum(error_shares([0] * 7, b, True)[b - 1] for b in range(7)) == pytest.approx(0.9)
    study = db.create_study("page", arms=["a", "b", "c"], bounds=(0, 1), seed=1)
    told(study, coins(1, 300, 0.2, 0.8, 0.75))
    assert study.declare_winner().arm is None
    usual = study.declare_winner().rivals[0].threshold
    study.retire_arm("c")  # it was not beaten: without it, the other comparison costs more
    found = study.declare_winner()
    assert [rival.arm for rival in found.rivals] == ["a"]
    assert found.rivals[0].threshold > usual
    assert found.arm == "b"
    study.retire_arm("a")
    other = db.load_study("page", study.storage)
    assert other.declare_winner().arm == "b"
    assert other.declare_winner(1e-8).arm is None


RANGES = (
    {"more": 1234, "more_low": 900, "more_high": 3141},
    {"more": 1234, "more_low": 900, "more_high": None},
    {"more": 1234, "more_low": 0, "more_high": None},
)


def test_the_forecast_says_how_many_more_trials_it_takes() -> None:
    study = db.create_study("page", arms=["a", "b"], policy="EqualSplit", bounds=(0, 1), seed=1)
    rewards = np.zeros((200, 2))
    rewards[:100, 0], rewards[:120, 1] = 1.0, 1.0  # means of 0.5 and 0.6, exactly
    told(study, rewards)
    found = study.declare_winner()
    assert found.arm is None
    assert found.more is not None
    grown = db.create_study("more", arms=["a", "b"], bounds=(0, 1), seed=1)
    factor = (found.more + 400) / 400
    many = np.zeros((int(200 * factor * 1.3), 2))
    many[: many.shape[0] // 2, 0], many[: int(0.6 * many.shape[0]), 1] = 1.0, 1.0
    told(grown, many)
    assert grown.declare_winner().arm == "b"
    # With 2% of the trials, the weaker arm is what a winner waits for.
    past = {"arm": (["b"] * 49 + ["a"]) * 20, "reward": ([1.0] * 29 + [0.0] * 20 + [0.5]) * 20}
    rare = db.create_study("rare", arms=["a", "b"], policy="EpsilonGreedy(0.04)", bounds=(0, 1), seed=1)
    told(rare, rewards)
    rare.add_trials(past)
    slow = rare.declare_winner()
    assert slow.more is not None
    assert slow.more_low is not None
    assert slow.more_high is not None
    assert slow.floor is not None
    assert slow.with_floor is not None
    assert slow.more_low < slow.more < slow.more_high
    assert slow.more > 3 * found.more
    assert slow.with_floor <= 0.52 * slow.more
    assert slow.floor == 0.025
    # A policy that earns well would try it less and less often.
    fading = db.create_study("fading", arms=["a", "b"], policy="RDS", bounds=(0, 1), seed=1)
    told(fading, rewards)
    fading.add_trials(past)
    never = fading.declare_winner()
    assert never.more is not None
    assert never.with_floor is not None
    assert never.more > 5 * slow.more > 5 * never.with_floor
    unseen = dataclasses.replace(never, more=None)
    assert "no winner is in sight under the current policy and floor; about" in str(unseen)
    words = [dataclasses.replace(slow, **change).forecast.partition(" under")[0] for change in RANGES]
    assert words == [
        "about 1,200 more trials (900 to 3,100)",
        "about 1,200 more trials (900 or more)",
        "about 1,200 more trials (the lead is too uncertain for a range)",
    ]


def test_a_floor_that_a_study_has_does_not_count_twice() -> None:
    study = db.create_study("page", arms=["a", "b"], policy="RDS", bounds=(0, 1), floor=0.1, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(400):
        trial = study.ask()
        study.tell(trial, float(rng.random() < {"a": 0.4, "b": 0.6}[trial.arm]))
    found = study.declare_winner()
    study.set_floor(found.floor)
    again = study.declare_winner()
    assert found.more is not None
    assert again.more == pytest.approx(found.with_floor, rel=0.1)  # what a floor promises, it keeps once it is set
    assert found.with_floor <= 0.5 * found.more


def test_forecasts_come_true() -> None:
    # The range is one standard error to each side, 68% if nothing else were uncertain. Then fewer than five of twelve
    # ranges would hold with a probability of 2%.
    held = 0
    for seed in range(12):
        study = db.create_study(
            f"{seed}", arms=["a", "b"], policy="ThompsonSampling('bernoulli')", bounds=(0, 1), floor=0.1, seed=seed
        )
        rng = np.random.default_rng(seed)
        found = study.declare_winner()
        for t in range(1, 5001):
            trial = study.ask()
            study.tell(trial, float(rng.random() < {"a": 0.3, "b": 0.5}[trial.arm]))
            if t == 250:
                found = study.declare_winner()
            if t % 50 == 0 and t >= 250 and study.declare_winner().arm is not None:
                break
        assert study.declare_winner().arm == "b"
        low, high = found.more_low or 0, np.inf if found.more_high is None else found.more_high
        held += bool(low - 50 <= t - 250 <= high + 50)
    assert held >= 5


def test_equal_arms_have_a_winner_within_a_margin_only() -> None:
    study = db.create_study("page", arms=["a", "b"], bounds=(0, 1), seed=1)
    told(study, np.ones((50, 2)))
    assert (study.declare_winner().arm, study.declare_winner().reason) == (None, "2 arms are equally good")
    assert (study.declare_winner(margin=-0.5).arm, study.declare_winner(margin=0.5).arm) == (None, "a")


def test_winners_of_segments() -> None:
    study = db.create_study("field", arms=["a", "b"], bounds=(0, 1), segments=["clay", "sand"], policy="RDS", seed=1)
    rng = np.random.default_rng(4)
    for segment, means in (("clay", (0.1, 0.9)), ("sand", (0.9, 0.1))):
        for trial in study.ask(120, segment=segment):
            study.tell(trial, float(rng.random() < means[trial.arm == "b"]))
    with pytest.raises(db.ArgumentError, match="'segment' must be one of 'clay', 'sand'"):
        study.declare_winner()
    clay, sand = (study.declare_winner(0.2, 0.3, segment=segment) for segment in ("clay", "sand"))
    assert (clay.leader, sand.leader) == ("b", "a")
    assert [(one.arm, one.segment) for one in local_of(study).journal().winners] == [
        (names.index(found.arm), segment)
        for found, segment in ((clay, "clay"), (sand, "sand"))
        if found.arm is not None
        for names in (study.arms,)
    ]
    assert study.declare_winner(0.2, 0.3, segment="clay") == clay


def test_a_study_with_a_winner_can_be_recovered_and_a_bad_record_is_refused() -> None:
    study = db.create_study("page", arms=["red", "blue"], bounds=(0, 1), seed=1)
    told(study, coins(0, 200, 0.2, 0.7))
    study.declare_winner()
    events = list(local_of(study).rows())
    recovered = recover([event for event in events if event.number not in (1, 5)])  # an arm and a trial are missing
    journal = Journal()
    journal.apply(recovered.events)
    assert [(one.arm, one.trials) for one in journal.winners] == [(1, 400)]
    for change in ({"arm": 2}, {"value": 2.0}, {"note": "[]"}, {"note": '{"margin": 0.0, "trials": "400"}'}):
        broken = Journal()
        with pytest.raises(db.FormatError):
            broken.apply([*events[:-1], events[-1]._replace(**change)])


def test_a_winner_is_computed_once_per_event(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = []
    monkeypatch.setattr(readings, "winner", lambda *given: computed.append(given[4]) or winner(*given))
    study = db.create_study("page", arms=["a", "b"], bounds=(0, 1), seed=1)
    first = study.winner()
    assert study.winner() is first
    assert study.winner(0.1) is not first
    assert len(computed) == 2
    with pytest.raises(db.ArgumentError, match="'delta' must be"):
        study.winner([0.1])  # type: ignore[arg-type]
    study.tell(study.ask(), 1.0)
    assert study.winner().trials == 1
    assert [question.delta for question in computed] == [0.05, 0.1, 0.05]


@pytest.mark.parametrize("policy", ["EqualSplit", "UCB1(sigma=0.5)"])
def test_rewards_of_any_size_can_be_compared_without_bounds(policy: str) -> None:
    for size in (1e-300, 1e-160, 1.0, 1e100):
        study = db.create_study("page", arms=["a", "b"], policy=policy, storage=MemoryStorage(), seed=1)
        rng = np.random.default_rng(1)
        for _ in range(60):
            study.tell(study.ask(), size * rng.random())
        found = study.winner()
        assert found.arm is None
        assert "too few" in found.forecast or found.rivals[0].statistic > -math.inf


@pytest.mark.parametrize("policy", ["EqualSplit", "UCB1(sigma=0.5)"])
def test_a_margin_beyond_all_differences_has_an_answer(policy: str) -> None:
    for width in (1.0, 1e-250):
        bounds, place = (0.0, width), MemoryStorage()
        study = db.create_study("page", arms=["a", "b"], policy=policy, bounds=bounds, storage=place, seed=1)
        rng = np.random.default_rng(1)
        for _ in range(40):
            study.tell(study.ask(), width * rng.random())
        for over in ("arms", "rounds"):
            assert study.winner(margin=-1e100, over=over).arm is None
            assert all(math.isfinite(rival.statistic) for rival in study.winner(margin=1e100, over=over).rivals)
        assert study.winner(margin=1e100).arm == study.winner(margin=1e100).leader
