"""A case is refused where the model would misread it, and the message names field, range and value."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from dirichlet_bandits import crops
from dirichlet_bandits.crops import render
from dirichlet_bandits.errors import ArgumentError


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"cultivar": "maize"}, "cultivar"),
        ({"cultivar": 5}, "cultivar"),
        ({"density": 0}, "density"),
        ({"density": float("nan")}, "density"),
        ({"density": "7"}, "density"),
        ({"depth": -1.0}, "depth"),
        ({"row_spacing": True}, "row_spacing"),
        ({"first_day": 366}, "first_day"),
        ({"first_day": 56.0}, "first_day"),
        ({"first_year": 1900}, "first_year"),
        ({"soil": None}, "soil"),
        ({"soil": {"albedo": 2.0}}, "soil.albedo"),
        ({"soil": {"name": "sand"}}, "soil.name"),
        ({"soil": {"layers": []}}, "soil.layers"),
        ({"soil": {"layers": [{"bottom": 10}]}}, "soil.layers.lower_limit"),
        ({"soil": {"depth": 10}}, "soil.depth"),
        ({"climate": {"latitude": 91.0}}, "climate.latitude"),
        ({"climate": {"station": "UF/A"}}, "climate.station"),
        ({"climate": {"months": []}}, "climate.months"),
        ({"fertilizer": [{"day": -1, "nitrogen": 10.0}]}, "fertilizer.day"),
        ({"fertilizer": [{"day": 1, "nitrogen": -10.0}]}, "fertilizer.nitrogen"),
        ({"fertilizer": [{"day": 1, "nitrogen": 1.0, "material": "urea"}]}, "fertilizer.material"),
        ({"fertilizer": [{"day": 1}]}, "fertilizer.nitrogen"),
        ({"fertilizer": 3}, "fertilizer"),
        ({"irrigation": 3}, "irrigation"),
        ({"start": {"nitrate": 101.0}}, "start.nitrate"),
    ],
)
def test_bad_fields_are_named(change: dict[str, object], field: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        crops.case_from_mapping(change)
    assert caught.value.name == field
    assert "must be" in str(caught.value)


def test_soil_layers_must_make_sense() -> None:
    good = crops.Soil().layers
    with pytest.raises(ArgumentError, match="increasing"):
        crops.Soil(layers=good[::-1])
    with pytest.raises(ArgumentError, match="wetter"):
        replace(good[0], lower_limit=0.2)
    with pytest.raises(ArgumentError, match="clay and silt"):
        replace(good[0], clay=60, silt=60)


@pytest.mark.parametrize("day", [55, 301, 57.0, "57", None, True])
def test_bad_days(day: object) -> None:
    with pytest.raises(ArgumentError, match="from 56 to 300"):
        crops.PUBLISHED.check_day(day)


def test_labels() -> None:
    labels = [crops.date_label(day) for day in crops.DATES]
    assert labels == ["26 Feb", "13 Mar", "28 Mar", "12 Apr", "27 Apr", "12 May", "27 May"]
    assert [crops.date_label(day) for day in (1, 31, 32, 59, 60, 365)] == [
        "1 Jan", "31 Jan", "1 Feb", "28 Feb", "1 Mar", "31 Dec",
    ]  # fmt: skip


def test_case_survives_json() -> None:
    case = crops.case_from_mapping({"cultivar": "PC0001", "fertilizer": []})
    assert crops.case_from_mapping(json.loads(json.dumps(asdict(case)))) == case
    assert crops.case_from_mapping(json.loads(json.dumps(asdict(crops.PUBLISHED)))) == crops.PUBLISHED


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text('cultivar = "PC0003"\n[soil]\nalbedo = 0.2\n[[fertilizer]]\nday = 30\nnitrogen = 60\n')
    case = crops.case_from_toml(path)
    assert (case.cultivar, case.soil.albedo, case.density) == ("PC0003", 0.2, 7.2)
    assert case.fertilizer == (crops.Fertilizer(30, 60),)
    path.write_text("cultivar = ")
    with pytest.raises(ArgumentError, match="TOML"):
        crops.case_from_toml(path)
    with pytest.raises(ArgumentError, match="path"):
        crops.case_from_toml(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0.0, 5, "    0"),
        (0.5, 5, "   .5"),
        (-0.5, 5, "  -.5"),
        (10.0, 5, "   10"),
        (0.123456, 5, ".1235"),
        (12345.6, 5, "12346"),
        (-82.37, 8, "  -82.37"),
        (1 / 3, 5, ".3333"),
        (0.9999999, 5, "1.000"),
    ],
)
def test_columns(value: float, width: int, text: str) -> None:
    assert render.column(value, width) == text


def test_column_overflow() -> None:
    with pytest.raises(ArgumentError):
        render.column(123456.0)


def test_rendered_seed_stands_in_its_columns() -> None:
    text = render.experiment(crops.PUBLISHED, 57, 99999, 20)
    line = next(line for line in text.splitlines() if line.startswith(" 1 GE"))
    # The model reads the seasons from columns 16-20 and the seed from columns 40-44.
    assert (line[15:20], line[39:44]) == ("   20", "99999")
