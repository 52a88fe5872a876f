"""Experiments that come with the package, as data files beside this module: those of papers, and an example."""

from importlib.resources import files
from typing import TYPE_CHECKING

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.report.claims import Paper

if TYPE_CHECKING:
    from dirichlet_bandits.experiments.experiment import Experiment
    from dirichlet_bandits.experiments.kinf_study import KinfStudy
    from dirichlet_bandits.experiments.qds_study import QDSStudy
    from dirichlet_bandits.experiments.random_arms import RandomArms

REGRET = ("yields", "yields-spring", "mixtures", "sensitivity", "robustness")
SHIPPED = (*REGRET, "kinf", "qds-condition")
READINGS = (
    "yields-bounds",
    "yields-dates",
    "yields-spring-bounds",
    "mixtures-variance",
    "robustness-scales",
    "qds-equal-rho",
)
SUBSAMPLING = (
    "bernoulli-high",
    "bernoulli-middle",
    "bernoulli-ten",
    "gaussian",
    "clipped-narrow",
    "clipped-wide",
    "exponential",
)
MAIZE = ("maize-5", "maize-20", "maize-80", "maize-far-bound", "maize-seven")
RANDOM = ("multinomial-10", "multinomial-50", "multinomial-90", "clipped-1", "clipped-5", "clipped-80")
RISK = (*MAIZE, *RANDOM)
CHANGING = (
    "changing-bernoulli",
    "changing-gaussian",
    "limited-memory",
    "restarts-thesis",
    "restarts-1",
    "restarts-2",
)

_FOLDERS = {"paper": SHIPPED, "readings": READINGS, "sda": SUBSAMPLING, "cvar": RISK, "lbsda": CHANGING}
STUDIES = ("kinf", "qds-condition", "qds-equal-rho", *RANDOM)  # not simulations of one bandit


_DIRICHLET = (
    "Baudry, Saux and Maillard, From Optimality to Robustness: Dirichlet Sampling Strategies in Stochastic Bandits, "
    "NeurIPS 2021"
)

PAPERS = {
    "dirichlet": Paper(
        SHIPPED,
        "Dirichlet Sampling: the paper's experiments, reproduced",
        _DIRICHLET,
        "The readings are ours, and some were fixed after a first look at our own numbers: the exponents of growth, "
        "the ±.25 on the slopes of Kinf, RDS against the main text's policies apart from the whole table, and RDS "
        "against R-UCB-LT pair by pair. The strict readings of the last two are judged too.",
        own=("RDS", "QDS", "BDS"),
        others=READINGS,
        others_option=" --which readings",
    ),
    "readings": Paper(
        READINGS,
        "Dirichlet Sampling: readings of the paper",
        _DIRICHLET,
        "All of these readings were chosen after the first results were known, to find out why a claim fails.",
        " --which readings",
    ),
    "sda": Paper(
        SUBSAMPLING,
        "Sub-sampling duels: the paper's experiments, reproduced",
        "Baudry, Kaufmann and Maillard, Sub-sampling for Efficient Non-Parametric Bandit Exploration, NeurIPS 2020",
        "The claims are ours, read off the printed tables.",
        " --which sda",
        own=("RB-SDA", "WR-SDA", "LDS-SDA"),
    ),
    "cvar": Paper(
        RISK,
        "Bad years: the experiments on CVaR bandits, reproduced",
        "Baudry, Gautron, Kaufmann and Maillard, Optimal Thompson Sampling Strategies for Support-Aware CVaR Bandits, "
        "ICML 2021",
        "The claims are ours: what the paper's tables and figures show, in inequalities. The numbers called the "
        "paper's were written down without the paper at hand: check them there before you cite them. Tables that are "
        "not quoted have only our numbers.",
        " --which cvar",
        own=("B-CVTS", "M-CVTS"),
        runs="1040 on four planting dates and 1000 random multinomial problems",
        quick=40,
    ),
    "lbsda": Paper(
        CHANGING,
        "Arms that change: the experiments on sliding windows and restarts, reproduced",
        "Baudry, Russac and Cappé, On Limited-Memory Subsampling Strategies for Bandits, ICML 2021, and three problems "
        "of Besson (2019) and Besson, Kaufmann, Maillard and Seznec, Efficient Change-Point Detection for Tackling "
        "Piecewise-Stationary Bandits, JMLR 2022",
        "The claims are ours, read off the figures and tables.",
        " --which lbsda",
        own=("SW-LB-SDA", "LB-SDA-LM"),
        runs="2000, 1000 on the problem of the thesis and 400 on the last two",
        quick=50,
    ),
}


def shipped(name: str) -> "Experiment | KinfStudy | QDSStudy | RandomArms":
    """Return an experiment of a paper.

    >>> shipped("robustness").policies["RDS log"]
    RDS(rho='log', level=None)
    """
    from dirichlet_bandits.experiments.reading import parse, parse_study

    text = shipped_text(name)
    return parse_study(text, f"{name}.toml") if name in STUDIES else parse(text, f"{name}.toml")


def shipped_text(name: str) -> str:
    """Return the TOML text of an experiment of a paper, to copy and change.

    >>> shipped_text("coins")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'name' must be one of 'yields', 'yields-spring', ... (got 'coins')
    """
    for folder, names in _FOLDERS.items():
        if name in names:
            return _text(f"{folder}/{name}.toml")
    raise ArgumentError("name", one_of([name for names in _FOLDERS.values() for name in names]), name)


def example_text() -> str:
    """Return the commented example, a TOML text to copy and change.

    >>> from dirichlet_bandits.experiments import parse
    >>> parse(example_text()).title
    'Three fertilizers'
    """
    return _text("example.toml")


def _text(file: str) -> str:
    return files("dirichlet_bandits.experiments").joinpath(file).read_text(encoding="utf-8")
