"""Running an experiment from the command line: Ctrl-C leaves what is done."""

import warnings
from contextlib import nullcontext

from dirichlet_bandits.experiments import Experiment
from dirichlet_bandits.results import Result
from dirichlet_bandits.simulation import dask_executor


def run(
    experiment: Experiment, *, workers: int | None, quiet: bool, store: str | None = None, dask: str | None = None
) -> tuple[Result, int]:
    """The result, and how many replications Ctrl-C left undone in all; ``dask`` is the address of a scheduler."""
    with warnings.catch_warnings(), nullcontext() if dask is None else dask_executor(dask) as executor:
        warnings.filterwarnings("ignore", message="interrupted")  # the commands say it in their own words
        result = experiment.run(workers=workers, progress=False if quiet else None, store=store, executor=executor)
    done = int(result.summary()["replications"].sum())
    return result, experiment.replications * len(experiment.policies) - done
