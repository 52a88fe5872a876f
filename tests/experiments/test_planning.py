"""Plans: the games end when a live study would name its winner, and the table says what that costs."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

import dirichlet_bandits as db
from dirichlet_bandits.cli import app
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.experiments import planning
from dirichlet_bandits.experiments.plan_games import (
    NOBODY,
    WinnerRule,
    bet_on_pairs,
    named_winner,
    new_bettors,
    new_games,
    play_games,
)
from dirichlet_bandits.inference.lottery import BETS, PRIOR, Rounds, Wealth, peak
from dirichlet_bandits.inference.winner import log_odds
from dirichlet_bandits.seeding import new_stream, replication_seeds, root_sequence

ALARM = 1e-6
QUICK = {"baseline": 0.2, "lift": 0.5, "horizon": 1000, "replications": 40, "every": 20}


@pytest.fixture(scope="module")
def quick():
    return db.plan(**QUICK, policies=[db.TopTwo(), db.ThompsonSampling("bernoulli")])


def test_a_winner_is_named_once_it_has_beaten_all_others():
    bettors = new_bettors(BETS, PRIOR, 3)
    assert named_winner(bettors, 0.0) == 0  # the wealth before the first bet
    assert named_winner(bettors, 1e-9) == NOBODY
    for _ in range(40):
        for arm in range(3):
            bet_on_pairs(bettors, np.full(3, 1.0 / 3.0), np.array([arm]), np.array([float(arm == 2)]), 0.0)
    weakest = min(peak(bettors.sums[2, a]) for a in (0, 1))
    assert weakest > 10.0
    assert named_winner(bettors, weakest - 1e-9) == 2
    assert named_winner(bettors, weakest + 1e-9) == NOBODY


@pytest.mark.parametrize("shift", [0.0, -3.0])
@pytest.mark.parametrize("unit", [10.0, 0.001])
def test_a_plan_does_not_depend_on_the_unit_of_the_rewards(unit, shift):
    rng = np.random.default_rng(0)
    past = {arm: np.clip(rng.normal(mean, 0.1, 50), 0.0, 1.0) for arm, mean in (("a", 0.2), ("b", 0.4), ("c", 0.43))}
    for margin in (0.0, 0.05, -0.01):
        given = {"margin": margin, "horizon": 1500, "every": 20, "replications": 10, "floors": [0.0, 0.1]}
        plain = db.plan(past, **given, policies=["TopTwo", "EpsilonGreedy(0.3)"])
        moved = db.plan(
            {arm: unit * (x + shift) for arm, x in past.items()},
            **given | {"margin": unit * margin},
            bounds=(unit * shift, unit * (1.0 + shift)),
            policies=[db.TopTwo(unit * shift, unit * (1.0 + shift)), "EpsilonGreedy(0.3)"],
        )
        assert moved.margin == unit * margin
        for one, other in zip(plain.rows, moved.rows, strict=True):
            scaled = one._replace(loss=unit * one.loss, loss_error=unit * one.loss_error)
            assert scaled[:2] == other[:2]
            assert scaled[2:] == pytest.approx(other[2:])
        assert len({row.decided for row in plain.rows}) > 1 or margin > 0.0


def test_the_table_says_what_happened(quick):
    split, two, floored, thompson, slow = quick.rows
    assert [(row.policy, row.floor) for row in quick.rows] == [
        ("EqualSplit", 0.0),
        ("TopTwo", 0.0),
        ("TopTwo", 0.1),
        ("ThompsonSampling", 0.0),
        ("ThompsonSampling", 0.1),
    ]
    assert split.decided == two.decided == floored.decided == 1.0
    assert max(row.wrong for row in quick.rows) == 0.0
    assert split.median <= split.ninety < math.inf
    assert split.median % 20 == 0.0
    assert slow.decided > thompson.decided
    assert split.relative == 1.0
    assert thompson.relative < 1.0
    frame = quick.summary()
    assert frame.loc[("TopTwo", 0.1), "median"] == floored.median
    wide = [row._replace(median=math.inf, loss=123.456, loss_error=1.234) for row in quick.rows]
    for found in (quick, dataclasses.replace(quick, rows=wide, horizon=100_000)):
        assert max(map(len, str(found).splitlines())) <= 80
    assert quick.answer.startswith("An equal split (an A/B test) decides after ")
    assert quick.answer in quick._repr_html_().replace("&#x27;", "'")


def test_same_seed_same_plan_and_loss_of_an_equal_split(quick):
    again = db.plan(**QUICK, policies=[db.ThompsonSampling("bernoulli")], floors=[0.1])
    assert [again.rows[0], again.rows[1]] == [quick.rows[0], quick.rows[4]]
    # Until it ends, an equal split loses half of the gap with each trial, up to chance.
    assert 0.2 * 0.5 * quick.rows[0].median < quick.rows[0].loss < 0.5 * quick.rows[0].ninety


@pytest.mark.parametrize(
    ("by_flag", "stopped"), [(False, KeyboardInterrupt), (False, TimeoutError), (True, TimeoutError)]
)
def test_an_interrupted_plan_has_what_was_complete(quick, monkeypatch, by_flag, stopped):
    """Interrupted between two studies, or in the middle of one by the flag that another thread sets."""
    played, calls = planning._played, []

    def interrupted(*given):
        calls.append(None)
        if len(calls) == 4 and not by_flag:
            raise stopped
        given[-1][0] = len(calls) == 4
        games = played(*given)
        assert (games.trials.min() == 0) == (len(calls) == 4)
        return games

    monkeypatch.setattr(planning, "_played", interrupted)
    found = db.plan(**QUICK, policies=[])
    assert (found.interrupted, found.replications, quick.interrupted) == (True, 6, False)
    assert found.rows[0] == db.plan(**{**QUICK, "replications": 6}, policies=[]).rows[0]
    calls[:] = [None] * 3
    with pytest.raises(stopped):
        db.plan(**QUICK, policies=[])


def test_equal_arms_have_no_winner():
    found = db.plan(baseline=0.5, lift=0.0, policies=[], horizon=1000, replications=100)
    assert stats.binomtest(round(100 * found.rows[0].decided), 100, 0.05, alternative="greater").pvalue > ALARM
    assert math.isnan(found.rows[0].relative) or found.rows[0].loss == 0.0


def test_past_rewards_and_the_command_line(tmp_path):
    file = tmp_path / "past.csv"
    file.write_text(
        "arm,reward\n" + "".join(f"{arm},{x}\n" for arm in "ab" for x in ([1, 0, 0] if arm == "a" else [2, 2, 1]))
    )
    options = [
        "--bounds",
        "0",
        "2",
        "--policy",
        "TopTwo(upper=2)",
        "--floor",
        "0",
        "--horizon",
        "600",
        "--replications",
        "20",
    ]
    said = CliRunner().invoke(app, ["plan", str(file), *options, "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    assert [row["policy"] for row in found["rows"]] == ["EqualSplit", "TopTwo"]
    assert found["answer"].startswith("An equal split")
    plain = CliRunner().invoke(app, ["plan", str(file), *options])
    assert "20 simulated studies of 600 trials" in plain.output
    assert CliRunner().invoke(app, ["plan", "--baseline", "0.1", "--wide", "--lift", "0.1"]).exit_code == 2
    typed = tmp_path / "typed.csv"
    typed.write_text("Variante;Umsatz\nrot;1,5\nrot;0\nblau;2,0\nblau;1\nblau;\n")
    assert CliRunner().invoke(app, ["plan", str(typed), *options]).exit_code == 2
    forgiven = CliRunner().invoke(app, ["plan", str(typed), *options, "--forgiving"])
    assert "20 simulated studies of 600 trials" in forgiven.output
    assert "blank" in forgiven.output  # what was left out is reported


def test_a_policy_that_decides_where_the_equal_split_does_not():
    split = planning.PlanRow("EqualSplit", 0.0, 0.4, 0.0, math.inf, math.inf, 10.0, 1.0, 1.0)
    quick = planning.PlanRow("TopTwo", 0.0, 0.6, 0.0, 900.0, math.inf, 9.99, 1.0, 0.999)
    answer = planning.StudyPlan([split, quick], 1000, 0.05, 0.0, 20).answer
    assert answer == (
        "An equal split (an A/B test) decides in 40% of cases within 1,000 trials and loses 10; "
        "TopTwo decides after 900 trials (median) and loses 9.99, about as much."
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"baseline": None}, "'baseline' must be given, or else past rewards"),
        ({"lift": None}, "'lift' must be given with baseline"),
        ({"lift": 0.9}, r"'lift' must be such that baseline \+ lift is from 0 to 1, with baseline = 0.2 \(got 0.9\)"),
        ({"floors": [0.6]}, r"'floors' must be numbers from 0 to 1 / 2, with 2 arms \(got 0.6\)"),
        ({"policies": ["Magic"]}, r"'policies\[0\]' must be the name of a policy"),
        ({"policies": [db.TopTwo(lower=0.5)]}, r"'policies\['TopTwo'\]' must be fit for rewards in \[0, 1\]"),
        ({"bounds": (0, 0.5)}, "'bounds' must be around all rewards, from 0 to 1"),
        ({"delta": 1.0}, "'delta' must be a number strictly between 0 and 1"),
        ({"arms": 1}, "'arms' must be an integer"),
    ],
)
def test_bad_arguments_are_refused(wrong, message):
    with pytest.raises(db.ArgumentError, match=message):
        db.plan(**{**QUICK, **wrong})


def test_games_end_when_the_lottery_rule_names_its_winner():
    """The same rewards, one at a time in the order of a game: its wealth crosses the threshold with the last one."""
    tape = (np.random.default_rng(4).random((2, 2, 400)) < np.array([[0.2], [0.7]])).astype(float)
    stream, params, odds = new_stream(), db.EqualSplit().params, float(log_odds(0.05, [0, 0], 0, True)[1])
    seeds, stop = replication_seeds(root_sequence(0), 0, 2, 1)[:, 0].copy(), np.zeros(1, np.int64)
    ends = []
    for length in range(2, 401):
        games = new_games(2, 2)
        given = tape[:, :, :length].copy(), np.zeros(2), WinnerRule(0.0, 1.0, odds, 0.0, 1, BETS, PRIOR)
        specialized(play_games, params)(params, *given, seeds, stream, stop, games)
        ends.append(games)
    last = ends[-1]
    assert last.winners.tolist() == [1, 1]
    for game in range(2):
        # Which arm came when follows from the pulls of the same game, cut short at every length.
        trials = int(last.trials[game])
        pulls = np.array([games.pulls[game] for games in ends[: trials - 1]])
        assert (pulls.sum(axis=1) == np.arange(2, trials + 1)).all()
        first = [0, 1] if pulls[0].tolist() == [1, 1] else []
        arm = np.append(first, (np.diff(pulls, axis=0) @ [0, 1]).astype(int)).astype(int)
        seen = np.array([np.sum(arm[:t] == arm[t]) for t in range(trials)])
        rounds = Rounds(2).add(np.full((trials, 2), 0.5), np.arange(trials), arm, tape[game, arm, seen])
        found = Wealth(1, 0).follow(rounds)
        assert abs(found.peak - odds) < 1.5  # it bets with the probabilities, and not with recent shares
