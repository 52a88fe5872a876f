"""``dirichlet-bandits study`` from create to replay."""

import json
import sqlite3
import time

import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.storage.database import DatabaseStorage


def test_floors(run):
    run("create", "s", "--arm", "a", "--arm", "b=c", "--policy", "UCB1(sigma=1)", "--floor", "b=c=0.25", "--seed", 1)
    for _ in range(4):
        run("tell", "s", run("ask", "s").split("\t")[0], 1.0)
    assert "floor: 0.25 for b=c" in run("show", "s")
    assert run("set-floor", "s", "0.1") == "floor: 0.1 for every arm\n"
    assert json.loads(run("show", "s", "--json"))["floor"] == 0.1
    assert run("set-floor", "s", "a=0.1", "b=c=0.2") == "floor: 0.1 for a, 0.2 for b=c\n"
    assert run("set-floor", "s", "0") == "floor: none\n"
    assert "(got 'much')" in run("set-floor", "s", "much", code=2)
    by_arm = "a number, or numbers by the names of arms, each written NAME=VALUE (got 'a=0.1 0.2')"
    assert f"'floor' must be {by_arm}" in run("set-floor", "s", "a=0.1", "0.2", code=2)
    assert "every propensity came out again" in run("replay", "s")


def test_from_create_to_replay(run, tmp_path):
    out = run("create", "maize [1]", "--arm", "26 Feb", "--arm", "[b]", "--policy", "BDS(upper=9000)", "--seed", 3)
    assert out == "created 'maize [1]': BDS(upper=9000, rho=None, gamma=None), 2 arms, seed 3\n"
    for step in range(20):
        for line in run("ask", "maize [1]", "-n", 2).splitlines():
            id, arm, propensity = line.split("\t")
            assert 0 < float(propensity) <= 1
            if step == 19:
                continue
            run("tell", "maize [1]", id, {"26 Feb": 3000, "[b]": -1.5}.get(arm, 10.0) + step)
    assert run("abandon", "maize [1]", 39) == "trial 39: abandoned\n"
    assert run("void", "maize [1]", 3, "wrong plot") == "trial 3: voided\n"
    assert run("correct", "maize [1]", 3, -2.5, "--reason", "late") == "trial 3: corrected to -2.5\n"
    run("add-arm", "maize [1]", "new")
    run("retire-arm", "maize [1]", "[b]")
    shown = run("show", "maize [1]")
    for words in (
        "[b] (retired)",
        "'26 Feb' alone has rewards",
        "1 pending: 38",
        "asymptotic confidence sequence",
    ):
        assert words in shown
    assert run("show") == "maize [1]\n"
    (listed,) = json.loads(run("list", "--json"))
    assert listed["policy"] == "BDS(upper=9000, rho=None, gamma=None)"
    assert {key: listed[key] for key in ("study", "arms", "trials", "pending", "best")} == {
        "study": "maize [1]",
        "arms": 2,
        "trials": 40,
        "pending": 1,
        "best": None,  # no other arm to compare it with
    }
    assert "maize [1]" in run("list")
    told = json.loads(run("show", "maize [1]", "--json"))
    assert [(row["arm"], row["active"]) for row in told["arms"]] == [("26 Feb", True), ("[b]", False), ("new", True)]
    assert [trial["id"] for trial in told["pending_trials"]] == [38]
    assert run("show", "maize [1]", "--csv").startswith(
        "arm,told,pending,abandoned,voided,mean,std,low,high,lift_percent,probability_best,propensity,active\n"
    )
    run("export", "maize [1]", "log.csv")
    run("export", "maize [1]", "log.parquet")
    csv, parquet = pd.read_csv("log.csv", index_col="trial"), pd.read_parquet("log.parquet")
    assert len(csv) == len(parquet) == 40
    assert (csv["propensity of new"] == 0).all()
    pd.testing.assert_series_equal(csv["reward"], parquet["reward"])
    assert "40 trials in" in run("replay", "maize [1]")
    assert sorted(path.name for path in tmp_path.glob("log*")) == ["log.csv", "log.parquet"]


def test_a_command_with_a_token_is_done_once(run):
    run("create", "s", "--arm", "a", "--arm", "b")
    run("ask", "s", "-n", 2)
    for act, others in (
        (("tell", "s", 0, 1), ("correct", "s", 0, 2)),
        (("void", "s", 0, "mine"), ("correct", "s", 0, 3)),
        (("correct", "s", 0, 4), ("correct", "s", 0, 5)),
        (("abandon", "s", 1), ("annotate", "s", 1, "--note", "theirs")),
        (("annotate", "s", 0, "--note", "mine"), ("annotate", "s", 0, "--note", "theirs")),
        (("add-arm", "s", "c"), ("retire-arm", "s", "c")),
        (("retire-arm", "s", "b"), ("add-arm", "s", "b")),
    ):
        token = ("--token", " ".join(map(str, act)))
        run(*act, *token)
        run(*others)
        n_events = len(local_of(db.load_study("s", "sqlite:///s.db")).rows())
        run(*act, *token)
        assert len(local_of(db.load_study("s", "sqlite:///s.db")).rows()) == n_events
    study = db.load_study("s", "sqlite:///s.db")
    assert (study.trials_dataframe()["reward"][0], study.arms) == (5.0, ["a", "b"])


def test_past_trials_and_notes(run, tmp_path):
    run("create", "p", "--arm", "1", "--arm", "b")
    (tmp_path / "past.csv").write_text("arm,reward,time,propensity\n1,2.5,2020-01-01,0.5\nb,3,,\n")
    assert run("add-trials", "p", "past.csv") == "added 2 trials, 0 to 1\n"
    attributes = [word for value in ("plot=7", "who=me=you", "field=007") for word in ("--attribute", value)]
    run("annotate", "p", 0, "--note", "hail in May", *attributes)
    run("ask", "p")
    run("tell", "p", 2, 4, "--note", "dry")
    log = db.load_study("p", "sqlite:///s.db").trials_dataframe()
    assert log["note"].dropna().to_dict() == {0: "hail in May", 2: "dry"}
    assert log["attributes"][0] == '{"field": "007", "plot": 7, "who": "me=you"}'
    assert log["propensity"][0] == 0.5
    assert "each written NAME=VALUE (got 'plot')" in run("annotate", "p", 0, "--attribute", "plot", code=2)
    (tmp_path / "bad.csv").write_text("arm,rewards\n1,2.5\n")
    needed = "there must be columns arm and reward (found ['arm', 'rewards'])"
    assert f"bad.csv, line 1: {needed}" in run("add-trials", "p", "bad.csv", code=2)
    (tmp_path / "bad.csv").write_text("arm,reward,propensty\n1,2.5,0.5\n")
    needed = "the only columns must be arm, reward, time, propensity (found ['arm', 'reward', 'propensty'])"
    assert f"bad.csv, line 1: {needed}" in run("add-trials", "p", "bad.csv", code=2)


def test_rename_archive_delete(run):
    for name in "st":
        run("create", name, "--arm", "a", "--arm", "b")
    assert run("rename", "s", "new name") == "renamed 's': 'new name'\n"
    assert "there is a study 't'" in run("rename", "new name", "t", code=2)
    assert run("archive", "t") == "'t': archived\n"
    assert (run("show"), run("show", "--archived")) == ("new name\n", "t\n")
    run("archive", "t", "--undo")
    assert run("show") == "new name\nt\n"
    assert "'--confirm' must be the name of the study, 't'" in run("delete", "t", "--confirm", "yes", code=2)
    run("delete", "t", code=2)
    assert run("delete", "t", "--confirm", "t") == "deleted 't'\n"
    assert run("show") == "new name\n"


def test_costs_and_a_control(run):
    run("create", "c", "--arm", "a", "--arm", "b", "--policy", "UCB1(sigma=1)", "--minimize", "--control", "b")
    study = db.load_study("c", "sqlite:///s.db")
    assert (study.direction, study.control) == ("minimize", "b")
    assert "no best arm yet: no reward yet" in run("show", "c")
    trials = study.ask(40)
    study.tell_many(trials, [(trial.arm == "b") + trial.id % 7 / 10 for trial in trials])
    shown = run("show", "c")
    assert "best: a, its interval is apart from those of all other arms" in shown
    assert "Lift: mean minus that of b" in shown
    study.add_arm("new")
    assert "no interval, no reward yet: new" in run("show", "c")
    local_of(study).storage.close()


def test_late_answers(run):
    run("create", "page", "--arm", "red", "--arm", "blue", "--window", "0.01s", "--late", 0, "--seed", 1)
    run("ask", "page", "-n", 2)
    time.sleep(0.02)
    assert run("settle", "page") == "2 late: 0, 1\n"
    assert run("settle", "page") == "0 late\n"
    assert "1 late" in run("show", "page")
    assert json.loads(run("show", "page", "--json"))["arms"][0]["late"] == 1
    assert "is late" in run("tell", "page", 0, 1, code=2)
    assert "'--late' must be" in run("create", "other", "--arm", "a", "--window", "24h", code=2)


def test_segments_and_units(run):
    run("create", "maize", "--arm", "26 Feb", "--arm", "13 Mar", "--segment", "clay", "--segment", "sand", "--seed", 1,
        "--reward-unit", "kg/ha")  # fmt: skip
    first = run("ask", "maize", "--segment", "clay", "--unit", "field 7")
    assert run("ask", "maize", "--segment", "clay", "--unit", "field 7") == first
    run("tell", "maize", 0, 3120)
    assert run("ask", "maize", "--segment", "clay", "--unit", "field 7").split("\t")[1:] == first.split("\t")[1:]
    assert "'--segment' must be one of 'clay', 'sand'" in run("ask", "maize", code=2)
    assert all(words in run("show", "maize") for words in ("over the segments clay, sand", "rewards (kg/ha)"))
    shown = json.loads(run("show", "maize", "--segment", "clay", "--json"))
    assert [arm["told"] for arm in shown["arms"]] in ([0, 1], [1, 0])
    assert json.loads(run("show", "maize", "--segment", "sand", "--json"))["arms"][0]["told"] == 0
    assert "every decision" in run("replay", "maize")


def test_a_warm_start(run, tmp_path):
    (tmp_path / "past.csv").write_text("arm,reward\nred,0.25\nblue,1\nred,0.75\n", encoding="utf-8")
    run("create", "page", "--arm", "red", "--arm", "blue", "--history", "past.csv", "--weight", 0.5, "--seed", 1)
    study = db.load_study("page", "sqlite:///s.db")
    assert (study.history, study.weight) == ({"blue": [1.0], "red": [0.25, 0.75]}, 0.5)
    assert "'--weight' must be" in run(
        "create", "other", "--arm", "red", "--arm", "blue", "--history", "past.csv", code=2
    )


def test_replay_finds_a_forged_record(run):
    run("create", "s", "--arm", "a", "--arm", "b", "--seed", 1)
    study = db.load_study("s", "sqlite:///s.db")
    for _ in range(30):
        trial = study.ask()
        study.tell(trial.id, float(trial.arm == "a") + trial.id % 3)
    local_of(study).storage.close()
    with sqlite3.connect("s.db") as connection:
        connection.execute("UPDATE bandit_events SET value = 7.5 WHERE kind = 3 AND trial = 4")
    connection.close()
    out = run("replay", "s", code=1)
    assert "differences" in out
    assert "trial " in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ask", "none"], "no storage at"),
        (["create", "s", "--arm", "a", "--policy", "Magic"], "'--policy' must be the name of a policy (got 'Magic')"),
        (
            ["create", "s", "--arm", "a", "--policy", "NPTS"],
            "'--policy' must be given with upper: NPTS(upper=...) (got 'NPTS')",
        ),
        (["create", "s", "--arm", "a", "--policy", "__import__('os').system('x')"], "'--policy' must be a policy such"),
        (
            ["create", "s", "--arm", "a", "--policy", "SlidingWindow(RDS, 0)"],
            "'SlidingWindow.window' must be an integer",
        ),
        (["create", "s", "--arm", "a", "--arm", "a"], "'--arm' must be different"),
    ],
)
def test_errors_are_one_line(run, words, message):
    out = run(*words, code=2)
    assert out.startswith("error: ")
    assert message in out
    assert out.count("\n") == 1


def test_conflicts_are_one_line(run):
    run("create", "s", "--arm", "a", "--arm", "b")
    assert "there is a study 's'" in run("create", "s", "--arm", "a", code=2)
    run("ask", "s")
    run("tell", "s", 0, -2.5)
    assert "was given -2.5" in run("tell", "s", 0, 3, code=2)
    assert "must be a finite number" in run("tell", "s", 0, "nan", code=2)
    assert "'reward' must be a finite number (got 'often')" in run("tell", "s", 0, "often", code=2)
    assert run("correct", "s", 0, "yes") == "trial 0: corrected to 1.0\n"
    assert "no trial 9" in run("tell", "s", 9, "no", code=2)
    assert "no trial 9" in run("void", "s", 9, "why", code=2)
    assert "must be a finite number" in run("correct", "s", 0, "nan", code=2)
    assert "ends in .parquet or .csv" in run("export", "s", "log.txt", code=2)
    for command in (
        "create",
        "ask",
        "tell",
        "tell-many",
        "settle",
        "annotate",
        "set-floor",
        "winner",
        "declare-winner",
        "estimate-difference",
        "reopen",
        "abandon",
        "void",
        "correct",
        "list",
        "show",
        "export",
        "replay",
        "add-arm",
        "retire-arm",
    ):
        assert "dirichlet-bandits study " + command in run(command, "--help")


def test_tables_fit_80_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run("create", "s", "--arm", "a", "--arm", "b") != ""
    study = db.load_study("s", "sqlite:///s.db")
    for trial in study.ask(6)[:5]:
        study.tell(trial.id, 3000.0 + trial.id)
    study.abandon(5)
    study.ask()
    for words in (["show", "s"], ["list"]):
        assert max(map(len, run(*words).splitlines())) <= 80
    run("create", "x" * 90, "--arm", "a")
    assert "x" * 90 in run("list").splitlines()


def test_a_list_opens_its_storage_once_and_builds_no_tables(run, monkeypatch):
    """With thousands of studies, each of these took longer than reading them."""
    for name in "stu":
        run("create", name, "--arm", "a", "--arm", "b", "--policy", "UCB1(sigma=1)")
    opened, tables = [], []
    open_one, build = DatabaseStorage.__init__, pd.DataFrame.__init__
    monkeypatch.setattr(DatabaseStorage, "__init__", lambda *given: opened.append(1) or open_one(*given))
    monkeypatch.setattr(pd.DataFrame, "__init__", lambda *given, **named: tables.append(1) or build(*given, **named))
    assert [row["study"] for row in json.loads(run("list", "--json"))] == ["s", "t", "u"]
    assert (len(opened), len(tables)) == (1, 0)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", ": the file is empty"),
        ("binary.csv", bytes(range(256)) * 4, ": not a CSV file"),
        ("quotes.csv", b'arm,reward\n"a,1\n', ", line 2: a quote is never closed"),
        ("uneven.csv", b"arm,reward\na,1\na,1,2,3\n", ", line 3: 2 cells are needed, as in the first line (got 4)"),
        ("text.parquet", b"arm,reward\n", " cannot be read as a Parquet file"),
        ("cut.parquet", b"PAR1" + bytes(50) + b"PAR1", " cannot be read as a Parquet file"),
    ],
)
def test_files_that_cannot_be_read(run, tmp_path, name, content, words):
    run("create", "p", "--arm", "a", "--arm", "b")
    (tmp_path / name).write_bytes(content)
    assert f"error: {name}{words}" in run("add-trials", "p", name, code=2)


def test_past_trials_of_an_arm_called_na_and_a_token(run, tmp_path):
    run("create", "p", "--arm", "NA", "--arm", "nan")
    (tmp_path / "past.csv").write_text("arm,reward,time,propensity\nNA,1,,NA\nnan,2,NaN,0.5\nNA,3,2020-01-01,\n")
    for _ in range(2):
        assert run("add-trials", "p", "past.csv", "--token", "once") == "added 3 trials, 0 to 2\n"
    assert db.load_study("p", "sqlite:///s.db").trials_dataframe()["arm"].tolist() == ["NA", "nan", "NA"]
    (tmp_path / "past.csv").write_text("arm,reward\n,1\n")
    assert "line 2: column 'arm' must name an arm (it is empty)" in run("add-trials", "p", "past.csv", code=2)
    (tmp_path / "past.csv").write_text("arm,reward\nNA,NA\n")
    assert "line 2: column 'reward' must be a finite number (got 'NA')" in run("add-trials", "p", "past.csv", code=2)


def test_formulas_in_csv(run, tmp_path):
    run("create", "=1+1", "--arm", "＝cmd", "--arm", "@b", "--policy", "UCB1(sigma=1)")  # noqa: RUF001
    run("ask", "=1+1", "-n", 2)
    run("tell", "=1+1", 0, -1)
    run("annotate", "=1+1", 0, "--note", "\t=2+2")
    assert run("list", "--csv").splitlines()[1].startswith("'=1+1,UCB1(sigma=1)")
    shown = [line.split(",")[0] for line in run("show", "=1+1", "--csv").splitlines()[1:]]
    assert shown == ["'＝cmd", "'@b"]  # noqa: RUF001
    run("export", "=1+1", "log.csv")
    log = pd.read_csv("log.csv")
    assert sorted(log["arm"]) == ["'@b", "'＝cmd"]  # noqa: RUF001
    assert log["note"][0] == "'\t'=2+2"
    assert log["reward"][0] == -1.0


def test_numbers_and_urls_that_make_no_sense(run):
    run("create", "p", "--arm", "a", "--arm", "b")
    assert "'n' must be an integer from 1 to 1000000" in run("ask", "p", "-n", "99999999999999999999", code=2)
    asked = run("ask", "p", "--storage", "postgresql+asyncpg://me:secret@host/d", code=2)
    assert "'--storage' must be a URL of one of 'sqlite', 'postgresql+psycopg' (got 'postgresql+asyncpg')" in asked


def test_a_file_of_past_rewards_that_is_none(run, tmp_path):
    for text, refused in (
        ("foo,bar\nx,y\n", "past.csv, line 1: there must be columns arm and reward (found ['foo', 'bar'])"),
        ("arm,reward\n", "'--history' must be a file with at least one reward"),
        ("arm,reward\na,1\nz,1\n", "'--history' must be past rewards by the names of arms: a, b"),
        ("arm,reward\na,much\n", "past.csv, line 2: column 'reward' must be a finite number (got 'much')"),
    ):
        file = tmp_path / "past.csv"
        file.write_text(text)
        said = run("create", "w", "--arm", "a", "--arm", "b", "--history", file, "--weight", 0.2, code=2)
        assert said.startswith("error: ")
        assert refused in said


def test_bounds_and_a_winner(run):
    assert "'--bounds' requires 2 arguments" in run("create", "w", "--bounds", 1, code=2)
    reversed_bounds = run("create", "w", "--arm", "a", "--bounds", 1, 0, code=2)
    assert "'--bounds' must be two numbers, the smaller first (got (1.0, 0.0))" in reversed_bounds
    run("create", "w", "--arm", "a", "--arm", "b", "--bounds", 0, 1, "--control", "a", "--seed", 1)
    study = db.load_study("w", "sqlite:///s.db")
    assert run("winner", "w").splitlines()[:2] == ["no winner yet", "no reward yet"]
    study.add_trials({"arm": ["a", "b"] * 200, "reward": [0.0, 1.0, 1.0, 1.0, 0.0, 0.0] * 66 + [0.0, 1.0, 1.0, 1.0]})
    said = json.loads(run("winner", "w", "--json", "--delta", 0.01))
    assert (said["arm"], said["proved"], said["established_at"], said["rivals"][0]["arm"]) == ("b", True, None, "a")
    assert "winner" not in run("show", "w")  # to ask stores nothing
    assert json.loads(run("declare-winner", "w", "--json", "--delta", 0.01))["arm"] == "b"
    assert run("winner", "w").startswith("winner: b\nestablished after 400 trials\n  b over a: 0.")
    shown = run("show", "w")
    assumed = "if each arm's rewards keep one mean"
    assert f"\nwinner: b, established after 400 trials\n{assumed}\n" in shown
    assert run("winner", "w").strip().endswith(f"margin 0 (proved), {assumed}")
    assert said["assumes"] == assumed
    assert max(len(line) for line in shown.splitlines() if not line.startswith("from, to")) <= 80
    assert "P(best)" in shown
    assert "earned 201; with an equal split about 201" in shown
    assert "+100.0%" in shown
    found = json.loads(run("show", "w", "--json"))
    assert [found["earned"], found["equal_split"]] == pytest.approx([201.0, 201.0])
    assert found["drift"] == []
    assert (found["winner"], found["winner_assumes"]) == ("b", assumed)
    assert found["arms"][1]["lift_percent"] == pytest.approx(100.0)
    local_of(study).storage.close()


def test_estimates_and_differences_from_the_log(run):
    run("create", "e", "--arm", "a", "--arm", "b", "--policy", "EqualSplit", "--bounds", 0, 1, "--seed", 1)
    study = db.load_study("e", "sqlite:///s.db")
    trials = study.ask(400)
    study.tell_many(trials[:399], [float(trial.arm == "b") for trial in trials[:399]])
    found = study.estimate_difference("b", "a")
    said = run("estimate-difference", "e", "b", "a").splitlines()
    assert said[0] == f"b - a: {found.value:.4g}, from {found.low:.4g} to {found.high:.4g}"
    assert said[2] == f"  {found.rounds} decisions in which both arms were possible; 1 rewards missing"
    assert json.loads(run("estimate-difference", "e", "b", "a", "--confidence", 0.9, "--json")) == vars(
        study.estimate_difference("b", "a", confidence=0.9)
    )
    assert "no arm 'c'" in run("estimate-difference", "e", "b", "c", code=2)
    half = study.estimate({"a": 0.5, "b": 0.5})
    said = run("estimate", "e", "--arm", "a=0.5", "--arm", "b=0.5").splitlines()
    assert said[0] == f"mean reward: {half.self_normalized:.4g}, from {half.low:.4g} to {half.high:.4g}"
    assert json.loads(run("estimate", "e", "--arm", "b", "--json")) == vars(study.estimate("b"))
    risk = study.estimate("b", objective=db.CVaR(0.1))
    assert run("estimate", "e", "--arm", "b", "--level", 0.1).startswith(f"CVaR: {risk.value:.4g}, from {risk.low:.4g}")
    assert run("estimate", "e", "--policy", "UCB1(sigma=0.5)").startswith("mean reward: ")
    assert "'--arm' must be given, or else policy" in run("estimate", "e", code=2)
    run("create", "free", "--arm", "a", "--arm", "b", "--seed", 1)
    assert "no interval: the study has no bounds of its rewards" in run("estimate", "free", "--arm", "a")
    local_of(study).storage.close()


def test_what_happened_and_what_was_done(run):
    run("create", "page", "--arm", "red", "--arm", "blue", "--seed", 1)
    arms = [run("ask", "page").split("\t")[1] for _ in range(2)]
    run("tell", "page", 0, 1.5)
    run("rename", "page", "home page")
    found = json.loads(run("events", "home page", "--trial", 0, "--json"))
    assert [(row["what"], row["arm"], row["reward"]) for row in found] == [
        ("tell", arms[0], 1.5),
        ("ask", arms[0], None),
    ]
    assert len(json.loads(run("events", "home page", "-n", 3, "--json"))) == 3
    run("create", "other", "--arm", "red", "--arm", "blue", "--seed", 1)
    done = [(row["what"], row["study"], row["note"]) for row in json.loads(run("audit-log", "home page", "--json"))]
    assert done == [("renamed", "page", "home page"), ("created", "page", None)]
    assert run("audit-log", "--csv").splitlines()[1].startswith("created,other,")
    assert "Changes of studies" in run("audit-log")
