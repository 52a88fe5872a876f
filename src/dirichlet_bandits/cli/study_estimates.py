"""``dirichlet-bandits study estimate``: what the recorded propensities tell about another choice of arms."""

import math
from typing import Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.answers import written
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.study_operations import sure
from dirichlet_bandits.cli.study_options import Name, Url, read_shares
from dirichlet_bandits.display.numbers import number, percent

Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="LOWER UPPER", help="Bounds of all rewards, if the study has none."),
]
Confidence = Annotated[float, typer.Option(help="Probability that the interval is right, at all times at once.")]


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
    from dirichlet_bandits.policies.written import as_policy  # imported here, because help needs no NumPy

    study = db.load_study(name, storage)
    choice = as_policy(policy) if policy is not None else read_shares(arm or [])
    goal: Any = None if level is None else db.CVaR(level)
    said = vars(study.estimate(choice, objective=goal, bounds=bounds, confidence=confidence))
    if as_json:
        tables.show_json(written(said))
        return
    value, what = (said["value"], "CVaR") if level is not None else (said["self_normalized"], "mean reward")
    if math.isnan(said["low"]):
        typer.echo(f"{what}: {number(value)}, standard error {number(said['self_normalized_error'], 2)}")
        typer.echo("  no interval: the study has no bounds of its rewards; give --bounds")
    else:
        typer.echo(f"{what}: {number(value)}, from {number(said['low'])} to {number(said['high'])}")
        typer.echo(f"  {sure(confidence)}")
    typer.echo(f"  {said['rounds']:,} decisions, worth {said['effective_rounds']:,.0f} of this choice")
    for other, share in said["unsupported"].items():
        typer.echo(f"  {percent(share)} of the choice is left out: {other} was not possible there")
