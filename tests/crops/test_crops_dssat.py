"""The runner: the real binary, what can go wrong with it, and what is left behind (nothing)."""

import dataclasses
import importlib.util
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from dirichlet_bandits import crops
from dirichlet_bandits.crops import dssat
from dirichlet_bandits.crops.dssat import CropModelError, Model, Workspace
from dirichlet_bandits.errors import ArgumentError, MissingExtraError


def test_the_package_is_not_imported(model: Model) -> None:
    assert model.binary.is_file()
    assert dssat.PACKAGE not in sys.modules


def test_seasons_do_not_depend_on_those_that_follow(model: Model) -> None:
    with Workspace(model) as space:
        long = space.run(crops.PUBLISHED, 57, 1, 6)
        short = space.run(crops.PUBLISHED, 57, 1, 3)
        root = space.root
        assert space.read_version(crops.PUBLISHED, 57).startswith("4.8")
    np.testing.assert_array_equal(long[:3], short)
    np.testing.assert_array_equal(short, [604, 747, 1732])
    assert not root.exists()


def test_inputs_change_the_yields(model: Model) -> None:
    with Workspace(model) as space:
        cases = [
            crops.PUBLISHED,
            crops.Case(fertilizer=()),
            crops.Case(cultivar="PC0001"),
            crops.Case(density=3.0),
            crops.Case(soil=crops.Soil(runoff_curve=90.0)),
            crops.Case(climate=dataclasses.replace(crops.published_climate(), latitude=40.0)),
        ]
        results = [tuple(space.run(case, 87, 3, 4)) for case in cases]
    assert len(set(results)) == len(cases)


@pytest.mark.parametrize("year", [1960, 2000])
def test_first_years(model: Model, year: int) -> None:
    with Workspace(model) as space:
        assert space.run(crops.Case(first_year=year), 57, 1, 2).size == 2


def test_unknown_codes_are_refused_with_the_known(model: Model) -> None:
    with pytest.raises(ArgumentError, match="'cultivar' must be one of 'PC0001', 'PC0002'"):
        model.check(crops.Case(cultivar="XX0000"))
    with pytest.raises(ArgumentError, match=r"'fertilizer.material' must be one of 'FE001'"):
        model.check(crops.Case(fertilizer=(crops.Fertilizer(1, 1.0, material="FE999"),)))


@pytest.mark.parametrize(("rseed", "years"), [(0, 1), (100_000, 1), (1, 0), (1, 91)])
def test_bad_runs(model: Model, rseed: int, years: int) -> None:
    with Workspace(model) as space, pytest.raises(ArgumentError):
        space.run(crops.PUBLISHED, 57, rseed, years)


def test_missing_run_bit(model: Model, tmp_path: Path) -> None:
    copy = tmp_path / "installed"
    shutil.copyfile(model.binary, copy)
    copy.chmod(0o444)
    with Workspace(dataclasses.replace(model, binary=copy)) as space:
        assert space.run(crops.PUBLISHED, 57, 1, 1) == [604]
    assert copy.stat().st_mode & 0o777 == 0o444


def test_the_models_own_complaint_is_told(model: Model) -> None:
    shallow = crops.Soil(layers=(dataclasses.replace(crops.Soil().layers[0], bottom=5),))
    space = Workspace(model)
    with pytest.raises(CropModelError, match=r"exit status 99.*SOILDYN"), space:
        space.run(crops.Case(soil=shallow), 57, 1, 1)
    assert not space.root.exists()


def test_a_hanging_model_is_stopped(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*args: object, **kwargs: object) -> None:
        raise subprocess.TimeoutExpired("dscsm048", 1.0)

    monkeypatch.setattr(subprocess, "run", hang)
    with Workspace(model) as space, pytest.raises(CropModelError, match="did not finish"):
        space.run(crops.PUBLISHED, 57, 1, 1)


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"dirichlet-bandits\[dssat\].*shipped samples"):
        crops.sample(1)


def test_other_systems(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    with pytest.raises(CropModelError, match=r"Linux x86_64.*arm64.*shipped samples"):
        crops.sample(1)


def test_long_temporary_folders_are_avoided(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("x" * 60)))
    with Workspace(model) as space:
        assert len(str(space.root)) <= dssat.LONGEST_FOLDER


SUMMARY = "RUNNO,PDAT,HWAM\n1,1982057,604\n2,1983057,{}\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SUMMARY.format("-99"), "no yield"),
        (SUMMARY.format("40000"), "no yield"),
        (SUMMARY.format("nan"), "no whole number"),
        (SUMMARY.format("").replace("HWAM", "HWAH"), "no whole number"),
        (SUMMARY.format("1").replace("1983057", "1983058"), "planted on 1983058"),
        ("RUNNO,PDAT,HWAM\n1,1982057,604\n", "1 seasons where 2"),
        ("", "0 seasons where 2"),
    ],
)
def test_summaries_are_not_believed(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "summary.csv"
    path.write_text(text)
    with pytest.raises(CropModelError, match=says):
        dssat.read_summary(path, 1982, 57, 2)


def test_folders_of_killed_processes_are_swept(model: Model, tmp_path: Path, child_env: dict[str, str]) -> None:
    code = (
        "import os; from dirichlet_bandits.crops.dssat import Workspace; space = Workspace().__enter__();"
        "print(space.root, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=child_env, check=False)
    left = Path(done.stdout.strip())
    assert left.is_dir()
    with Workspace(model) as space, Workspace(model) as other:
        assert not left.exists()
        assert space.root.exists()
        assert other.root.exists()
