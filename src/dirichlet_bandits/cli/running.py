"""Running an experiment from the command line: Ctrl-C leaves what is done."""

import warnings

from dirichlet_bandits.experiments import Experiment
from dirichlet_bandits.results import Result


def run(experiment: Experiment, *, workers: int | None, quiet: bool) -> tuple[Result, int]:
    """The result, and how many replications Ctrl-C left undone in all."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="interrupted")  # the commands say it in their own words
        result = experiment.run(workers=workers, progress=False if quiet else None)
    done = int(result.summary()["replications"].sum())
    return result, experiment.replications * len(experiment.policies) - done
