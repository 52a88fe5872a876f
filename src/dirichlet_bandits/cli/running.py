"""Running an experiment from the command line: Ctrl-C leaves what is done."""

import warnings
from typing import Any

from dirichlet_bandits.experiments import Experiment
from dirichlet_bandits.results import Result


def run(experiment: Experiment, *, quiet: bool, **options: Any) -> tuple[Result, int]:
    """The result, and how many replications Ctrl-C left undone in all; the options are those of ``simulate``."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="interrupted")  # the commands say it in their own words
        result = experiment.run(progress=False if quiet else None, **options)
    done = int(result.summary()["replications"].sum())
    return result, experiment.replications * len(experiment.policies) - done
