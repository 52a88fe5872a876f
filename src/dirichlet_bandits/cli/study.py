"""``dirichlet-bandits study``: make live decisions from the command line."""

from pathlib import Path
from typing import Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import study_tables, tables
from dirichlet_bandits.cli.declared_commands import DeclaredCommand, fields_of
from dirichlet_bandits.cli.study_operations import StudyCommands
from dirichlet_bandits.cli.study_options import Archived, Name, Segment, Token, Url, read_history, read_table
from dirichlet_bandits.display.progress import bars

DIFFERENT = 1

app = typer.Typer(
    cls=StudyCommands,
    help="Make live decisions: ask which arm to try, tell the reward later.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("create", cls=DeclaredCommand)
@fields_of("dirichlet_bandits.live.settings.StudySettings")
def create_command(
    name: Name,
    storage: Url,
    history: Annotated[
        Path | None, typer.Option(help="Past rewards: a file with columns arm and reward.", exists=True, dir_okay=False)
    ] = None,
    **settings: Any,
) -> None:
    """Create a study.

    \b
    Examples:
      dirichlet-bandits study create maize --storage sqlite:///maize.db \\
        --arm "26 Feb" --arm "13 Mar"
      dirichlet-bandits study create page --storage sqlite:///page.db \\
        --arm red --arm blue --policy "NPTS(upper=1)" --window 24h --late 0
    """
    study = db.create_study(name, storage=storage, history=read_history(history), **settings)
    typer.echo(f"created {name!r}: {study.policy!r}, {len(study.arms)} arms, seed {study.seed}")


@app.command("add-trials")
def add_trials_command(
    name: Name,
    path: Annotated[Path, typer.Argument(help="A .csv or .parquet file.", exists=True, dir_okay=False)],
    storage: Url,
    token: Token = None,
) -> None:
    """Add past trials from a file with columns arm and reward, and optionally time and propensity.

    Without propensities, they count for decisions and summaries, but not for estimates.

    \b
    Example:
      dirichlet-bandits study add-trials maize last-year.csv \\
        --storage sqlite:///maize.db
    """
    study = db.load_study(name, storage)
    ids = study.add_trials(read_table(path, study), token=token)
    typer.echo(f"added {len(ids)} trials" + (f", {ids[0]} to {ids[-1]}" if ids else ""))


@app.command("show")
def show_command(
    storage: Url,
    name: Annotated[str | None, typer.Argument(help="Name of the study; if omitted, lists all names.")] = None,
    archived: Archived = False,
    segment: Segment = None,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
) -> None:
    """Print a study: its arms, means with intervals, propensities of the next decision, and pending trials.

    \b
    Examples:
      dirichlet-bandits study show --storage sqlite:///maize.db
      dirichlet-bandits study show maize --storage sqlite:///maize.db
    """
    form = tables.form_of(as_json, as_csv)
    if name is not None:
        study_tables.show_study(db.load_study(name, storage), form, segment)
    elif form != "text":
        study_tables.show_list(storage, archived, form)
    else:
        for found in db.study_names(storage, archived=archived):
            typer.echo(found)


@app.command("list")
def list_command(
    storage: Url, archived: Archived = False, as_json: tables.AsJson = False, as_csv: tables.AsCsv = False
) -> None:
    """Print all studies of a storage: policy, arms, trials, pending trials and best arm.

    \b
    Example:
      dirichlet-bandits study list --storage sqlite:///maize.db
    """
    study_tables.show_list(storage, archived, tables.form_of(as_json, as_csv))


@app.command("rename")
def rename_command(name: Name, new: Annotated[str, typer.Argument(show_default=False)], storage: Url) -> None:
    """Give a study another name.

    \b
    Example:
      dirichlet-bandits study rename maize "maize 2026" \\
        --storage sqlite:///maize.db
    """
    db.load_study(name, storage).rename(new)
    typer.echo(f"renamed {name!r}: {new!r}")


@app.command("archive")
def archive_command(
    name: Name,
    storage: Url,
    undo: Annotated[bool, typer.Option("--undo", help="Put the study back into the list.")] = False,
) -> None:
    """Archive a study: it leaves the list but can still be used.

    \b
    Example:
      dirichlet-bandits study archive maize --storage sqlite:///maize.db
    """
    study = db.load_study(name, storage)
    study.unarchive() if undo else study.archive()
    typer.echo(f"{name!r}: {'back in the list' if undo else 'archived'}")


@app.command("delete")
def delete_command(
    name: Name, storage: Url, confirm: Annotated[str, typer.Option(help="Repeat the name of the study.")]
) -> None:
    """Delete a study and all of its events permanently.

    \b
    Example:
      dirichlet-bandits study delete maize --confirm maize \\
        --storage sqlite:///maize.db
    """
    db.delete_study(name, storage, confirm=confirm)
    typer.echo(f"deleted {name!r}")


@app.command("export")
def export_command(
    name: Name,
    path: Annotated[Path, typer.Argument(help="A .parquet or .csv file; replaces an existing one.")],
    storage: Url,
) -> None:
    """Write the log to a file, one row per trial, with the propensities of all arms.

    \b
    Example:
      dirichlet-bandits study export maize log.parquet \\
        --storage sqlite:///maize.db
    """
    db.load_study(name, storage).export(path)
    typer.echo(f"wrote {path}")


@app.command("replay")
def replay_command(name: Name, storage: Url) -> None:
    """Repeat all decisions from the stored events: exit code 0 if they match the records, 1 if not.

    \b
    Example:
      dirichlet-bandits study replay maize --storage sqlite:///maize.db
    """
    study = db.load_study(name, storage)
    with bars({name: 1}, None, "events") as bar:
        answer = study.replay(progress=lambda done, total: bar.show(name, done, total))
    typer.echo(str(answer))
    if not answer.same:
        raise typer.Exit(DIFFERENT)
