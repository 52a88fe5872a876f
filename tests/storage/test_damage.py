"""A database that a disk has spoilt: our errors, whatever it holds, and never another one."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import dirichlet_bandits as db


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The file of a study with everything in it."""
    path = tmp_path_factory.mktemp("sound") / "studies.db"
    study = db.create_study("s", arms=["a", "b", "c"], storage=f"sqlite:///{path}", seed=1)
    for k in range(20):
        first, second = study.ask(2)
        study.tell(first.id, k / 4)
        if k % 3 == 0:
            study.abandon(second.id)
    study.void(0, "the wrong plot")
    study.correct(0, 2.0)
    study.correct(2, 3.0, "mistyped")
    study.void(4, "told twice")
    study.add_trials({"arm": ["a", "b"], "reward": [1.0, 2.0], "propensity": [0.5, None]})
    study.annotate(0, note="hail", attributes={"plot": 7})
    study.retire_arm("b")
    study.storage.close()
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA journal_mode=DELETE")  # all of it in one file
    return path


@pytest.fixture
def spoilt(sound, tmp_path):
    return shutil.copy(sound, tmp_path / "studies.db")


def use(path, folder):
    """Everything that can be done with a study; what is ours may be raised by each. How many were refused?"""
    url, refused = f"sqlite:///{path}", 0
    try:
        study = db.load_study("s", url)
    except db.DirichletBanditsError:
        return 1
    acts = [
        lambda: db.study_names(url),
        lambda: db.create_study("s", arms=["a", "b", "c"], storage=url, load_if_exists=True),
        study.summary,
        study.trials_dataframe,
        study.propensities,
        study.replay,
        lambda: study.pending,
        lambda: study.estimate("a"),
        lambda: study.estimate("a", objective=db.CVaR(0.5), bounds=(-1e4, 1e4)),
        lambda: study.best_arm,
        study._repr_html_,
        lambda: study.export(folder / "log.csv"),
        lambda: study.ask(3),
        lambda: study.tell(1, 1.0),
        lambda: study.void(2, "late"),
        lambda: study.correct(6, 1.0),
        lambda: study.add_arm("d"),
    ]
    for act in acts:
        try:
            act()
        except db.DirichletBanditsError:
            refused += 1
    study.storage.close()
    return refused


FIRST = "(SELECT min(number) FROM bandit_events WHERE kind = {})"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE bandit_studies SET settings = '{'",
        "UPDATE bandit_studies SET settings = '[]'",
        "UPDATE bandit_studies SET settings = '{}'",
        "UPDATE bandit_studies SET settings = CAST(x'ff7b' AS TEXT)",
        """UPDATE bandit_studies SET settings = replace(settings, '"seed": "1"', '"seed": "x"')""",
        "UPDATE bandit_schema SET version = 0",
        "UPDATE bandit_events SET note = '[[0' WHERE note IS NOT NULL AND kind = 2",
        "UPDATE bandit_events SET note = x'80' WHERE kind = 0",
        "UPDATE bandit_events SET note = CAST(x'80' AS TEXT) WHERE number = 0",
        "UPDATE bandit_events SET arm = 77 WHERE kind = 2",
        "UPDATE bandit_events SET trial = 9 WHERE number = 6",
        "UPDATE bandit_events SET trial = NULL WHERE kind = 3",
        "UPDATE bandit_events SET value = 'x' WHERE kind = 3",
        "UPDATE bandit_events SET value = NULL WHERE kind = 2",
        "UPDATE bandit_events SET at = 'x' WHERE number = 7",
        "UPDATE bandit_events SET at = 1e300 WHERE number = 7",
        "UPDATE bandit_events SET data = x'0000' WHERE data IS NOT NULL",
        "UPDATE bandit_events SET kind = 99 WHERE number = 5",
        "UPDATE bandit_events SET number = 1000 WHERE number = 5",
        "UPDATE bandit_events SET value = 'x' WHERE kind = 6",
        "UPDATE bandit_events SET trial = 1 WHERE kind = 5",
        "UPDATE bandit_events SET trial = 999 WHERE kind = 6",
        "UPDATE bandit_events SET note = '[]' WHERE kind = 7",
        "UPDATE bandit_events SET trial = -5 WHERE kind = 7",
        "UPDATE bandit_events SET note = 'x' WHERE kind = 8",
        "UPDATE bandit_events SET value = NULL WHERE kind = 8",
        "UPDATE bandit_events SET arm = 77 WHERE kind = 8",
        "UPDATE bandit_events SET data = x'0000' WHERE kind = 8",
        *(f"UPDATE bandit_events SET arm = -1 WHERE number = {FIRST.format(kind)}" for kind in (0, 1, 2, 8)),
        *(f"UPDATE bandit_events SET value = 1e999 WHERE number = {FIRST.format(kind)}" for kind in (3, 6, 8)),
        *(f"UPDATE bandit_events SET value = -1e200 WHERE number = {FIRST.format(kind)}" for kind in (3, 6, 8)),
        *(f"UPDATE bandit_events SET note = x'80' WHERE number = {FIRST.format(kind)}" for kind in (5, 6)),
        *(f"UPDATE bandit_events SET number = {value} WHERE number = 5" for value in ("'x'", "x'80'")),
        *(f"UPDATE bandit_events SET note = '{rest}' WHERE number = 3" for rest in ("[[-1, 0.5]]", "[[77, 1]]", "[1]")),
        """UPDATE bandit_studies SET settings = json_set(settings, '$.control', 'zz')""",
        """UPDATE bandit_studies SET settings = json_set(settings, '$.control', 5)""",
        "DELETE FROM bandit_events WHERE kind = 0",
    ],
)
def test_values_that_make_no_sense(spoilt, tmp_path, damage):
    with closing(sqlite3.connect(spoilt)) as file:
        assert file.execute(damage).rowcount > 0
        file.commit()
    assert use(spoilt, tmp_path) > 0
    if "SET data" not in damage:  # a summary does not read propensities
        with pytest.raises(db.DirichletBanditsError):
            db.load_study("s", f"sqlite:///{spoilt}").summary()


@pytest.mark.parametrize("chance", [0.0, -0.5, 1e-300, 7.0, np.nan, np.inf])
@pytest.mark.parametrize("kind", [2, 8])
def test_propensities_that_make_no_sense(spoilt, tmp_path, chance, kind):
    """Estimates divide by them; exports and summaries do not."""
    data = np.full(3, chance).astype("<f8").tobytes()
    with closing(sqlite3.connect(spoilt)) as file:
        file.execute("UPDATE bandit_events SET data = ? WHERE data IS NOT NULL AND kind = ?", (data, kind))
        file.commit()
    study = db.load_study("s", f"sqlite:///{spoilt}")
    for given in ({}, {"objective": db.CVaR(0.5), "bounds": (-1e4, 1e4)}):
        with pytest.raises(
            db.FormatError, match=r"the round of trial \d+ has the propensity .*: the storage is damaged"
        ):
            study.estimate(db.RDS(), **given)
    study.export(tmp_path / "log.csv")
    study.storage.close()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a reward of 1e200 is a number
def test_flipped_bits(sound, spoilt, tmp_path):
    content, rng = sound.read_bytes(), np.random.default_rng(4)
    used = [at for at, byte in enumerate(content) if byte]  # most of a small database is empty
    refused = 0
    for _ in range(60):
        flipped = bytearray(content)
        for at in rng.choice(used, rng.choice([1, 3, 30]), replace=False):
            flipped[at] ^= 1 << int(rng.integers(8))
        spoilt.write_bytes(flipped)
        for ending in ("-wal", "-shm", "-journal"):
            spoilt.with_name(spoilt.name + ending).unlink(missing_ok=True)
        refused += use(spoilt, tmp_path) > 0
    assert refused > 20
