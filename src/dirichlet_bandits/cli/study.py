"""``dirichlet-bandits study``: make live decisions from the command line."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.answers import written
from dirichlet_bandits.cli import study_tables, tables
from dirichlet_bandits.cli.declared_commands import DeclaredCommand, fields_of
from dirichlet_bandits.cli.failures import group
from dirichlet_bandits.cli.study_operations import StudyCommands, sure
from dirichlet_bandits.cli.study_options import (
    Archived,
    Name,
    Segment,
    Token,
    Url,
    read_history,
    read_shares,
    read_table,
)
from dirichlet_bandits.display.numbers import number, percent
from dirichlet_bandits.display.progress import bars

app = group("Make live decisions: ask which arm to try, tell the reward later.", StudyCommands)


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
        raise typer.Exit(1)


_HEADERS = {"number": "event", "actor": "key", "at": "when"}


@app.command()
def events(
    name: Name,
    storage: Url,
    trial: Annotated[int | None, typer.Option(min=0, help="Print only what happened to this trial.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, max=10_000, help="Number of events.")] = 20,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
) -> None:
    """Print the newest events of a study, newest first, and the key of the service that caused each of them.

    The key is empty if no service was used, or if the event is older than this record.

    \b
    Examples:
      dirichlet-bandits study events maize --storage sqlite:///maize.db
      dirichlet-bandits study events maize --trial 7 \\
        --storage sqlite:///maize.db
    """
    from dirichlet_bandits.live.readings import AuditEvent

    form = tables.form_of(as_json, as_csv)
    _show(f"Events of {name}", AuditEvent._fields, db.load_study(name, storage).events(trial=trial, limit=n), form)


@app.command()
def audit_log(
    storage: Url,
    name: Annotated[str | None, typer.Argument(help="Name of a study; if omitted, all of them.")] = None,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
) -> None:
    """Print which key created, renamed, archived or deleted a study, newest first.

    \b
    Example:
      dirichlet-bandits study audit-log --storage sqlite:///maize.db
    """
    from dirichlet_bandits.live.readings import MOST_ENTRIES, AuditEntry, audit_entry
    from dirichlet_bandits.storage import open_storage

    form = tables.form_of(as_json, as_csv)
    found = [audit_entry(entry) for entry in open_storage(storage).audit_log(MOST_ENTRIES, name)]
    _show("Changes of studies", AuditEntry._fields, found, form)


def _show(title: str, fields: Iterable[str], rows: Iterable[tuple[object, ...]], form: tables.Form) -> None:
    columns = {field: _HEADERS.get(field, field) for field in fields}
    at = list(columns).index("at")
    written = [(*row[:at], f"{row[at]:%Y-%m-%dT%H:%M:%SZ}", *row[at + 1 :]) for row in rows]
    tables.show(tables.Table(title, columns, written), form)


Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="LOWER UPPER", help="Bounds of all rewards, if the study has none."),
]

Confidence = Annotated[float, typer.Option(help="Probability that the interval is right, at all times at once.")]


@app.command()
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
        raise db.errors.ArgumentError("arm", "given, or else policy", arm)
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
