"""Rewards that come in any order, and some that never come."""


def report_some(study, waiting, rng, most, lost, reward):
    """Report trials chosen at random until at most ``most`` wait; each is abandoned with probability ``lost``."""
    while len(waiting) > most:
        trial = waiting.pop(int(rng.integers(len(waiting))))
        if rng.random() < lost:
            study.abandon(trial.id)
        else:
            study.tell(trial.id, reward())
