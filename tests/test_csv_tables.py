"""The one reader of CSV files: what each number means, and what is refused, compared with a naive reading."""

import csv
import io
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dirichlet_bandits.csv_tables import MOST_COLUMNS, CSVTable
from dirichlet_bandits.errors import FormatError


def column(cells, separator=";"):
    """A file with these cells in its second column, after an index."""
    text = io.StringIO()
    lines = [("k", "x"), *((k, cell) for k, cell in enumerate(cells))]
    csv.writer(text, delimiter=separator).writerows(lines)
    return CSVTable(text.getvalue(), "past.csv")


def read(cells, separator=";"):
    table = column(cells, separator)
    values = table.numbers(1)
    table.check()
    return values


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["3", "-4.5", "+.5", "5.", "1e3", "2E-1", "1234.5678"], [3, -4.5, 0.5, 5, 1000, 0.2, 1234.5678]),
        (["3,5", "1,234", "0,125", "12"], [3.5, 1.234, 0.125, 12]),
        (["3,50", "1.250,00", "1.250"], [3.5, 1250, 1250]),
        (["1,234.50", "1,234", "7"], [1234.5, 1234, 7]),
        (["1,234,567", "1,234", "2.5"], [1234567, 1234, 2.5]),
        (["1.234.567", "1.234", "2,5"], [1234567, 1234, 2.5]),
        (["1 234,5", "1\u202f234", "1\u00a0234\u00a0567", "12"], [1234.5, 1234, 1234567, 12]),
        (["1'234.5", "1’234"], [1234.5, 1234]),  # noqa: RUF001
        (["$1,234.50", "-$7", "$ 8", "$-9"], [1234.5, -7, 8, -9]),
        (["1,5 €", "2,5 EUR"[:3] + " €"], [1.5, 2.5]),
        (["\u22123,5", "yes", "No", "TRUE", "n"], [-3.5, 1, 0, 1, 0]),
    ],
)
def test_a_column_decides_what_its_marks_mean(cells, values):
    assert read(cells) == values
    assert read(cells[::-1]) == values[::-1]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            ["3,5", "1.250"],
            "line 3: column 'x' must be 1250 or 1.2500: the point may mean either (got '1.250')",
        ),
        (["1,234"], "line 2: column 'x' must be 1234 or 1.2340: the comma may mean either (got '1,234')"),
        (["-1.234"], "line 2: column 'x' must be -1234 or -1.2340: the point may mean either (got '-1.234')"),
        (["7.5", "1,234"], "line 3: column 'x' must be 1234 or 1.2340: the comma may mean either"),
        (["1,5", "1,234.5"], "line 2: column 'x' must be written with the same decimal mark as '1,234.5' in line 3"),
        (["1,234.5", "1,5"], "line 3: column 'x' must be written with the same decimal mark as '1,234.5' in line 2"),
        (["1,5", "2,5", "2.5"], "line 4: column 'x' must be written with the same decimal mark as '1,5' in line 2"),
        (["1,234,567", "1.234.567"], "must be written with the same decimal mark"),
        (["$5", "5 €"], "line 3: column 'x' must be in $, like the cells before it (got '5 €')"),
    ],
)
def test_contradictions_and_doubts_are_refused_by_line_and_column(cells, words):
    with pytest.raises(FormatError, match=re.escape(words)):
        read(cells)


@pytest.mark.parametrize(
    "cell",
    [
        *("", "much", "nan", "inf", "1_000", "12%", "1,2,3", "1.2.3", "12,34,567", "1,2345,678", "0,123,456", "1 23"),
        *("--1", "-$-5", "$5 €", "(5)", "5-", "1e999", "e5", ".", ",", "1,2e3.5", "0x10", "٣", "1'23", "1 234'567"),
    ],
)
def test_what_is_no_number_is_refused_as_it_is_in_the_file(cell):
    with pytest.raises(FormatError) as refusal:
        read([cell])
    assert str(refusal.value) == f"past.csv, line 2: column 'x' must be a finite number (got {cell!r})"


def test_a_point_is_the_decimal_mark_between_commas():
    assert read(["1.234", "5.678"], ",") == [1.234, 5.678]
    assert read(["3,5", "1.250,0"], ",") == [3.5, 1250]
    with pytest.raises(FormatError, match=r"the comma may mean either \(got '1,234'\)"):
        read(["1,234", "5.678"], ",")
    with pytest.raises(FormatError, match=r"the point may mean either \(got '1.250'\)"):
        read(["3,5", "1.250"], ",")


def naive_value(decimal, cell):
    """What a cell means if this is the decimal mark; None if it makes no sense then."""
    whole, _, part = cell.partition(decimal)
    first, *groups = whole.split("," if decimal == "." else ".")
    thousands = 0 < len(first) <= 3 and first[0] != "0" and all(len(x) == 3 and x.isdecimal() for x in groups)
    if not (first + part).isdecimal() or (groups and not thousands):
        return None
    return float(f"{first}{''.join(groups)}.{part or 0}")


@settings(max_examples=500, derandomize=True, deadline=None)
@given(st.lists(st.text("0123.,", min_size=1, max_size=9), min_size=1, max_size=4))
def test_a_column_is_read_as_the_only_decimal_mark_that_explains_it(cells):
    """A column is never read where both marks explain it differently, and read if one does and no cell is in doubt."""
    readings = [[naive_value(decimal, cell) for cell in cells] for decimal in ".,"]
    possible = [values for values in readings if None not in values]
    try:
        values = read(cells)
    except FormatError:
        in_doubt = any(re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", cell) for cell in cells)
        assert in_doubt or not possible
    else:
        assert values in possible
        assert all(other == values for other in possible)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5), st.booleans())
def test_numbers_as_python_writes_them_survive(numbers, comma):
    cells = [repr(number) for number in numbers]
    if comma:
        assert read([cell.replace(".", ",") for cell in [*cells, "0.5"]])[:-1] == numbers
    assert read(cells, ",") == numbers
    assert all(math.copysign(1, a) == math.copysign(1, b) for a, b in zip(read(cells, ","), numbers, strict=True))


def test_at_most_20_problems_are_listed_at_once():
    table = CSVTable("k;x\n" + "1;much\n" * 24 + "1;2;3\n", "past.csv")
    table.numbers(1)
    with pytest.raises(FormatError) as refusal:
        table.check()
    first, *listed = str(refusal.value).splitlines()
    assert first == "past.csv: 25 problems, of which the first 20 are:"
    assert listed == [f"- line {k}: column 'x' must be a finite number (got 'much')" for k in range(2, 22)]
    few = CSVTable("k;x\n1;a\n1;2;3\n\n1;b\n", "past.csv")
    few.numbers(1)
    with pytest.raises(FormatError) as refusal:
        few.check()
    assert [line.partition(":")[0] for line in str(refusal.value).splitlines()[1:]] == [
        "- line 2",
        "- line 3",
        "- line 5",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('k,x\n1,2\n3,"4\n5,6\n', "past.csv, line 3: a quote is never closed"),
        ('"k,x\n', "past.csv, line 1: a quote is never closed"),
        ("k,x\n1,2\n1," + "7" * 131_073, "past.csv, line 3: a cell has more than 131,072 characters; is a quote never"),
        ('k,x\n1,"' + "7\n" * 70_000, "past.csv, line 2: a cell has more than 131,072 characters; is a quote never"),
        (",".join(["x"] * 250_000), f"past.csv, line 1: at most {MOST_COLUMNS:,} columns can be read (found 250,000)"),
        ("", "past.csv: the file is empty"),
        ("\n ; \n", "past.csv: the file is empty"),
    ],
    ids=["quote", "quote in header", "long cell", "long quote", "columns", "empty", "blank"],
)
def test_files_that_cannot_be_tables(text, words):
    with pytest.raises(FormatError) as refusal:
        CSVTable(text, "past.csv")
    assert str(refusal.value).startswith(words)


def test_long_texts_are_cut_in_messages():
    with pytest.raises(FormatError) as refusal:
        read(["x" * 100_000])
    assert len(str(refusal.value)) < 200


def test_the_header_finds_the_separator_and_names_match_in_any_case():
    table = CSVTable('\n"Arm, or option";REWARD;reward 2\na;1;2\n', "past.csv")
    assert table.header == ["Arm, or option", "REWARD", "reward 2"]
    assert (table.column("Reward"), table.column(None, ("cost", "reward"))) == (1, 1)
    with pytest.raises(FormatError, match="there must be one column 'reward'"):
        CSVTable("arm,reward,Reward,reward\n", "past.csv").column(None, ("reward",))
    assert CSVTable("Reward,reward\n", "past.csv").column("reward") == 1
    assert CSVTable("arm\treward\r1\t2\r", "past.csv").header == ["arm", "reward"]


def test_a_line_is_where_it_begins():
    table = CSVTable('k,x\n1,2\n"a\nb",much\n', "past.csv")
    table.numbers(1)
    with pytest.raises(FormatError, match=r"past.csv, line 3: column 'x'"):
        table.check()


def test_spellings_of_a_study_with_both_are_not_merged():
    table = CSVTable("arm,reward\nRed,1\nred,2\nRED,3\nBlue-green,4\n", "past.csv", forgiving=True)
    assert table.names(0, ["Red", "red", "blue green"]) == ["Red", "red", "blue green"]
    assert [line.cells[1] for line in table.lines] == ["1", "2", "4"]
    assert table.report == ["1 of 4 rows: this study has no arm 'RED'", "'Blue-green' is read as 'blue green'"]
