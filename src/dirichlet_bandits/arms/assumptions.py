"""What a shortcut may assume of the world that it plays in, and a bandit may guarantee."""

from enum import Flag, auto


class Assumption(Flag):
    """A property of rewards and regret. Where a bandit does not guarantee all that a shortcut assumes, it is not taken.

    >>> Assumption.MEAN in Assumption.ALL
    True
    """

    INDEPENDENT = auto()
    """The rewards of an arm are independent and of one law, whatever was pulled before and when."""

    IMMEDIATE = auto()
    """A reward is told before the next decision."""

    MEAN = auto()
    """The best arm is the one with the largest mean."""

    REWARDS = INDEPENDENT | IMMEDIATE
    """All that is asked of rewards, whatever makes an arm good."""

    ALL = REWARDS | MEAN
