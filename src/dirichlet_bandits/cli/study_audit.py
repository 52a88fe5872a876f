"""``dirichlet-bandits study events`` and ``study audit-log``: what happened, and which key of a service did it."""

from collections.abc import Iterable
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.study_options import Name, Url

_HEADERS = {"number": "event", "actor": "key", "at": "when"}


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
    from dirichlet_bandits.live.audit import AuditEvent

    form = tables.form_of(as_json, as_csv)
    _show(f"Events of {name}", AuditEvent._fields, db.load_study(name, storage).events(trial=trial, limit=n), form)


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
    from dirichlet_bandits.live.audit import MOST_ENTRIES, AuditEntry, audit_entry
    from dirichlet_bandits.storage import open_storage

    form = tables.form_of(as_json, as_csv)
    found = [audit_entry(entry) for entry in open_storage(storage).audit_log(MOST_ENTRIES, name)]
    _show("Changes of studies", AuditEntry._fields, found, form)


def _show(title: str, fields: Iterable[str], rows: Iterable[tuple[object, ...]], form: tables.Form) -> None:
    columns = [tables.Column(field, _HEADERS.get(field, field)) for field in fields]
    at = [column.key for column in columns].index("at")
    written = [(*row[:at], f"{row[at]:%Y-%m-%dT%H:%M:%SZ}", *row[at + 1 :]) for row in rows]
    tables.show(tables.Table(title, columns, written), form)
