"""Rewards as people type them: understood on request, with a report; what can be read in two ways is refused."""

import numpy as np
import pytest

import dirichlet_bandits as db


def past(tmp_path, text):
    file = tmp_path / "past.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_blanks_names_currency_and_words_are_read_and_reported(tmp_path):
    file = past(tmp_path, 'arm,reward\nGreen,$1\ngreen,yes\ngreen,\nblue,"1,234.50"\nblue,no\nblue,n/a\ngreen ,3\n')
    with pytest.warns(UserWarning, match="past.csv: 2 of 7 rows: blank") as caught:
        bandit = db.read_rewards(file, forgiving=True)
    report = str(caught[0].message)
    assert "2 of 5 values: yes or no read as 1 or 0" in report
    assert "'Green' is read as 'green'" in report
    assert bandit.names == ("green", "blue")
    np.testing.assert_allclose(bandit.means, [5 / 3, 617.25])
    with pytest.raises(db.FormatError) as refusal:  # blanks are left out on request only
        db.read_rewards(file)
    assert str(refusal.value).splitlines()[1:] == [
        "- line 4: column 'reward' must be a finite number (got '')",
        "- line 7: column 'reward' must be a finite number (got 'n/a')",
    ]


def test_decimal_commas_are_told_from_thousands(tmp_path):
    with pytest.warns(UserWarning, match="2 of 4 values: decimal commas"):
        bandit = db.read_rewards(past(tmp_path, "arm;reward\na;3,5\na;1\nb;1,250\nb;2\n"), forgiving=True)
    np.testing.assert_allclose(bandit.means, [2.25, 1.625])
    with pytest.raises(db.FormatError, match=r"line 4: column 'reward' must be 1250 or 1.2500: the comma"):
        db.read_rewards(past(tmp_path, "arm;reward\na;3\na;1\nb;1,250\nb;2\n"), forgiving=True)


def test_wide_files(tmp_path):
    with pytest.warns(UserWarning, match="currency signs"):
        bandit = db.read_rewards(past(tmp_path, "a,b\n$1,2\n3,\n5,6\n"), wide=True, forgiving=True)
    np.testing.assert_allclose(bandit.means, [3.0, 4.0])


def test_a_clean_file_gives_no_report(tmp_path, recwarn):
    assert db.read_rewards(past(tmp_path, "arm,reward\na,1\na,2\nb,3\nb,4\n"), forgiving=True).names == ("a", "b")
    assert not recwarn.list
