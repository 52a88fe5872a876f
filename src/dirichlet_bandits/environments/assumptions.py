"""What a shortcut may assume about the rewards and the regret, and what a bandit may guarantee."""

from enum import Flag, auto


class Assumption(Flag):
    """A property of rewards and regret. A shortcut is used only if the bandit guarantees all that it assumes.

    >>> Assumption.MEAN in Assumption.ALL
    True
    """

    INDEPENDENT = auto()
    """The rewards of an arm are independent and identically distributed, whatever was pulled before and when."""

    IMMEDIATE = auto()
    """A reward is observed before the next decision."""

    MEAN = auto()
    """The best arm is the one with the largest mean."""

    REWARDS = INDEPENDENT | IMMEDIATE
    """All that is required of rewards, whatever makes an arm good."""

    ALL = REWARDS | MEAN
