"""What each parameter of the public interface means, for the lists in the API reference.

Signatures have the types and defaults, and docstrings explain the parameters in their sentences; this table has one
phrase for each. A key is the name of a parameter, or ``owner.parameter`` where a class, function or method gives the
name a meaning of its own. tests/test_site.py checks that no parameter is missing.
"""

import functools
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import dirichlet_bandits as db

MEANINGS = {
    # Environments
    "arms": "The arms, in order.",
    "Bandit.arms": "Reward distributions: a list, a dict by name, a dict of lists of past rewards, or a pandas frame.",
    "names": "Names of the arms; by default those of the dict or frame, or numbers.",
    "objective": "What makes an arm good: the mean by default, or ``CVaR(level)``.",
    "RiskEstimate.objective": "The objective in words.",
    "p": "Probability of a reward of 1.",
    "Geometric.p": "Probability that the reward arrives at the next decision.",
    "Beta.a": "First shape, above 0.",
    "Beta.b": "Second shape, above 0.",
    "mean": "Mean of the distribution.",
    "ClippedGaussian.mean": "Mean before values are clipped.",
    "std": "Standard deviation.",
    "ClippedGaussian.std": "Standard deviation before values are clipped.",
    "low": "Smallest value.",
    "high": "Largest value.",
    "values": "Numbers, such as rewards.",
    "Empirical.values": "Observed rewards, from which the arm draws with replacement.",
    "GaussianMixture.weights": "Weights of the components.",
    "means": "Means of the components.",
    "stds": "Standard deviations of the components.",
    "level": "Share of the worst rewards, above 0 and at most 1; 1 is the mean.",
    "RDS.level": "Share of the worst rewards by whose average arms are judged; None for the mean.",
    "summary.level": "Probability that all intervals hold together, at all times at once.",
    "Drifting.law": "Family of the rewards, or a function that returns the distribution with a given mean.",
    "Drifting.means": "Function of the pull 1, 2, ... that returns one mean per arm, or an array, one row per pull.",
    "noise": "Distribution of mean zero that is added to the means; by default the standard normal one.",
    "Pareto.alpha": "Exponent of the tail; the mean is infinite if it is 1 or less.",
    "Piecewise.segments": "The first pull of each segment, counted from 1, and its arms.",
    "law": "A distribution: one of ours or a frozen ``scipy.stats`` distribution.",
    # Policies
    "upper": "Upper bound of the rewards.",
    "lower": "Lower bound of the rewards.",
    "BDS.upper": "Upper bound of the rewards if it is known.",
    "cvar_kinf.upper": "Upper bound of the distributions that are compared.",
    "kinf.upper": "Upper bound of the distributions that are compared.",
    "crossing_bounds.upper": "Upper bound of the rewards if it is known.",
    "QDSCondition.upper": "Upper bound of the truncated distribution.",
    "lower_bound.upper": "Upper bound of the rewards, for the family ``bounded``.",
    "sigma": "Standard deviation of the rewards; for rewards in an interval, half its length is enough.",
    "ReBoot.sigma": "Scale of the two pseudo-residuals.",
    "family": "One-parameter family of the rewards; ``bernoulli`` serves all rewards in [0, 1].",
    "DMED.family": "One-parameter family of the rewards; give either this or ``upper``.",
    "MED.family": "One-parameter family of the rewards; give either this or ``upper``.",
    "LowerBound.family": "The family of distributions.",
    "lower_bound.family": "Family of distributions among which the best arm might be another one.",
    "QDSCondition.family": "Divergence within the distribution's own family.",
    "rho": "How much the bonus of a challenger exceeds the leader's mean.",
    "RDS.rho": "How fast the factor of the bonus grows with the number of rewards.",
    "gamma": "Distance to the bound within which some rewards fall.",
    "Discounted.gamma": "Factor by which the weight of a reward falls with each decision.",
    "EXP3S.gamma": "Probability with which arms are explored; by default from the horizon.",
    "alpha": "Share of the largest rewards that are replaced by their mean.",
    "EXP3S.alpha": "Share of the weights that is spread over all arms; by default 1 / horizon.",
    "a": "Pseudo-rewards per reward.",
    "beta": "Probability with which the leader is pulled.",
    "epsilon": "Probability with which an arm is drawn at random.",
    "f": "Function of time that multiplies the confidence width.",
    "scale": "Factor of the confidence width.",
    "MBE.scale": "Weight of each bound beside a reward.",
    "variance": "Variance of the random weights.",
    "artificial": "Number of artificial rewards.",
    "binary": "Whether all rewards are one of the bounds; then propensities are known.",
    "replicates": "Number of replicates per arm.",
    "OnlineBootstrapTS.weights": "Distribution of the weights with which a reward enters the replicates.",
    "support": "All possible rewards.",
    "forced": "How many rewards an arm gets without a duel; None for none.",
    "CUSUMUCB.forced": "Whether each arm is first pulled ``first`` times after its restart.",
    "memory": "How many of its last rewards an arm keeps; None for all of them.",
    "ties": "Who wins if the means are equal.",
    "horizon": "Number of pulls.",
    "plan.horizon": "Number of trials after which a study without a winner ends.",
    "StudyPlan.horizon": "The same.",
    "KLUCBSwitch.horizon": "Number of pulls if it is known.",
    "CVaRUCB.horizon": "Number of pulls if it is known.",
    "read_periods.horizon": "Number of pulls, which the periods share equally.",
    "EXP3S.segments": "Number of changes plus one.",
    "MUCB.segments": "Number of changes plus one.",
    "changes": "Number of changes that are expected.",
    "window": "Number of the last decisions whose rewards count.",
    "MUCB.window": "Number of an arm's last rewards that the detector compares.",
    "MeanShift.window": "Number of an arm's last rewards whose halves are compared.",
    "create_study.window": "Time after which a missing reward is late, such as ``24h``, or in seconds.",
    "policy": "The inner policy.",
    "detector": "Finds out whether an arm has changed: ``GLR``, ``CUSUM`` or ``MeanShift``.",
    "exploration": "Probability with which a decision explores; by default a formula of the policy.",
    "scope": "Whether an alarm restarts all arms or only the arm that has changed.",
    "scheduled": "Whether the arms are explored in turn at fixed times, as published.",
    "growing": "Whether exploration grows with the number of alarms, as published.",
    "delta": "Probability of error.",
    "GLR.delta": "Probability of a false alarm.",
    "GLRKLUCB.delta": "Probability of a false alarm.",
    "threshold": "Level that is compared with the sum.",
    "GLR.threshold": "Formula with which the statistic is compared.",
    "GLRKLUCB.threshold": "Formula with which the statistic is compared.",
    "CUSUM.threshold": "Value at which the statistic raises an alarm.",
    "CUSUMUCB.threshold": "Value at which the statistic raises an alarm; by default from the horizon.",
    "MUCB.threshold": "Difference of the halves that raises an alarm; by default from the horizon.",
    "MeanShift.threshold": "Difference of the sums of both halves that raises an alarm.",
    "every": "Number of an arm's rewards between two tests.",
    "CUSUM.first": "Number of first rewards, whose mean is the reference.",
    "CUSUMUCB.first": "Number of first rewards, whose mean is the reference.",
    "drift": "Deviation from the reference that does not count.",
    "xi": "Factor in the confidence width.",
    "order": "Whether rewards are released in the order of the pulls or of their arrival.",
    "floor": "Minimal probability of each arm.",
    "policy_classes": "Classes of policies that the rule is for.",
    "from_histories": "Whether the rule takes the arms' rewards instead of a state.",
    "propensities.policy": "The policy that decides.",
    "state_propensities.policy": "The policy that decides.",
    "histories": "Rewards of each arm in the order of arrival, as a list or by name.",
    "state": "State of the policy, from ``init`` and ``update``.",
    "n_arms": "Number of arms.",
    "rng": "Random generator of NumPy.",
    "Policy.update.arm": "Number of the arm that was pulled.",
    # Files of past rewards
    "path": "File, folder or URL.",
    "arm": "The arm.",
    "reward": "The reward.",
    "read_rewards.arm": "Column with the arms.",
    "read_rewards.reward": "Column with the rewards.",
    "read_periods.arm": "Column with the arms.",
    "read_periods.reward": "Column with the rewards.",
    "from_dataframe.arm": "Column with the arms.",
    "from_dataframe.reward": "Column with the rewards.",
    "from_dataframe.frame": "Past rewards, one row per reward.",
    "read_periods.period": "Column with the periods.",
    "wide": "Whether there is one column per arm.",
    "forgiving": "Whether numbers are read as people type them, with a warning that reports what was done.",
    # Live studies
    "name": "Name of the study.",
    "create_study.policy": "The policy, or its name as on the command line; it must have propensities.",
    "load_study.policy": "The policy, needed only if you wrote its class.",
    "storage": "URL of a database, or a storage; None keeps the study in memory.",
    "seed": "Number from which all random numbers follow; without a seed, one is drawn.",
    "direction": "Whether you report rewards (``maximize``) or costs (``minimize``).",
    "control": "Arm with which the others are compared.",
    "bounds": "Two numbers between which all rewards lie.",
    "create_study.floor": "Minimal probability of all arms, or of arms by name.",
    "late": "What a missing reward means after the window: ``abandon``, or a number as the reward.",
    "reward_unit": "Unit of the rewards, shown next to them.",
    "segments": "Names of groups in which the policy learns separately.",
    "history": "Past rewards by arm, with which the policy starts.",
    "weight": "How much each reward of the history counts, from 0 to 1.",
    "borrow": "How much a reward counts in the other segments, from 0 to 1.",
    "load_if_exists": "Whether to load a study of this name instead of refusing it.",
    "token": "Your own name for this call; a call that is repeated with the same token is made once.",
    "confirm": "The name of the study again.",
    "identity": "Identity of the study; another study that has its name by now is not deleted.",
    "archived": "Whether to list the archived studies instead.",
    "url": "Address of the service.",
    "key": "API key; None for a service without keys.",
    "patience": "Seconds for which calls are retried.",
    "n": "Number of trials; None for a single one.",
    "segment": "The segment.",
    "unit": "Who or what gets the arm, such as a user; it keeps its arm.",
    "id": "Id of a trial, or the trial.",
    "ids": "Ids of trials, or the trials.",
    "rewards": "One reward per trial.",
    "note": "A note in words.",
    "attributes": "Values by names of your own, stored as JSON.",
    "reason": "Why, in words.",
    "frame": "Past trials with the columns ``arm`` and ``reward``, and perhaps ``time`` and ``propensity``.",
    "add_arm.name": "Name of the arm.",
    "retire_arm.name": "Name of the arm.",
    "rename.name": "New name of the study.",
    "set_floor.floor": "Minimal probability of all arms, or of arms by name; 0 or None removes it.",
    "over": "What the winner is claimed for: arms whose differences keep their sign, or the average over the rounds.",
    "margin": "By how much the winner may be worse than the best arm, in the unit of the rewards.",
    "choice": "What to estimate: an arm, weights of arms, or a policy.",
    "confidence": "Confidence of the interval.",
    "estimate_difference.a": "The first arm.",
    "estimate_difference.b": "The arm that is subtracted.",
    "trial": "Id of the trial whose events to return.",
    "below": "Return only events with smaller numbers, to read on from a page.",
    "limit": "Return at most so many events.",
    "export.path": "File that ends in ``.parquet`` or ``.csv``.",
    "progress": "Called with the number of steps done and in all.",
    # What studies return
    "DifferenceEstimate.a": "The first arm.",
    "DifferenceEstimate.b": "The arm that is subtracted.",
    "value": "The estimate.",
    "DifferenceEstimate.low": "Lower end of the interval.",
    "DifferenceEstimate.high": "Upper end of the interval.",
    "Estimate.low": "Lower end of the interval; NaN without bounds.",
    "Estimate.high": "Upper end of the interval; NaN without bounds.",
    "RiskEstimate.low": "Lower end of the interval.",
    "RiskEstimate.high": "Upper end of the interval.",
    "rounds": "Number of rounds that count.",
    "missing": "Number of trials without a reward.",
    "ips": "Estimate by inverse propensities.",
    "ips_error": "Its standard error.",
    "self_normalized": "Estimate with weights divided by their sum.",
    "self_normalized_error": "Its standard error.",
    "effective_rounds": "How many rounds of the choice itself the log is worth.",
    "unsupported": "Arms that the log does not cover, with their shares of the choice.",
    "trials": "Number of trials.",
    "n_differences": "Number of differences.",
    "differences": "The first differences in words.",
    "Trial.id": "Number of the trial in its study.",
    "propensity": "Probability with which the arm was to be in its round.",
    "asked_at": "Time of the ask.",
    "Trial.unit": "Who or what got the arm.",
    "Winner.arm": "The winner; None until there is one.",
    "leader": "The active arm with the best mean.",
    "proved": "Whether the probability of error is proved, or holds in the limit of many rewards.",
    "method": "How the winner was found, in words.",
    "rivals": "The other arms, with the evidence against each.",
    "Winner.assumes": "What the probability of error assumes, in words.",
    "established_at": "Number of trials when the winner was first named.",
    "more": "About how many more trials it takes; None if it is not in sight.",
    "Winner.floor": "A minimal probability that would find the winner sooner.",
    "with_floor": "About how many more trials it takes with that floor.",
    "more_low": "How many more trials it takes if the lead is one standard error larger.",
    "more_high": "How many more trials it takes if the lead is one standard error smaller; None if not in sight.",
    "Winner.reason": "What is missing, in words.",
    "Winner.waits": "Which rewards do not count yet, in words; None if all do.",
    "Winner.note": "Set if the present rewards would not establish the winner any more.",
    # Results
    "data": "The labeled arrays.",
    "first": "Name of the first policy.",
    "second": "Name of the policy that is subtracted.",
    "difference": "Mean difference of the regrets.",
    "Comparison.low": "Lower end of the confidence interval.",
    "Comparison.high": "Upper end of the confidence interval.",
    "standard_error": "Standard error of the difference.",
    "replications": "Number of replications that both policies finished.",
    "label": "What is compared.",
    "p_value": "Of Student's test of no difference.",
    "final_regret.policy": "Name of the policy.",
    "over_time": "Whether to return one row per policy, replication and time.",
    "plot.path": "File to write; None only returns the figure.",
    "plot.kind": "What to draw, such as ``regret``, ``pulls`` or ``distribution``.",
    "ax": "Axes of matplotlib to draw into.",
    "figsize": "Width and height in inches.",
    "legend": "Whether, or where, to put a legend.",
    "band": "What the bands show, such as 0.9 for the quantiles from 5% to 95%.",
    "plot.policies": "Names of the policies to draw.",
    "log_time": "Whether the time axis is logarithmic.",
    "log_regret": "Whether the regret axis is logarithmic.",
    "plot.lower_bound": "Constant of the lower bound to draw; False for none.",
    "title": "Title of the figure.",
    "labels": "Names of policies, arms and times.",
    "regret": "Regrets by policy, replication and time.",
    "pulls": "Pulls by policy, replication and arm.",
    "from_arrays.reward": "Sums of rewards by policy and replication.",
    # Theory
    "weights": "Weights of the values; 1 by default.",
    "log": "Whether to return the logarithm, which cannot underflow.",
    "Bound.log": "Logarithm of the bound.",
    "target": "Value that the mean, or the CVaR, is to reach.",
    "Bound.value": "The bound.",
    "source": "Where it is proved.",
    "CVaRKinfResult.value": "Kinf.",
    "KinfResult.value": "Kinf.",
    "quantile": "The quantile that attains it.",
    "QDSCondition.quantile": "Quantile at which the distribution is cut.",
    "multiplier": "The multiplier that attains it.",
    "iterations": "Number of iterations of the solver.",
    "converged": "Whether the solver converged.",
    "exact": "The probability.",
    "upper_chernoff": "Upper bound exp(-N Kinf(M)).",
    "upper_kinf": "Upper bound exp(-N Kinf(B)).",
    "lower_gap": "Lower bound from the gaps.",
    "lower_product": "Lower bound as a product.",
    "lower_simplex": "Lower bound from Kinf's allocation.",
    "truncated": "Kinf of the truncated distribution.",
    "tail_mean": "Mean of the tail.",
    "holds": "Whether the condition holds.",
    "mu": "Mean that must be reached.",
    "family_divergence": "Divergence within the family, where it is not known.",
    "constant": "Constant of the lower bound.",
    "terms": "Term of each arm.",
    "kinf": "Kinf of each arm.",
    "lower_bound.bandit": "A bandit, or a sequence of distributions.",
    # Checks of policies, and methods of distributions and worlds
    "check_policy.policy": "The policy to check.",
    "AuditEntry.what": "What was done, such as `create_study`.",
    "AuditEntry.study": "The study.",
    "AuditEntry.at": "The date and time.",
    "AuditEvent.number": "The number of the event.",
    "AuditEvent.what": "What was done, such as `ask`.",
    "AuditEvent.at": "The date and time.",
    "actor": "Name of the key with which the service was called.",
    "Comparisons.pairs": "One comparison per pair of policies.",
    "PlanRow.decided": "Share of the simulated studies that name a winner.",
    "PlanRow.wrong": "Share of the simulated studies that name a wrong winner.",
    "PlanRow.median": "Trials until half of the studies name a winner.",
    "PlanRow.ninety": "Trials until 90% of the studies name a winner.",
    "PlanRow.loss": "Mean loss compared with always choosing the best arm.",
    "PlanRow.loss_error": "Standard error of the loss.",
    "PlanRow.relative": "The loss, as a share of the loss of an equal split.",
    "RankedPolicy.tied": "Whether the interval does not tell the policy from the best.",
    "Ranking.places": "The policies, the best one first.",
    "Ranking.left_out": "The reason for leaving a policy out, by name.",
    "Ranking.policies": "The policies by name.",
    "Ranking.result": "The simulation behind the ranking.",
    "Rival.statistic": "The evidence that the leader is better.",
    "Rival.lead": "How far the leader is ahead.",
    "StudyPlan.rows": "One row per policy and floor.",
    "StudyPlan.interrupted": "Whether Ctrl-C or a time limit ended the simulation early.",
    "x": "A number.",
    "q": "A probability.",
    "size": "Shape of the result.",
    "random_state": "Seed or generator.",
    "seeds": "One seed per arm.",
    "value.law": "A distribution.",
}
"""The meaning of every parameter, in a phrase."""

MADE_BY_OTHERS = frozenset({"Study", "Service", "Result"})
"""Classes that users do not construct themselves; their methods have lists, they do not."""
RETURNED = frozenset(
    {
        "AuditEntry", "AuditEvent", "Bound", "CVaRKinfResult", "Comparison", "Comparisons", "CrossingBounds",
        "DifferenceEstimate", "Estimate", "KinfResult", "LowerBound", "PlanRow", "QDSCondition", "RankedPolicy",
        "Ranking", "Replay", "RiskEstimate", "Rival", "StudyPlan", "StudySettings", "Trial", "Winner",
    }
)  # fmt: skip
"""Classes whose fields are read, not given."""


def meaning(owner: str, parameter: str) -> str | None:
    """Return the meaning of a parameter, of its owner or in general."""
    return MEANINGS.get(f"{owner}.{parameter}", MEANINGS.get(parameter))


def parameters_of(path: str) -> list[str]:
    """Return the names of the parameters of a class, function or method, given its path; none if there is no such."""
    found = found_at(path)
    if found is None or not callable(found) or (inspect.isclass(found) and issubclass(found, BaseException)):
        return []
    if inspect.isclass(found) and (found.__name__ in MADE_BY_OTHERS or inspect.isabstract(found)):
        return []
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in parameters if one.name not in ("self", "cls") and one.kind != one.VAR_KEYWORD]


def section(path: str) -> str:
    """Return a section for the docstring of a public name or of its method; empty if there is nothing to list.

    Names of sub-packages, such as ``crops``, have no such list: their parameters may mean something else.
    """
    above, _, owner = path.rpartition(".")
    if not {path, above} & _public():
        return ""
    listed = [(name, meaning(owner, name)) for name in parameters_of(path)]
    if not listed or any(words is None for _, words in listed):
        return ""
    title = "Attributes" if owner in RETURNED else "Parameters"
    return "\n".join([title, "-" * len(title), *_entries(listed)])


@functools.cache
def _public() -> set[str]:
    """Return the paths of all public names where they are defined."""
    rooms = (db, db.policies, db.theory, db.errors)
    names = [getattr(room, name) for room in rooms for name in room.__all__] + [db.testing.check_policy]
    return {f"{one.__module__}.{one.__qualname__}" for one in names if hasattr(one, "__qualname__")}


def _entries(listed: list[tuple[str, str | None]]) -> Iterator[str]:
    for name, words in listed:
        yield name
        yield f"    {words}"


def found_at(path: str) -> Any:
    """Return the object at a path of modules, classes and names."""
    parts = path.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for name in parts[cut:]:
            found = inspect.getattr_static(found, name, None) if inspect.isclass(found) else getattr(found, name, None)
            found = getattr(found, "__func__", found)
        return found
    return None
