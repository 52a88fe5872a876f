"""Live studies: ask which arm to try now, and tell its reward later. This package never imports ``simulation``."""

from dirichlet_bandits.inference.off_policy import Estimate as Estimate
from dirichlet_bandits.inference.off_policy_intervals import DifferenceEstimate as DifferenceEstimate
from dirichlet_bandits.inference.risk import RiskEstimate as RiskEstimate
from dirichlet_bandits.inference.winner import Winner as Winner
from dirichlet_bandits.live.opening import create_study as create_study
from dirichlet_bandits.live.opening import delete_study as delete_study
from dirichlet_bandits.live.opening import load_study as load_study
from dirichlet_bandits.live.opening import study_names as study_names
from dirichlet_bandits.live.records import Trial as Trial
from dirichlet_bandits.live.replay import Replay as Replay
from dirichlet_bandits.live.study import Study as Study
