"""What a study's page says: the order of the arms, the control, and the next step."""

import html
import re

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.display.numbers import short
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.service.dashboard.overview import overview
from dirichlet_bandits.service.dashboard.rendering import _templates, real_number

FILLED = ("policy", "floor")


def filled(means, trials=200, spread=0.1, **settings):
    """A study in which the arms have these means."""
    rng = np.random.default_rng(2)
    study = db.create_study("s", arms=list(means), **{"policy": db.UCB1(sigma=1.0), "seed": 1, **settings})
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, float(rng.normal(means[trial.arm], spread)))
    return study


@pytest.mark.parametrize(("direction", "order"), [("maximize", ["c", "a", "b"]), ("minimize", ["b", "a", "c"])])
def test_the_best_arm_comes_first(direction, order):
    study = filled({"a": 1.0, "b": 0.0, "c": 2.0}, direction=direction, control="a")
    study.add_arm("new")
    study.add_arm("old")
    study.retire_arm("old")
    seen = overview(study)
    assert [row["arm"] for row in seen["rows"]] == [*order, "new", "old"]
    assert [row["arm"] for row in seen["rows"] if row["best"]] == order[:1]
    assert [row["arm"] for row in seen["rows"] if row["control"]] == ["a"]


def test_the_verdict_is_always_there_and_the_next_step_follows_the_study():
    study = db.create_study("s", arms=["a", "b"], seed=1)

    def said():
        seen = overview(study)
        return seen["verdict"], seen["to_do"]

    assert said() == ("No rewards yet.\nEach arm is tried once before the policy chooses.", "Ask for the next trial.")
    first = study.ask()
    assert said()[1] == f"Try {first.arm} and report the reward of trial 0."
    second = study.ask()
    assert said()[1] == f"Try {first.arm} and report the reward of trial 0; 1 more trial is pending."
    study.retire_arm(first.arm)
    assert said()[1] == f"Try {second.arm} and report the reward of trial 1."
    study.add_arm(first.arm)
    study.tell(first, 1.0)
    study.abandon(second)
    assert said()[0] == "Too early to tell: 1 arm has no reward yet."
    study.tell(study.ask(), 0.0)
    assert said()[0].startswith("Too early to tell: ")


def test_rewards_that_are_held_and_arms_that_change_are_part_of_the_verdict():
    waiting = db.create_study("s", arms=["a", "b"], window="24h", late=0, seed=1)
    waiting.tell(waiting.ask(), 1.0)
    assert overview(waiting)["verdict"] == "No rewards yet.\n1 is held until the window of its trial closes."
    around = {"what": "reward", "unit": None, "in_unit": ""}
    shown = _templates.get_template("charts.html").render(overview(waiting) | around)
    assert shown.count("No rewards yet.") == 3  # intervals, means and histograms
    drifting = db.create_study("s", arms=["a", "b"], bounds=(0, 1), seed=1)
    drifting.add_trials({"arm": ["a", "b"] * 600, "reward": [0.0, 0.0] * 200 + [0.0, 1.0] * 400})
    assert overview(drifting)["verdict"] == (
        "b can be named the winner: the probability of error is at most 5%, if each arm's rewards keep one mean."
    )


def test_a_study_that_starts_from_past_rewards_says_so():
    study = db.create_study(
        "s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), history={"a": [1.0, 2.0]}, weight=0.5, seed=1
    )
    seen = overview(study)
    assert seen["verdict"] == "No rewards yet.\nThe policy starts from past rewards, which do not count here."
    assert "    history=past,\n    weight=0.5,\n" in seen["code"]


def test_pending_trials_do_not_hide_the_verdict():
    study = filled({"a": 0.0, "b": 0.5})
    study.ask(3)
    assert overview(study)["verdict"].startswith("b can be named the winner: the probability of error is at most 5%")


def test_it_says_which_trial_holds_up_the_winner():
    study = db.create_study("s", arms=["a", "b"], policy="EqualSplit", bounds=(0, 1), seed=1)
    forgotten = study.ask()
    for _ in range(99):
        trial = study.ask()
        study.tell(trial, float(trial.arm == "b"))
    said = overview(study)["verdict"]
    assert said == "b leads, but there is no winner yet.\n99 later rewards wait for trial 0, which is pending."
    study.abandon(forgotten)
    assert overview(study)["verdict"].startswith("b can be named the winner: ")


def test_a_forecast_says_which_rewards_it_leaves_out():
    study = filled({"a": 1.0, "b": 1.02}, policy="EqualSplit")
    study.ask()
    study.tell(study.ask(), 1.0)
    forecast = study.winner().forecast
    assert overview(study)["verdict"] == (
        f"b leads, but there is no winner yet.\nA{forecast[1:]}. 1 later reward waits for trial 200, which is pending."
    )


def test_it_names_the_winner_or_what_is_missing():
    costs = overview(filled({"a": 0.0, "b": 0.5}, direction="minimize"))
    assert costs["verdict"].startswith("a can be named the winner: ")
    study = filled({"a": 1.0, "b": 1.001})
    shown = overview(study)["verdict"]
    sight, _, floor = study.winner().forecast.partition("; ")
    assert shown == f"b leads, but {sight}.\n{floor[0].upper()}{floor[1:]}."
    assert "no winner is in sight" in shown
    split = filled({"a": 1.0, "b": 1.02}, policy="EqualSplit")
    forecast = split.winner().forecast
    assert overview(split)["verdict"] == f"b leads, but there is no winner yet.\nA{forecast[1:]}."
    clear = filled({"a": 0.0, "b": 0.5})
    stored = local_of(clear).storage.read("s")
    seen = overview(clear)
    assert local_of(clear).storage.read("s") == stored  # a page that is only read stores nothing
    assert seen["verdict"].startswith("b can be named the winner: ")
    assert seen["to_name"] == "b"
    clear.declare_winner()
    clear.add_arm("c")  # has no reward yet
    seen = overview(clear)
    assert seen["to_name"] is None
    assert seen["verdict"].startswith("The winner is b: ")
    assert seen["verdict"].endswith(
        "\nNote: the present rewards would not establish it (b leads, but not yet by enough over c)."
    )
    risky = db.create_study("s", arms=["a", "b"], policy=db.BCVTS(upper=1, level=0.2), seed=1)
    for k in range(40):
        risky.tell(risky.ask(), (k % 7) / 7)
    assert overview(risky)["verdict"].endswith("has the best CVaR at 20 % so far.")


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (db.MCVTS([0, 0.5, 1], level=0.2), "Interval of the CVaR at 20 %: confidence sequence for a CVaR"),
        (db.BCVTS(upper=1, level=0.2), "Interval of the CVaR at 20 %: none: without bounds"),
    ],
)
def test_a_cvar_has_its_interval_beside_it_or_the_reason_why_not(policy, words):
    risky = db.create_study("s", arms=["a", "b"], policy=policy, seed=1)
    for k in range(40):
        risky.tell(risky.ask(), (k % 3) / 2)
    around = {"what": "reward", "unit": None, "in_unit": ""}
    shown = _templates.get_template("arms.html").render(overview(risky) | around)
    assert words in " ".join(shown.split())
    ends = risky.summary().loc["a", ["value_low", "value_high"]]
    assert (f"<small>{short(ends.iloc[0])} to {short(ends.iloc[1])}</small>" in shown) == isinstance(policy, db.MCVTS)


def test_trials_of_the_past_are_shown():
    study = db.create_study("s", arms=["a", "b"], seed=1)
    study.add_trials({"arm": ["a", "b", "a"], "reward": [1.0, 2.0, 3.0], "time": ["2020-01-02", "2020-01-01", None]})
    seen = overview(study)
    assert (seen["trials"], seen["attrs"]["earned"]) == (3, 6.0)
    assert "nan" not in seen["histograms"]
    assert (seen["moments"][-1].at, seen["moments"][-1].total) == (3, 6.0)


@pytest.mark.parametrize("typed", ["1,234", "12,345,678", "1.234,5", "1,5,2", "", "nan,"])
def test_numbers_that_may_mean_two_things_are_refused(typed):
    with pytest.raises(db.ArgumentError):
        real_number("reward", typed)


def test_guided_creation_splits_one_line_and_questions_one_arm(service, studies):
    with service.http() as client:
        client.post("/login", data={"key": service.write})
        typed = {"name": "one line", "arm": ["a, b, c", ""], "measure": "binary", "control": "b", "unit": "clicks"}
        assert "ThompsonSampling(&#39;bernoulli&#39;)" in client.post("/guide", data=typed).text
        assert "one line" not in studies.study_names()
        made = client.post("/create", data=typed)
        assert made.status_code == 303
        study = db.load_study("one line", service.storage)
        assert (study.arms, study.control, study.bounds) == (["a", "b", "c"], "b", (0.0, 1.0))
        assert study.reward_unit == "clicks"
        assert study.policy == db.ThompsonSampling("bernoulli")
        more = client.post("/create", data={"name": "one arm", "arm": ["lonely", "", ""], "more": "1"})
        assert more.text.count('name="arm"') == 4  # without JavaScript
        refused = client.post("/create", data={"name": "one arm", "arm": "lonely"})
        assert refused.status_code == 422
        assert "at least two names" in refused.text
        assert "lonely" in refused.text  # what was typed stays
        assert "one arm" not in studies.study_names()
        again = client.post("/create", data={"name": "one line", "arm": ["a", "b"]})
        assert "There is a study &#39;one line&#39;." in again.text
        assert "Arm 2 must be" in client.post("/create", data={"name": "twice", "arm": ["a", "a"]}).text
        assert client.post("/create", data={"name": "one arm", "arm": "lonely", "alone": "1"}).status_code == 303
    assert studies.load_study("one arm").arms == ["lonely"]
    local_of(study).storage.close()


def test_guided_creation_has_a_floor_a_window_and_segments(web, studies):
    typed = {"name": "a whole form", "arm": ["a", "b"], "measure": "binary"}
    typed |= {"floor": "0,1", "window": "24h", "late": "0", "segments": "mobile, desktop"}
    shown = web.post("/guide", data=typed).text
    for line in ("floor=0.1,", "window=&#39;1d&#39;,", "segments=[&#39;mobile&#39;, &#39;desktop&#39;],", "late=0.0,"):
        assert line in shown
    wrong = {
        "floor": ("0.7", "The floor must be at most 1 in all"),
        "window": ("soon", "The window must be seconds, or a text such as"),
        "late": ("none", "What a missing answer counts as must be a number"),
        "segments": ("mobile, mobile", "Segment 2 must be"),
    }
    for field, (value, message) in wrong.items():
        answer = web.post("/create", data=typed | {field: value})
        said = answer.text.partition('role="alert">')[2].partition("</p>")[0]
        assert (answer.status_code, said[: len(message)]) == (422, message)
        assert f'value="{value}"' in answer.text  # what was typed stays
    assert "window" in web.post("/create", data=typed | {"window": ""}).text  # late alone means nothing
    assert web.post("/create", data=typed).status_code == 303
    made = studies.load_study("a whole form")
    assert (made.floor, made.window, made.late, made.segments) == (0.1, 86400.0, 0.0, ("mobile", "desktop"))
    assert web.post("/create", data=typed | {"name": "left out", "late": ""}).status_code == 303
    assert studies.load_study("left out").late == "abandon"


def test_a_winner_is_named_from_the_page(service, studies):
    won = studies.create_study("to be won", arms=["a", "b"], bounds=(0, 1), seed=1)
    won.add_trials({"arm": ["a", "b"] * 100, "reward": [0.0, 1.0] * 100})
    fields = studies.create_study("fields to be won", arms=["a", "b"], bounds=(0, 1), segments=["clay", "sand"], seed=1)
    for trial in fields.ask(40, segment="clay"):
        fields.tell(trial, float(trial.arm == "b"))

    def shown(client, name):
        return client.get("/study", params={"name": name}).text

    with service.http() as client:
        client.post("/login", data={"key": service.read})
        assert "b can be named the winner" in shown(client, "to be won")
        assert "<button>Name b the winner</button>" not in shown(client, "to be won")
        client.post("/login", data={"key": service.write})
        for study, segment in ((won, None), (fields, "clay")):
            assert shown(client, study.name).count("<button>Name b the winner</button>") == 1
            answer = client.post("/winner", data={"name": study.name, "segment": segment or ""})
            assert answer.status_code == 303
            assert "The winner is b: " in shown(client, study.name)
            assert "<button>Name b the winner</button>" not in shown(client, study.name)
            assert next(event for event in study.events() if event.what == "declare_winner").actor == "write"
            assert study.winner(segment=segment).established_at is not None
        assert client.post("/winner", data={"name": "fields to be won", "segment": "loam"}).status_code == 422
        home = " ".join(client.get("/", params={"q": "to be won"}).text.split())
        assert "<dt>Winner</dt><dd>b</dd>" in home


def test_a_study_is_managed_from_its_page(service, studies):
    studies.create_study("managed", arms=["a", "b"], seed=1)

    def send(client, path, **data):
        return client.post(path, data={"name": "managed", **data})

    with service.http() as client:
        client.post("/login", data={"key": service.write})
        assert send(client, "/floor", share="0,2").status_code == 303
        assert studies.load_study("managed").floor == 0.2
        assert (
            "at most 1 in all: those of &#39;a&#39;, &#39;b&#39; sum to 1.8" in send(client, "/floor", share="0.9").text
        )
        assert send(client, "/floor", share="a = 0,3").status_code == 303
        assert studies.load_study("managed").floor == {"a": 0.3}
        assert 'value="a = 0.3"' in client.get("/study", params={"name": "managed"}).text
        assert "The floor must be" in send(client, "/floor", share="nobody = 0.3").text
        send(client, "/archive")
        assert "managed" not in studies.study_names()
        send(client, "/archive")
        history = client.get("/study/history", params={"name": "managed"}).text
        assert '<td role="cell" data-title="What" class="text">set_floor</td>' in history
        assert '<td role="cell" data-title="What" class="text">unarchived</td>' in history
        assert history.count('<td role="cell" data-title="Key" class="text">write</td>') == 7  # events and acts
        assert send(client, "/delete", confirm="yes").status_code == 422
        assert send(client, "/rename", new="managed again").headers["location"] == "/study?name=managed+again"
        again = client.post("/delete", data={"name": "managed again", "confirm": "managed again"})
        assert again.headers["location"] == "/"
        acts = client.get("/audit_log").text
        assert acts.index(">deleted<") < acts.index(">renamed: managed again<")
        acts = client.get("/api/audit_log", headers={"Authorization": f"Bearer {service.read}"}).json()["audit_log"]
        assert [acts[0][key] for key in ("what", "study", "actor")] == ["deleted", "managed again", "write"]
    assert not {"managed", "managed again"} & set(studies.study_names())


def test_a_held_reward_is_stored_and_can_be_corrected(studies, web):
    study = studies.create_study("held", arms=["a", "b"], policy="NPTS(upper=1)", window="24h", late=0, seed=1)
    study.ask()
    answer = web.post("/tell", data={"name": "held", "id": 0, "reward": 1}, follow_redirects=True)
    assert "which counts when the window of the trial closes." in answer.text
    assert "<small>and 1 held</small>" in answer.text
    assert study.summary()[["told", "pending", "held"]].sum().tolist() == [0, 0, 1]
    trial = web.get("/study/trial", params={"name": "held", "id": 0}).text
    assert 'action="/correct"' in trial
    assert 'action="/void"' in trial
    assert web.post("/correct", data={"name": "held", "id": 0, "reward": 0.5}).status_code == 303
    assert study.trials_dataframe()[["status", "reward"]].to_numpy().tolist() == [["held", 0.5]]


def test_a_warning_of_drift_comes_with_differences_that_survive_it(studies, web):
    study = studies.create_study("drift", arms=["a", "b"], policy="EqualSplit", bounds=(0, 1), control="a", seed=1)
    for trial in study.ask(600):
        study.tell(trial, float(trial.id < 300) if trial.arm == "a" else 0.9)
    assert study.summary().attrs["drift"] == ["a"]
    assert study.winner().drift == ()  # the lottery rule does not need arms that keep their mean
    found = study.estimate_difference("b", "a")
    assert found.low < 0.4 < found.high
    shown = web.get("/study", params={"name": "drift"}).text
    said = f"Even so, b minus a was {short(found.value)} on average, from {short(found.low)} to {short(found.high)}"
    assert f"{said} with 95% confidence." in shown


def test_a_study_is_planned_from_a_page(web):
    assert all('href="/plan"' in web.get(path).text for path in ("/", "/new"))
    typed = {"baseline": "20", "lift": "60", "arms": "2", "horizon": "300", "floor": ["0", "0.2"]}
    found = db.plan(baseline=0.2, lift=0.6, horizon=300, replications=100, floors=[0.0, 0.2])
    answer = web.post("/plan", data=typed)
    assert answer.status_code == 200
    assert found.answer in answer.text
    cells = re.findall(r'<td role="cell" data-title="[^"]+">([^<]*)</td>', answer.text)
    assert [html.unescape(cell) for cell in cells] == [cell for row in found.cells() for cell in row[1:]]
    wrong = {
        "baseline": ("120", "The number of successes among 100 trials must be from 0.01 to 99.99 (got 120.0)."),
        "lift": ("90", "The number of further successes must be from -20 to 80 (got 90.0)."),
        "arms": ("1", "The number of arms must be from 2 to 10 (got 1)."),
        "horizon": ("1e9", "The number of trials must be a whole number (got &#39;1e9&#39;)."),
        "floor": ("nan", "Floor 1 must be a finite number (got nan)."),
    }
    for field, (value, message) in wrong.items():
        refused = web.post("/plan", data=typed | {field: value})
        assert (refused.status_code, message in refused.text) == (422, True), field
        assert field == "floor" or f'value="{value}"' in refused.text
    many = web.post("/plan", data=typed | {"horizon": "50001"})
    assert "The number of trials must be from 100 to 50,000 (got 50001)." in many.text


def test_a_row_of_a_plan_leads_to_a_study(web, studies):
    shown = web.post("/plan", data={"baseline": "20", "lift": "60", "horizon": "300", "floor": ["0", "0.2"]}).text
    links = [html.unescape(link) for link in re.findall(r'href="(/new\?[^"]*)"', shown)]
    assert len(links) == 5
    for k, link in enumerate(links):
        form = web.get(link).text
        typed = {field: html.unescape(re.search(rf'id="{field}"[^>]* value="(.*?)"', form)[1]) for field in FILLED}
        assert 'value="binary" checked' in form
        made = web.post("/create", data={"name": f"planned {k}", "arm": ["a", "b"], "measure": "binary", **typed})
        assert made.status_code == 303
    found = [studies.load_study(f"planned {k}") for k in range(5)]
    assert [(type(study.policy).__name__, study.floor) for study in found] == [
        ("EqualSplit", 0.0),
        ("TopTwo", 0.0),
        ("TopTwo", 0.2),
        ("ThompsonSampling", 0.0),
        ("ThompsonSampling", 0.2),
    ]
    assert {study.bounds for study in found} == {(0.0, 1.0)}


@pytest.mark.parametrize("bounds", [(0, 1), None])
@pytest.mark.parametrize("policy", ["UCB1(sigma=0.5)", "EpsilonGreedy(0.2)"])
def test_winners_are_as_here_whatever_has_no_end_yet(studies, policy, bounds):
    name = f"no end {policy} {bounds}"
    both = [
        place(name, arms=["a", "b"], policy=policy, bounds=bounds, seed=3)
        for place in (db.create_study, studies.create_study)
    ]
    rewards = np.random.default_rng(1).random(30).tolist()
    for k, reward in enumerate(rewards):
        for study in both:
            study.tell(study.ask(), reward)
        if k in (0, 1, 3, 29):
            for margin in (0.0, 1.5, -1.5, 1e100, -1e100):
                here, there = (study.winner(0.05, margin) for study in both)
                assert repr(here) == repr(there)
                assert str(here) == str(there)
