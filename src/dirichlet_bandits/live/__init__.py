"""Live studies: ask which arm to try now, and tell its reward later. This package never imports ``simulation``."""

from dirichlet_bandits.inference.off_policy import Estimate
from dirichlet_bandits.inference.off_policy_intervals import DifferenceEstimate
from dirichlet_bandits.inference.risk import RiskEstimate
from dirichlet_bandits.inference.winner import Winner
from dirichlet_bandits.live.opening import create_study, delete_study, load_study, study_names
from dirichlet_bandits.live.records import Trial
from dirichlet_bandits.live.replay import Replay
from dirichlet_bandits.live.study import Study

__all__ = [
    "DifferenceEstimate",
    "Estimate",
    "Replay",
    "RiskEstimate",
    "Study",
    "Trial",
    "Winner",
    "create_study",
    "delete_study",
    "load_study",
    "study_names",
]
