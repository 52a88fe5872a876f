"""``dirichlet-bandits plan``: how long will a study take, and what will it cost?"""

from pathlib import Path
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.errors import ArgumentError


def plan(
    file: Annotated[Path | None, typer.Argument(help="Past rewards, a .csv file, in place of --baseline.")] = None,
    baseline: Annotated[float | None, typer.Option(help="Mean of rewards 0 and 1 of all arms but one.")] = None,
    lift: Annotated[float | None, typer.Option(help="By how much the mean of the last arm is larger.")] = None,
    arms: Annotated[int, typer.Option(help="How many arms, with --baseline.")] = 2,
    policy: Annotated[
        list[str] | None, typer.Option(help="A policy to try, with parameters; may be repeated.", show_default=False)
    ] = None,
    floor: Annotated[
        list[float] | None, typer.Option(help="A floor to try; may be repeated.", show_default="0 and 0.1")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability of naming a wrong winner.")] = 0.05,
    margin: Annotated[float, typer.Option(help="The winner may be worse by this much.")] = 0.0,
    trials: Annotated[int, typer.Option(help="When a study without a winner ends.")] = 20_000,
    every: Annotated[int, typer.Option(help="Trials between two looks at the winner.")] = 100,
    replications: Annotated[int, typer.Option(help="How many studies to simulate.")] = 200,
    lower: Annotated[float | None, typer.Option(help="No reward is below.", show_default="0")] = None,
    upper: Annotated[float | None, typer.Option(help="No reward is above.", show_default="1")] = None,
    arm: Annotated[str | None, typer.Option(help="Column of the options in the file.")] = None,
    reward: Annotated[str | None, typer.Option(help="Column of the rewards in the file.")] = None,
    wide: Annotated[bool, typer.Option("--wide", help="The file has a column of rewards for each option.")] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars.")] = False,
) -> None:
    """Simulate a study before it begins: when will it name a winner, and what will it lose until then?

    Ctrl-C shows what is done.

    Every policy, with and without a floor, is compared with an equal split, which is an A/B test. The rule that names
    the winner is that of live studies. Each policy is compiled once, when it is first used.

    \b
    Examples:
      dirichlet-bandits plan --baseline 0.10 --lift 0.03
      dirichlet-bandits plan --baseline 0.10 --lift 0.03 --arms 4 \\
        --policy "TopTwo" --floor 0 --floor 0.05 --trials 50000
      dirichlet-bandits plan past.csv --lower 0 --upper 9 --json
    """
    form = tables.form_of(as_json, as_csv)
    for option, value in (("--arm", arm), ("--reward", reward), ("--wide", wide or None)):
        if file is None and value is not None:
            raise ArgumentError(option, "left out: it is for a file of past rewards", value)
    found = db.plan(
        None if file is None else db.read_rewards(file, arm=arm, reward=reward, wide=wide),
        baseline=baseline,
        lift=lift,
        arms=arms,
        policies=policy,
        floors=floor or (0.0, 0.1),
        delta=delta,
        margin=margin,
        trials=trials,
        every=every,
        replications=replications,
        lower=lower,
        upper=upper,
        seed=seed,
        progress=False if quiet else None,
    )
    if form == "text":
        typer.echo(str(found))
    else:
        keys = db.experiments.PlanRow._fields
        table = tables.Table("Plan", [tables.Column(key, key) for key in keys], found.rows)
        settings = {key: getattr(found, key) for key in ("trials", "delta", "margin", "replications", "answer")}
        tables.show(table, form, settings, "rows")
    if found.interrupted:
        typer.echo(f"interrupted: the plan is based on {found.replications} studies", err=True)
        raise typer.Exit(INTERRUPTED)
