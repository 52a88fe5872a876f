"""``dirichlet-bandits plan``: estimate how long a study will take, and what it will cost."""

from pathlib import Path
from typing import Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.declared_commands import fields_of
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.cli.tables import Forgiving, Wide, read_past_rewards
from dirichlet_bandits.errors import ArgumentError


@fields_of("dirichlet_bandits.experiments.plan_question.PlanQuestion")
def plan(
    file: Annotated[Path | None, typer.Argument(help="A .csv file of past rewards, instead of --baseline.")] = None,
    arm: Annotated[str | None, typer.Option(help="Column of arms in the file.")] = None,
    reward: Annotated[str | None, typer.Option(help="Column of rewards in the file.")] = None,
    wide: Wide = False,
    forgiving: Forgiving = False,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
    quiet: tables.Quiet = False,
    **asked: Any,
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
    past = None if file is None else read_past_rewards(file, arm=arm, reward=reward, wide=wide, forgiving=forgiving)
    found = db.plan(past, **asked, progress=False if quiet else None)
    if form == "text":
        typer.echo(str(found))
    else:
        keys = db.PlanRow._fields
        table = tables.Table("Plan", {key: key for key in keys}, found.rows)
        settings = {key: getattr(found, key) for key in ("horizon", "delta", "margin", "replications", "answer")}
        tables.show(table, form, settings, "rows")
    if found.interrupted:
        typer.echo(f"interrupted: the plan is based on {found.replications} studies", err=True)
        raise typer.Exit(INTERRUPTED)
