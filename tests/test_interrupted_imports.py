"""Ctrl-C while a package is imported for the first time leaves a process in which it can be used."""

import subprocess
import sys

import pytest

from tests.bounds import SECONDS

PROGRAM = """
import signal, sys
import dirichlet_bandits as db

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "pyarrow.types":  # in the middle of the import of pyarrow
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

{before}
assert "pyarrow" not in sys.modules
sys.meta_path.insert(0, Interrupt())
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
{call}
import pandas as pd
pd.DataFrame({{"text": pd.Series(["x", None], dtype="str")}}).to_parquet("x.parquet")
print(len(pd.read_parquet("x.parquet")))
"""
STUDY = """
study = db.create_study("s", arms=["a", "b"], policy=db.EqualSplit(), seed=0)
study.tell(study.ask(), 1.0)
"""
RESULT = """
import numpy as np
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.layout import labels
sizes = {"means": np.zeros(1), "times": np.ones(1, int), "replications": 2}
described = labels(policies={"p": "p"}, arms={"a": "a"}, seed=np.random.SeedSequence(0), **sizes)
arrays = {"regret": np.ones((1, 2, 1)), "pulls": np.ones((1, 2, 1), int), "reward": np.ones((1, 2))}
result = Result.from_arrays(described, **arrays)
"""
CALLS = {
    "study.summary()": STUDY,
    "study.trials_dataframe()": STUDY,
    "study.export('trials.parquet')": STUDY,
    "study.add_trials({'arm': ['a'], 'reward': [1.0]})": STUDY,
    "result.data": RESULT,
    "result.summary()": RESULT,
    "from dirichlet_bandits.experiments import planning; planning.StudyPlan([], 1, 0.1, 0.0, 1).summary()": "",
    "db.compare_policies": "",
}


AS_ABOVE = ("study.trials_dataframe()", "study.add_trials({'arm': ['a'], 'reward': [1.0]})", "result.summary()")
OFTEN = [pytest.param(call, marks=pytest.mark.slow if call in AS_ABOVE else ()) for call in CALLS]


@pytest.mark.parametrize("call", OFTEN)
def test_a_package_is_imported_whole(tmp_path, call):
    program = PROGRAM.format(before=CALLS[call], call=call)
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\n2\n", "", 0)
