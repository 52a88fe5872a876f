"""One file means the same in Python, on the command line and on the dashboard."""

import warnings

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.cli.study_options import read_history, read_table
from dirichlet_bandits.service.dashboard import creating
from dirichlet_bandits.service.dashboard.creating import Sent


def by_python(path, forgiving):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reports of what was changed
        bandit = db.read_rewards(path, forgiving=forgiving)
    return {name: law.data.tolist() for name, law in zip(bandit.names, bandit.arms, strict=True)}


def by_add_trials(path):
    study = db.create_study("s", arms=["Red", "blue"], seed=0)
    study.add_trials(read_table(path, study))
    return told(study)


def by_import(path):
    study = db.create_study("s", arms=["Red", "blue"], seed=0)
    table = Sent(name="s", token="t", text=path.read_bytes().decode("utf-8-sig"), source=str(path)).table()
    study.add_trials(creating.read_file(table, {"arm": 0, "reward": 1}, study))
    return told(study)


def told(study):
    rows = study.trials_dataframe()
    return {arm: rows["reward"][rows["arm"] == arm].tolist() for arm in ("Red", "blue")}


DOORS = {
    "read_rewards": lambda path: by_python(path, False),
    "read_rewards(forgiving)": lambda path: by_python(path, True),
    "--history": read_history,
    "add-trials": by_add_trials,
    "/new/file": lambda path: creating.read_history(path.read_bytes(), str(path))[0],
    "/import": by_import,
}


@pytest.mark.parametrize(
    "text",
    [
        "arm,reward\nRed,1.5\nRed,2\nblue,3\nblue,1234\n",
        "\ufeffArm;Reward\nRed;1,5\nRed;2\nblue;3\nblue;1.234,0\n",
        'ARM\tCost\nRed\t1.5\n"Red"\t2\n\nblue\t"3"\nblue\t$1,234.0\n',
        "option;value\nRed;1,5\nRed;+2,0\nblue;3,\nblue;1 234,00\n",
    ],
)
def test_all_doors_read_the_same(tmp_path, text):
    path = tmp_path / "past.csv"
    path.write_text(text, encoding="utf-8")
    for door, read in DOORS.items():
        assert read(path) == {"Red": [1.5, 2.0], "blue": [3.0, 1234.0]}, door


def test_all_doors_read_yes_and_no(tmp_path):
    path = tmp_path / "past.csv"
    path.write_text("arm,reward\nRed,yes\nRed,N\nblue,True\nblue,0\n", encoding="utf-8")
    for door, read in DOORS.items():
        assert read(path) == {"Red": [1.0, 0.0], "blue": [1.0, 0.0]}, door


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("arm;reward\nRed;3,5\nRed;2\nblue;1.250\nblue;1\n", ", line 4: column 'reward' must be 1250 or 1.2500:"),
        ("arm;reward\nRed;1,5\nRed;1,234.5\nblue;1\nblue;1\n", "as '1,234.5' in line 3 (got '1,5')"),
        ("arm,reward\nRed,1\nRed,much\nblue,x\nblue,1\n", ": 2 problems:\n- line 3: column 'reward' must be a finite"),
        ('arm,reward\nRed,1\nRed,2\nblue,3\nblue,"4\n', ", line 5: a quote is never closed"),
        ("arm,reward\nRed,1\nRed,2\nblue,3\nblue," + "4" * 131_073, ", line 5: a cell has more than 131,072"),
        (",".join(["arm", "reward"] * 5001), ", line 1: at most 10,000 columns can be read (found 10,002)"),
        ("arm,reward\nRed,1\nRed,2,3\nblue,3\nblue,4\n", ", line 3: 2 cells are needed, as in the first line (got 3)"),
    ],
    ids=["1.250", "two marks", "two problems", "quote", "long", "columns", "length"],
)
def test_all_doors_refuse_in_the_same_words(tmp_path, text, words):
    path = tmp_path / "past.csv"
    path.write_text(text, encoding="utf-8")
    for read in DOORS.values():
        with pytest.raises(db.FormatError) as refusal:
            read(path)
        assert str(refusal.value).startswith(str(path))
        assert words in str(refusal.value)


def test_trials_of_a_study_are_refused_by_line_and_column(tmp_path):
    path = tmp_path / "past.csv"
    path.write_text("Arm;Reward;Date;Probability\nred;1,5;2026-03-13;0,5\nRed;7;now;50%\nRed;;today;1,5\nRed;1;;\n")
    study = db.create_study("s", arms=["Red"], bounds=(0, 2), seed=0)
    with pytest.raises(db.FormatError) as refusal:
        read_table(path, study)
    assert [line.partition(" (got")[0] for line in str(refusal.value).splitlines()[1:]] == [
        "- line 2: column 'Arm' must be an arm of the study",
        "- line 3: column 'Date' must be dates and times after 1684 and before 2256, such as '2026-03-13' or "
        "'2026-03-13T08:30+01:00'",
        "- line 3: column 'Probability' must be a finite number",
        "- line 3: column 'Reward' must be between 0 and 2, the bounds of the study",
        "- line 4: column 'Date' must be dates and times after 1684 and before 2256, such as '2026-03-13' or "
        "'2026-03-13T08:30+01:00'",
        "- line 4: column 'Probability' must be a probability of at least 1e-50, or nothing",
        "- line 4: column 'Reward' must be a finite number",
    ]
    path.write_text("Arm;Reward;Date;Probability\nRed;1,5;2026-03-13;0,5\nRed;1;;\n")
    study.add_trials(read_table(path, study))
    assert study.trials_dataframe()["propensity"].tolist()[0] == 0.5
