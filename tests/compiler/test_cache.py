"""What is kept on disk is found again, never stale, and compiled again if it is damaged."""

import os

from dirichlet_bandits.sources import source_stamp
from tests.compiler.processes import PARAMETERLESS, cached, printed, run, write

HELPER = "from dirichlet_bandits.compiler import jit\n\n@jit\ndef value(x):\n    return x + {extra}\n"
MIDDLE = "from helper import value\n"
ENTRY = """
from dirichlet_bandits.compiler import entry_point
{line}

@entry_point
def answer(x):
    return 2.0 * {name}(x)
"""
LOG = "import logging; logging.basicConfig()\n"
ASK = "from entry import answer; print(answer(1.0), answer.stats.cache_hits.total())"
IMPORTS = [
    ("from helper import value", "value"),
    ("import helper", "helper.value"),
    ("from middle import value", "value"),
    ("from middle import (  # several lines\n    value,\n)", "value"),
    ("import middle as m", "m.value"),
]


def ask_each(modules):
    """A program that asks the entry point of each module."""
    return "\n".join(ASK.replace("from entry", f"from {module}") for module in modules)


def test_a_change_in_another_file_of_the_users_is_noticed(tmp_path):
    """However it is imported: one module for each way, all in one process."""
    ways = {f"entry{k}": ENTRY.format(line=line, name=name) for k, (line, name) in enumerate(IMPORTS)}
    write(tmp_path, helper=HELPER.format(extra=1.0), middle=MIDDLE, **ways)
    assert [printed(tmp_path, ask_each(ways)) for _ in range(2)] == ["4.0 0\n" * len(ways), "4.0 1\n" * len(ways)]
    write(tmp_path, helper=HELPER.format(extra=3.0))
    assert [printed(tmp_path, ask_each(ways)) for _ in range(2)] == ["8.0 0\n" * len(ways), "8.0 1\n" * len(ways)]
    assert len(cached(tmp_path, "entry*")) == len(ways), "the old code is still there"


def test_relative_imports_are_followed(tmp_path):
    entry = ENTRY.format(line="from .helper import value\nfrom . import constants", name="value")
    write(tmp_path, **{"own/__init__": "", "own/helper": HELPER.format(extra=1.0), "own/entry": entry})
    write(tmp_path, **{"own/constants": "scale = 2\n"})
    ask = ASK.replace("from entry", "from own.entry")
    assert printed(tmp_path, ask) == "4.0 0\n"
    write(tmp_path, **{"own/helper": HELPER.format(extra=3.0)})
    assert printed(tmp_path, ask) == "8.0 0\n"
    write(tmp_path, **{"own/constants": "scale = 3\n"})
    assert printed(tmp_path, ask) == "8.0 0\n"


def test_a_store_of_a_users_policy_is_refused_after_a_change_in_the_users_other_file(tmp_path):
    write(tmp_path, helper=HELPER.format(extra=1.0), policy=POLICY)
    assert printed(tmp_path, SIMULATE) == "done\n"
    write(tmp_path, helper=HELPER.format(extra=2.0))
    assert "ArgumentError: 'store' must be a free place" in run(tmp_path, SIMULATE, check=False).stderr


POLICY = f"""{PARAMETERLESS}
from dirichlet_bandits.engine.verbs import implements, index
from helper import value

@implements(index, MineParams)
def mine(policy, state, arm, total, best_mean, rng):
    return value(state.means[arm])
"""
SIMULATE = """
import dirichlet_bandits as db
from policy import Mine
bandit = db.Bandit([db.Bernoulli(0.5)] * 2)
db.simulate(bandit, Mine(), horizon=9, replications=2, seed=0, store="runs.zarr", fast=False)
print("done")
"""


def truncated(content):
    return content[: len(content) // 2]


def garbled(content):
    return bytes(255 - byte for byte in content)


def one_bit(content):
    return content[:-1000] + bytes([content[-1000] ^ 1]) + content[-999:]


DAMAGE = [
    truncated,
    garbled,
    one_bit,
    lambda content: b"",
    lambda content: content + b"x",
    lambda content: content[16:],
]


def test_damaged_files_are_compiled_again(tmp_path):
    """Each module's file is damaged in its own way, and one process finds all of them."""
    modules = [f"entry{k}" for k in range(len(DAMAGE))]
    entry = ENTRY.format(line=IMPORTS[0][0], name="value")
    write(tmp_path, helper=HELPER.format(extra=1.0), **dict.fromkeys(modules, entry))
    printed(tmp_path, ask_each(modules))
    for module, damage in zip(modules, DAMAGE, strict=True):
        (file,) = (tmp_path / "cache").rglob(f"{module}.*.nbc")
        file.write_bytes(damage(file.read_bytes()))
    done = run(tmp_path, LOG + ask_each(modules))
    assert done.stdout == "4.0 0\n" * len(modules)
    assert done.stderr.count("a damaged file is compiled again") == len(modules)
    assert printed(tmp_path, ask_each(modules)) == "4.0 1\n" * len(modules)


def test_a_folder_that_cannot_be_written_costs_a_log_record_only(tmp_path):
    write(tmp_path, helper=HELPER.format(extra=1.0), entry=ENTRY.format(line=IMPORTS[0][0], name="value"))
    full = (
        "def fail(path): raise OSError('disk full')\nimport dirichlet_bandits.compiler.cache as c; c.whole_file = fail"
    )
    done = run(tmp_path, f"{LOG}{full}\n{ASK}")
    assert done.stdout == "4.0 0\n"
    assert "could not be kept: disk full" in done.stderr


def test_two_processes_that_take_turns_do_not_spoil_each_others_code(tmp_path):
    """Two options of Numba, two files: neither process compiles again."""
    write(tmp_path, helper=HELPER.format(extra=1.0), entry=ENTRY.format(line=IMPORTS[0][0], name="value"))
    for expected in ("4.0 0\n", "4.0 1\n"):
        assert printed(tmp_path, ASK) == expected
        assert printed(tmp_path, ASK, NUMBA_CPU_NAME="generic") == expected


def test_nothing_is_kept_while_a_source_is_newer_than_the_process(tmp_path):
    write(tmp_path, helper=HELPER.format(extra=1.0), entry=ENTRY.format(line=IMPORTS[0][0], name="value"))
    future = 4e9
    os.utime(tmp_path / "helper.py", (future, future))
    assert [printed(tmp_path, ASK) for _ in range(2)] == ["4.0 0\n", "4.0 0\n"]
    assert not cached(tmp_path, "entry*")


def test_installed_packages_count_by_their_version(tmp_path):
    (tmp_path / "uses.py").write_text("import pytest, numpy\n")
    (tmp_path / "alone.py").write_text("import numpy\n")
    stamps = {name: source_stamp(str(tmp_path / name)) for name in ("uses.py", "alone.py")}
    assert stamps["uses.py"] != stamps["alone.py"]
