"""Compile ahead of time what the first decisions of a live study would wait for."""

import numpy as np

from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.live.decider import select_study
from dirichlet_bandits.live.opening import create_study
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.seeding import lent_stream, new_stream, root_sequence, study_words


def compile_live(policy: Policy) -> None:
    """Compile everything that ``ask`` and ``tell`` call for a policy of this type, by running a study in memory."""
    low = max(policy.reward_bounds[0], min(policy.reward_bounds[1], 1.0) - 1.0)
    high = min(policy.reward_bounds[1], low + 1.0)
    study = create_study("ahead", arms=["a", "b"], policy=policy, seed=0)
    for trial, share in zip(study.ask(2), (0.25, 0.75), strict=True):
        study.tell(trial.id, low + share * (high - low))
    study.ask()
    params, root, stream = policy.params, study_words(root_sequence(0)), new_stream()
    # It is called only for a random decision, which not every study this short has.
    specialized(select_study, params)(params, policy.init(2), 0, root, lent_stream(stream), np.empty(2, np.int64))
