"""Plans over HTTP: the arguments of ``db.plan`` as a request, and a response as a :class:`StudyPlan`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dirichlet_bandits.arms import Bandit, Empirical
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.experiments.planning import PlanRow, Question, StudyPlan, prepare
from dirichlet_bandits.policies.written import POLICY, as_policy
from dirichlet_bandits.validation import whole_number

_MISSING: Final = {"median": math.inf, "ninety": math.inf, "relative": math.nan}
"""What null stands for in a row."""


def plan_body(bandit: Bandit | Mapping[str, Sequence[float]] | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request for a plan; the arguments are checked here, as ``db.plan`` does."""
    asked = Question(bandit, **settings)
    prepared = prepare(asked)
    body: dict[str, Any] = {
        "horizon": prepared.horizon,
        "replications": prepared.replications,
        "delta": prepared.delta,
        "margin": prepared.rule.margin,
        "every": prepared.rule.every,
        "floors": [float(share) for share in asked.floors],
        "seed": whole_number("seed", asked.seed, 0),
    }
    if bandit is None:
        body |= {"arms": len(prepared.bandit)}
    else:
        body |= {"bandit": _past(prepared.bandit)}
    for name in ("baseline", "lift"):
        if getattr(asked, name) is not None:
            body[name] = float(getattr(asked, name))
    if asked.bounds is not None:
        body["bounds"] = prepared.rule.lower, prepared.rule.upper
    if asked.policies is not None:
        made = [as_policy(policy) for policy in asked.policies]  # which were checked above
        body["policies"] = [POLICY.to_text(policy, f"policies[{k}]") for k, policy in enumerate(made)]
    return body


def _past(bandit: Bandit) -> dict[str, list[float]]:
    """Return the past rewards of all arms; other distributions cannot be sent."""
    for name, law in zip(bandit.names, bandit.arms, strict=True):
        if not isinstance(law, Empirical):
            raise ArgumentError("bandit", f"past rewards, but the arm {name!r} is not", law)
    return {name: law.data.tolist() for name, law in zip(bandit.names, bandit.arms, strict=True)}


def read_plan(said: Mapping[str, Any]) -> StudyPlan:
    """Return the plan in a response."""
    rows: list[dict[str, Any]] = [
        {key: _MISSING[key] if value is None else value for key, value in row.items()} for row in said["rows"]
    ]
    rest = {key: value for key, value in said.items() if key not in ("rows", "answer")}
    return StudyPlan([PlanRow(**row) for row in rows], **rest)
