"""Tables of studies in lines that are long enough, too short, and much too short."""

import pandas as pd
import pytest

from dirichlet_bandits.display.summaries import Summary


@pytest.fixture
def table():
    columns = {"told": [1200], "mean": [0.10583], "std": [0.3], "no_interval": [None], "voided": [0]}
    summary = Summary(columns, index=pd.Index(["green"], name="arm"))
    summary.attrs["drift"] = ["green"]
    return summary


def test_the_most_important_columns_come_first_and_the_others_are_named(table):
    with pd.option_context("display.width", 24):
        first, *_ = lines = repr(table).splitlines()
    assert first.split() == ["told", "mean", "std"]
    assert "not shown: no_interval," in lines
    assert any("careful" in line for line in lines)
    assert max(map(len, lines)) <= 24


def test_without_reasons_no_column_of_reasons(table):
    with pd.option_context("display.width", 80):
        assert repr(table).splitlines()[0].split() == ["told", "mean", "std", "voided"]


def test_a_line_too_short_for_any_column_is_left_to_pandas(table):
    with pd.option_context("display.width", 3):
        assert "green" in repr(table)
