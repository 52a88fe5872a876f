"""``dirichlet-bandits study``: make live decisions from the command line."""

from pathlib import Path
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import study_tables, tables
from dirichlet_bandits.cli.study_options import (
    Archived,
    Attribute,
    Bounds,
    Id,
    Name,
    Reward,
    Segment,
    Token,
    Url,
    number_or_text,
    read_attributes,
    read_floor,
    read_history,
    read_table,
)
from dirichlet_bandits.display.progress import bars

DIFFERENT = 1

app = typer.Typer(
    help="Make live decisions: ask which arm to try, tell the reward later.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("create")
def create_command(
    name: Name,
    storage: Url,
    arm: Annotated[list[str], typer.Option(help="Name of an arm; repeatable.")],
    policy: Annotated[
        str, typer.Option(help="Policy with parameters; 'dirichlet-bandits policies' lists them.")
    ] = "RDS",
    seed: Annotated[int | None, typer.Option(help="The same seed and rewards give the same decisions.")] = None,
    minimize: Annotated[bool, typer.Option("--minimize", help="Treat rewards as costs: smaller is better.")] = False,
    control: Annotated[str | None, typer.Option(help="Arm that the others are compared with.")] = None,
    reward_unit: Annotated[str | None, typer.Option(help="Unit of the rewards, such as kg/ha; only shown.")] = None,
    bounds: Bounds = None,
    floor: Annotated[
        list[str] | None, typer.Option(help="Least probability of every arm, 0.1, or of one, ARM=0.2; repeatable.")
    ] = None,
    window: Annotated[
        str | None, typer.Option(help="When a missing reward is late: 24h, 30min, 7d or seconds.")
    ] = None,
    late: Annotated[
        str | None, typer.Option(help="What a late reward means: 'abandon', or a reward such as 0.")
    ] = None,
    segment: Annotated[list[str] | None, typer.Option(help="Segment that learns separately; repeatable.")] = None,
    history: Annotated[
        Path | None, typer.Option(help="Past rewards: a file with columns arm and reward.", exists=True, dir_okay=False)
    ] = None,
    weight: Annotated[float | None, typer.Option(help="Weight of each past reward, from 0 to 1.")] = None,
    borrow: Annotated[
        float | None, typer.Option(help="Weight of rewards in other segments, from 0 to 1 (experimental).")
    ] = None,
) -> None:
    """Create a study.

    \b
    Examples:
      dirichlet-bandits study create maize --storage sqlite:///maize.db \\
        --arm "26 Feb" --arm "13 Mar"
      dirichlet-bandits study create page --storage sqlite:///page.db \\
        --arm red --arm blue --policy "NPTS(upper=1)" --window 24h --late 0
    """
    direction = "minimize" if minimize else "maximize"
    study = db.create_study(
        name,
        arms=arm,
        policy=policy,
        storage=storage,
        seed=seed,
        direction=direction,
        control=control,
        reward_unit=reward_unit,
        bounds=bounds,
        floor=read_floor(floor),
        window=None if window is None else number_or_text(window),
        late=None if late is None else number_or_text(late),
        segments=segment or None,
        history=read_history(history),
        weight=weight,
        borrow=borrow,
    )
    typer.echo(f"created {name!r}: {study.policy!r}, {len(arm)} arms, seed {study.seed}")


@app.command("ask")
def ask_command(
    name: Name,
    storage: Url,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of trials.")] = 1,
    segment: Segment = None,
    unit: Annotated[str | None, typer.Option(help="Unit that keeps its arm, such as a user.")] = None,
    token: Token = None,
) -> None:
    """Print the next trials, one per line: id, arm and propensity, separated by tabs.

    \b
    Example:
      dirichlet-bandits study ask maize --storage sqlite:///maize.db -n 5
    """
    study = db.load_study(name, storage)
    if unit is not None and n != 1:
        raise db.ArgumentError("n", "1 with a unit, which gets one trial at a time", n)
    found = (
        study.ask(n, segment=segment, token=token)
        if unit is None
        else [study.ask(segment=segment, unit=unit, token=token)]
    )
    for trial in found:
        typer.echo(f"{trial.id}\t{trial.arm}\t{trial.propensity:.6g}")


@app.command("tell", context_settings={"ignore_unknown_options": True})
def tell_command(
    name: Name,
    id: Id,
    reward: Reward,
    storage: Url,
    note: Annotated[str | None, typer.Option(help="A note for the log.")] = None,
    attribute: Attribute = None,
    token: Token = None,
) -> None:
    """Store the reward of a trial. Repeating the same reward changes nothing; another reward is refused.

    \b
    Example:
      dirichlet-bandits study tell maize 0 3120 --storage sqlite:///maize.db
    """
    db.load_study(name, storage).tell(id, reward, note=note, attributes=read_attributes(attribute), token=token)
    typer.echo(f"trial {id}: {reward!r}")


@app.command("settle")
def settle_command(name: Name, storage: Url) -> None:
    """Close the windows that have ended. Commands that change a study do this first.

    \b
    Example:
      dirichlet-bandits study settle page --storage sqlite:///page.db
    """
    late = db.load_study(name, storage).settle()
    typer.echo(f"{len(late)} late" + (f": {', '.join(map(str, late))}" if late else ""))


@app.command("abandon")
def abandon_command(name: Name, id: Id, storage: Url, token: Token = None) -> None:
    """Abandon a trial whose reward will never come, so that it does not count.

    \b
    Example:
      dirichlet-bandits study abandon maize 3 --storage sqlite:///maize.db
    """
    db.load_study(name, storage).abandon(id, token=token)
    typer.echo(f"trial {id}: abandoned")


@app.command("reopen")
def reopen_command(name: Name, id: Id, storage: Url, token: Token = None) -> None:
    """Make an abandoned trial pending again.

    \b
    Example:
      dirichlet-bandits study reopen maize 3 --storage sqlite:///maize.db
    """
    db.load_study(name, storage).reopen(id, token=token)
    typer.echo(f"trial {id}: pending")


@app.command("void")
def void_command(
    name: Name,
    id: Id,
    reason: Annotated[str, typer.Argument(help="Reason, for the log.", show_default=False)],
    storage: Url,
    token: Token = None,
) -> None:
    """Withdraw the reward of a trial: it no longer counts, and the log keeps both events.

    \b
    Example:
      dirichlet-bandits study void maize 3 "wrong plot" \\
        --storage sqlite:///maize.db
    """
    db.load_study(name, storage).void(id, reason, token=token)
    typer.echo(f"trial {id}: voided")


@app.command("correct", context_settings={"ignore_unknown_options": True})
def correct_command(
    name: Name,
    id: Id,
    reward: Reward,
    storage: Url,
    reason: Annotated[str | None, typer.Option(help="Reason, for the log.")] = None,
    token: Token = None,
) -> None:
    """Replace the reward of a trial; the log keeps both rewards.

    \b
    Example:
      dirichlet-bandits study correct maize 3 3120 --reason "typed 31200" \\
        --storage sqlite:///maize.db
    """
    db.load_study(name, storage).correct(id, reward, reason, token=token)
    typer.echo(f"trial {id}: corrected to {reward!r}")


@app.command("annotate")
def annotate_command(
    name: Name,
    id: Id,
    storage: Url,
    note: Annotated[str | None, typer.Option(help="Note that replaces the stored one.")] = None,
    attribute: Attribute = None,
    token: Token = None,
) -> None:
    """Store a note or your own named values with a trial.

    \b
    Example:
      dirichlet-bandits study annotate maize 3 --note "hail in May" \\
        --attribute plot=7 --storage sqlite:///maize.db
    """
    db.load_study(name, storage).annotate(id, note=note, attributes=read_attributes(attribute), token=token)
    typer.echo(f"trial {id}: annotated")


@app.command("add-trials")
def add_trials_command(
    name: Name,
    path: Annotated[Path, typer.Argument(help="A .csv or .parquet file.", exists=True, dir_okay=False)],
    storage: Url,
    token: Annotated[
        str | None, typer.Option(help="Your name for this call; repeating it with the same name adds nothing.")
    ] = None,
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


@app.command("add-arm")
def add_arm_command(
    name: Name, arm: Annotated[str, typer.Argument(show_default=False)], storage: Url, token: Token = None
) -> None:
    """Add an arm, or bring a retired one back.

    \b
    Example:
      dirichlet-bandits study add-arm maize "12 Apr" --storage sqlite:///maize.db
    """
    db.load_study(name, storage).add_arm(arm, token=token)
    typer.echo(f"arm {arm!r}: active")


@app.command("retire-arm")
def retire_arm_command(
    name: Name, arm: Annotated[str, typer.Argument(show_default=False)], storage: Url, token: Token = None
) -> None:
    """Retire an arm: it is never chosen again, but its log stays.

    \b
    Example:
      dirichlet-bandits study retire-arm maize "26 Feb" \\
        --storage sqlite:///maize.db
    """
    db.load_study(name, storage).retire_arm(arm, token=token)
    typer.echo(f"arm {arm!r}: retired")


@app.command("winner")
def winner_command(
    name: Name,
    storage: Url,
    delta: Annotated[float, typer.Option(help="Probability of ever naming a wrong winner.")] = 0.05,
    margin: Annotated[float, typer.Option(help="How much worse than the best arm the winner may be.")] = 0.0,
    segment: Annotated[str | None, typer.Option(help="Compare arms within this segment; delta is per segment.")] = None,
    as_json: tables.AsJson = False,
) -> None:
    """Name the winner, or print what is missing to name one. A winner is stored and not withdrawn.

    The probability of error holds if each arm's rewards keep one mean; the output says what else must hold.

    \b
    Example:
      dirichlet-bandits study winner page --storage sqlite:///page.db
    """
    found = db.load_study(name, storage).winner(delta, margin, segment=segment)
    typer.echo(study_tables.winner_json(found) if as_json else str(found))


@app.command("set-floor")
def set_floor_command(
    name: Name,
    floor: Annotated[list[str], typer.Argument(help="0.1 for every arm, or ARM=0.2 for some; 0 for none.")],
    storage: Url,
    token: Token = None,
) -> None:
    """Change the least probability of each arm, whatever the policy would do.

    \b
    Examples:
      dirichlet-bandits study set-floor page 0.1 --storage sqlite:///page.db
      dirichlet-bandits study set-floor page red=0.2 --storage sqlite:///page.db
    """
    study = db.load_study(name, storage)
    study.set_floor(read_floor(floor), token=token)
    typer.echo(f"floor: {study_tables.floor_words(study.floor)}")


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
