"""``dirichlet-bandits study estimate`` and ``study estimate-difference``: what the recorded propensities tell."""

import json
import math
from typing import Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.study_options import Name, Url, read_shares
from dirichlet_bandits.display.numbers import in_percent, number, percent

Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="LOWER UPPER", help="Bounds of all rewards, if the study has none."),
]
Confidence = Annotated[float, typer.Option(help="Probability that the interval is right, at all times at once.")]


def estimate_difference(
    name: Name,
    a: Annotated[str, typer.Argument(help="Name of an arm.", show_default=False)],
    b: Annotated[str, typer.Argument(help="Name of the arm to compare it with.", show_default=False)],
    storage: Url,
    bounds: Bounds = None,
    confidence: Confidence = 0.95,
    as_json: tables.AsJson = False,
) -> None:
    """Estimate by how much the rewards of arm A exceed those of arm B, even if the arms change over time.

    \b
    Example:
      dirichlet-bandits study estimate-difference page blue red \\
        --storage sqlite:///page.db
    """
    study = db.load_study(name, storage)
    found = study.estimate_difference(a, b, bounds=bounds, confidence=confidence)
    if as_json:
        typer.echo(_json(vars(found)))
        return
    value = number(found.value) or "not known yet"
    typer.echo(f"{a} - {b}: {value}, from {number(found.low)} to {number(found.high)}")
    typer.echo(f"  {_sure(confidence)}, even if the arms change")
    typer.echo(f"  {found.rounds:,} decisions in which both arms were possible; {found.missing:,} rewards missing")


def estimate(
    name: Name,
    storage: Url,
    arm: Annotated[list[str] | None, typer.Option(help="An arm, or ARM=0.5 for a share; repeatable.")] = None,
    policy: Annotated[str | None, typer.Option(help="Policy with parameters, in place of arms.")] = None,
    level: Annotated[float | None, typer.Option(help="Estimate the mean of this share of the worst rewards.")] = None,
    bounds: Bounds = None,
    confidence: Confidence = 0.95,
    as_json: tables.AsJson = False,
) -> None:
    """Estimate what an arm, a mixture of arms, or another policy would have earned per trial.

    \b
    Examples:
      dirichlet-bandits study estimate page --arm blue \\
        --storage sqlite:///page.db
      dirichlet-bandits study estimate page --arm blue=0.5 --arm red=0.5 \\
        --storage sqlite:///page.db
      dirichlet-bandits study estimate page --policy "UCB1(sigma=0.5)" \\
        --storage sqlite:///page.db
    """
    if bool(arm) == (policy is not None):
        raise db.ArgumentError("arm", "given, or else policy", arm)
    study = db.load_study(name, storage)
    from dirichlet_bandits.policies.written import parse_policy  # imported here, because help needs no NumPy

    choice = parse_policy(policy) if policy is not None else read_shares(arm or [])
    said = _known(study, choice, level, bounds, confidence)
    if as_json:
        typer.echo(_json(said))
        return
    value, what = (said["value"], "CVaR") if level is not None else (said["self_normalized"], "mean reward")
    if math.isnan(said["low"]):
        typer.echo(f"{what}: {number(value)}, standard error {number(said['self_normalized_error'], 2)}")
        typer.echo("  no interval: the study has no bounds of its rewards; give --bounds")
    else:
        typer.echo(f"{what}: {number(value)}, from {number(said['low'])} to {number(said['high'])}")
        typer.echo(f"  {_sure(confidence)}")
    typer.echo(f"  {said['rounds']:,} decisions, worth {said['effective_rounds']:,.0f} of this choice")
    for other, share in said["unsupported"].items():
        typer.echo(f"  {percent(share)} of the choice is left out: {other} was not possible there")


def _known(study: "db.Study", choice: Any, level: float | None, bounds: Any, confidence: float) -> dict[str, Any]:
    """Return the fields of an estimate of the mean or of the CVaR."""
    if level is None:
        return vars(study.estimate(choice, bounds=bounds, confidence=confidence))
    return vars(study.estimate(choice, objective=db.CVaR(level), bounds=bounds, confidence=confidence))


def _sure(confidence: float) -> str:
    return f"{in_percent(confidence)} sure at all times at once"


def _json(said: dict[str, Any]) -> str:
    """Return values as JSON, without NaN and infinities."""
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in said.items()
    }
    return json.dumps(finite, ensure_ascii=False, indent=2)
