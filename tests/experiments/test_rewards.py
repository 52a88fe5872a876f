"""Past rewards from CSV files: what is read, and what is refused with file, line and column."""

import numpy as np
import pytest

import dirichlet_bandits as db


@pytest.fixture
def past(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(text, **options):
        (tmp_path / "past.csv").write_text(text, encoding="utf-8")
        return db.read_rewards("past.csv", **options)

    return read


LONG = "day,reward,option\n1,4,May\n2,5,June\n\n3,6,May\n4,7,June\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (LONG, {}),
        ("\ufeff" + LONG, {}),
        (LONG.replace(",", ";"), {}),
        (LONG.replace(",", "\t"), {}),
        (LONG.replace("reward", "yield").replace("option", "date"), {"arm": "date", "reward": "yield"}),
        ("date,yield,note\nMay,4,a\nJune, 5 ,b\nMay,6,c\nJune,7e0,\n", {}),
        ('"date","yield"\n"May",4\n"June",5\n"May",6\n"June",7\n', {}),
        ("May,June\n4,5\n6,\n,7\n", {"wide": True}),
    ],
    ids=["names", "byte order mark", "semicolons", "tabs", "named columns", "first two", "quotes", "wide"],
)
def test_what_is_read(past, text, options):
    bandit = past(text, **options)
    assert bandit.names == ("May", "June")
    assert [arm.data.tolist() for arm in bandit.arms] == [[4.0, 6.0], [5.0, 7.0]]


def test_the_objective_is_that_of_the_bandit(past):
    bandit = past("a,r\nx,1\nx,9\ny,4\ny,5\n", objective=db.CVaR(0.5))
    assert bandit.best == "y"
    np.testing.assert_array_equal(bandit.values, [1.0, 4.0])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "past.csv: the file is empty"),
        ("a\n1\n", {}, "past.csv, line 1: two columns are needed, an arm and a reward (found ['a'])"),
        ("x,1\nx,2\ny,1\ny,2\n", {}, "past.csv, line 1: the first line must name the columns (found ['x', '1'])"),
        ("a,r\nx,1\nx,2\n", {}, "past.csv: at least two arms are needed (found one of 'x')"),
        ("a,r\n", {}, "past.csv: at least two arms are needed (found none)"),
        ("a,r\nx,1\nx,2\ny,3\n", {}, "past.csv, line 4: arm 'y' has only one reward, but at least two are needed"),
        ("a,r\nx,1\n\nx,many\n", {}, "past.csv, line 4: column 'r' must be a finite number (got 'many')"),
        ("a,r\nx,1\nx,nan\n", {}, "past.csv, line 3: column 'r' must be a finite number (got 'nan')"),
        ("a,r\nx,1\nx,inf\n", {}, "past.csv, line 3: column 'r' must be a finite number (got 'inf')"),
        ("a,r\nx,1_000\n", {}, "past.csv, line 2: column 'r' must be a finite number (got '1_000')"),
        ("a,r\nx,\n", {}, "past.csv, line 2: column 'r' must be a finite number (got '')"),
        ("a,r\n,1\n", {}, "past.csv, line 2: column 'a' must name an arm (it is empty)"),
        ("a,r\nx,1,2\n", {}, "past.csv, line 2: 2 cells are needed, as in the first line (got 3)"),
        ("a,r\nx,1\n", {"arm": "b"}, "past.csv, line 1: there must be one column 'b' (found ['a', 'r'])"),
        ("a,r,r\nx,1,2\n", {"reward": "r"}, "past.csv, line 1: there must be one column 'r' (found ['a', 'r', 'r'])"),
        ("a,r\nx,1\n", {"arm": "r"}, "past.csv, line 1: arm and reward must be two columns (both 'r')"),
        ("x,y\n1,2\n3,b\n", {"wide": True}, "past.csv, line 3: column 'y' must be a finite number (got 'b')"),
        ("x,y\n1,\n3,\n", {"wide": True}, "past.csv, line 1: column 'y' has no reward"),
        ("x,y\n1,2\n3,\n", {"wide": True}, "past.csv, line 2: arm 'y' has only one reward, but at least two are"),
        ("x,x\n1,2\n", {"wide": True}, "past.csv, line 1: column 2 must have its own name of an arm (got 'x')"),
        ("1,2\n1,2\n", {"wide": True}, "past.csv, line 1: column 1 must have its own name of an arm (got '1')"),
    ],
)
def test_what_is_refused(past, text, options, message):
    with pytest.raises(db.FormatError) as refusal:
        past(text, **options)
    assert str(refusal.value).startswith(message)


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file of rewards at 'none"):
        db.read_rewards("none.csv")
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\xff")
    with pytest.raises(db.FormatError, match="not a CSV file"):
        db.read_rewards(tmp_path / "picture.csv")


def test_columns_are_not_named_in_a_wide_file(past):
    with pytest.raises(db.ArgumentError, match="'wide' must be omitted if columns are named"):
        past("x,y\n1,2\n", wide=True, arm="x")
