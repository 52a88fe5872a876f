"""``dirichlet-bandits simulate``: run an experiment that a TOML file describes."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from dirichlet_bandits.cli import outputs, tables
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.cli.running import run
from dirichlet_bandits.experiments import read


def simulate(
    experiment: Annotated[Path, typer.Argument(help="TOML file; 'dirichlet-bandits example' writes one.")],
    out: Annotated[Path, typer.Option(help="zarr folder for the result; an older result there is replaced.")],
    replications: Annotated[int | None, typer.Option(help="In place of the file's.")] = None,
    horizon: Annotated[int | None, typer.Option(help="In place of the file's.")] = None,
    seed: Annotated[int | None, typer.Option(help="In place of the file's.")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads; by default one a core. Never changes numbers.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the regret: a .png, .pdf or .svg file.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars, no table.")] = False,
) -> None:
    """Run an experiment, print the summary, save the result. Ctrl-C saves what is done.

    Examples:

    \b
      dirichlet-bandits simulate experiment.toml --out runs.zarr
      dirichlet-bandits simulate experiment.toml --out runs.zarr --replications 20 --plot regret.png

    Read the result in Python:  dirichlet_bandits.load("runs.zarr")
    """
    task = read(experiment)
    task = dataclasses.replace(
        task,
        replications=task.replications if replications is None else replications,
        horizon=task.horizon if horizon is None else horizon,
        seed=task.seed if seed is None else seed,
    )
    outputs.check_result("--out", out)
    if plot is not None:
        outputs.check_picture("--plot", plot)

    result, undone = run(task, workers=workers, quiet=quiet)
    total = task.replications * len(task.policies)
    if undone == total:
        typer.echo("interrupted before the first replication was done: nothing saved", err=True)
        raise typer.Exit(INTERRUPTED)
    result.save(out)
    if plot is not None:
        task.picture(result, plot)
    if not quiet:
        tables.show(tables.summary_table(f"{task.title}: regret after {task.horizon} pulls", result.summary()))
        typer.echo(f"saved: {out}" + (f", {plot}" if plot else ""))
    if undone:
        typer.echo(f"interrupted: {total - undone} of {total} replications were done and are saved in {out}", err=True)
        raise typer.Exit(INTERRUPTED)
