"""``dirichlet-bandits plan``: estimate how long a study will take, and what it will cost."""

from pathlib import Path
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.cli.past_rewards import Forgiving, Wide, read_past_rewards
from dirichlet_bandits.errors import ArgumentError


def plan(
    file: Annotated[Path | None, typer.Argument(help="A .csv file of past rewards, instead of --baseline.")] = None,
    baseline: Annotated[float | None, typer.Option(help="Mean of all arms but one, for rewards of 0 and 1.")] = None,
    lift: Annotated[float | None, typer.Option(help="How much larger the mean of the last arm is.")] = None,
    arms: Annotated[int, typer.Option(help="Number of arms, with --baseline.")] = 2,
    policy: Annotated[
        list[str] | None, typer.Option(help="Policy to try, with parameters; repeatable.", show_default=False)
    ] = None,
    floor: Annotated[
        list[float] | None, typer.Option(help="Floor to try; repeatable.", show_default="0 and 0.1")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability of naming a wrong winner.")] = 0.05,
    margin: Annotated[float, typer.Option(help="How much worse than the best arm the winner may be.")] = 0.0,
    horizon: Annotated[int, typer.Option(help="Number of trials after which a study ends without a winner.")] = 20_000,
    every: Annotated[int, typer.Option(help="Number of trials between checks for a winner.")] = 100,
    replications: Annotated[int, typer.Option(help="Number of studies to simulate.")] = 200,
    bounds: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOWER UPPER", help="Bounds of all rewards.", show_default="0 1"),
    ] = None,
    arm: Annotated[str | None, typer.Option(help="Column of arms in the file.")] = None,
    reward: Annotated[str | None, typer.Option(help="Column of rewards in the file.")] = None,
    wide: Wide = False,
    forgiving: Forgiving = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress bars.")] = False,
) -> None:
    """Simulate a study before it begins, to see when it names a winner and what it loses until then.

    Ctrl-C shows the finished studies.

    Every policy, with and without a floor, is compared with an equal split, which is an A/B test. The rule that names
    a winner is that of live studies. Each policy is compiled once, when it is first used.

    \b
    Examples:
      dirichlet-bandits plan --baseline 0.10 --lift 0.03
      dirichlet-bandits plan --baseline 0.10 --lift 0.03 --arms 4 \\
        --policy "TopTwo" --floor 0 --floor 0.05 --horizon 50000
      dirichlet-bandits plan past.csv --bounds 0 9 --json
    """
    form = tables.form_of(as_json, as_csv)
    for option, value in (("--arm", arm), ("--reward", reward), ("--wide", wide), ("--forgiving", forgiving)):
        if file is None and value not in (None, False):
            raise ArgumentError(option, "left out: it is for a file of past rewards", value)
    found = db.plan(
        None if file is None else read_past_rewards(file, arm=arm, reward=reward, wide=wide, forgiving=forgiving),
        baseline=baseline,
        lift=lift,
        arms=arms,
        policies=policy,
        floors=floor or (0.0, 0.1),
        delta=delta,
        margin=margin,
        horizon=horizon,
        every=every,
        replications=replications,
        bounds=bounds,
        seed=seed,
        progress=False if quiet else None,
    )
    if form == "text":
        typer.echo(str(found))
    else:
        keys = db.experiments.PlanRow._fields
        table = tables.Table("Plan", [tables.Column(key, key) for key in keys], found.rows)
        settings = {key: getattr(found, key) for key in ("horizon", "delta", "margin", "replications", "answer")}
        tables.show(table, form, settings, "rows")
    if found.interrupted:
        typer.echo(f"interrupted: the plan is based on {found.replications} studies", err=True)
        raise typer.Exit(INTERRUPTED)
