"""``dirichlet-bandits serve`` and ``keys``: studies over HTTP."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.study_options import Url
from dirichlet_bandits.errors import ArgumentError, MissingExtraError
from dirichlet_bandits.service import keys as keyring

NEEDED = ("fastapi", "uvicorn", "httptools", "jinja2", "multipart", "sqlalchemy")

keys = typer.Typer(
    help="Manage the keys of the HTTP service; only their hashes are stored.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Option("--keys", envvar="DIRICHLET_BANDITS_KEYS", help="File of keys.", dir_okay=False)]
KeyName = Annotated[str, typer.Argument(help="The user or program that the key is for.", show_default=False)]


def serve(
    storage: Url,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all interfaces.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 chooses a free one.")] = 8000,
    keys: Annotated[
        Path | None, typer.Option(envvar="DIRICHLET_BANDITS_KEYS", help="File made by 'dirichlet-bandits keys add'.")
    ] = None,
    open: Annotated[bool, typer.Option("--open", help="Use no keys: every program on this machine may write.")] = False,
) -> None:
    """Serve the studies of a storage over HTTP, with a dashboard at / and a description at /docs.

    The service needs a file of keys. With --open it needs none: every program on this machine may read and write, and
    the service listens only on a local address. It uses plain HTTP, so put a proxy with TLS in front of it before keys
    cross a network (docs/service.md). The policies of its studies are compiled in the background.

    \b
    Examples:
      dirichlet-bandits keys add field-app --scope manage --keys keys.txt
      dirichlet-bandits serve --storage sqlite:///maize.db --keys keys.txt
      dirichlet-bandits serve --storage sqlite:///maize.db --open
    """
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise MissingExtraError(
            f"The service needs the extra 'live' ({', '.join(missing)} missing): pip install 'dirichlet-bandits[live]'"
        )
    from dirichlet_bandits.service.app import create_app
    from dirichlet_bandits.service.guard import is_loopback
    from dirichlet_bandits.service.server import run

    if open and keys is not None:
        raise ArgumentError("--open", "omitted if there are keys", True)
    if open and not is_loopback(host):
        raise ArgumentError("--host", "a local address such as 127.0.0.1, with --open", host)
    if not open and keys is None:
        raise ArgumentError("--keys", "a file of keys ('dirichlet-bandits keys add' makes one), or use --open", None)
    known = None if keys is None else keyring.read_keys(keys)
    if known == []:
        raise ArgumentError("--keys", "a file with at least one key", str(keys))
    if port:
        typer.echo(f"dashboard: http://{host}:{port}/", err=True)
    run(create_app(storage, known, precompile=True), host, port)


@keys.command("add")
def add_command(
    name: KeyName,
    file: File,
    scope: Annotated[
        str, typer.Option(help="'read' may look, 'write' may also ask and tell, 'manage' may do everything.")
    ] = keyring.READ,
    study: Annotated[
        list[str] | None,
        typer.Option(help="Limit the key to this study; * is any text, NAME=SCOPE has its own scope; repeatable."),
    ] = None,
) -> None:
    """Make a key and print it once; it cannot be shown again. Restart a running service to use it.

    \b
    Examples:
      dirichlet-bandits keys add field-app --scope manage --keys keys.txt
      dirichlet-bandits keys add agronomist --scope write \\
        --study "maize*" --study wheat=read --keys keys.txt
    """
    typer.echo(keyring.add_key(file, name, scope, study or ()))


@keys.command("list")
def list_command(file: File, as_json: tables.AsJson = False, as_csv: tables.AsCsv = False) -> None:
    """Print the scope and name of each key, separated by a tab.

    \b
    Example:
      dirichlet-bandits keys list --keys keys.txt
    """
    form, known = tables.form_of(as_json, as_csv), keyring.read_keys(file)
    if form != "text":
        columns = [tables.Column("scope", "scope"), tables.Column("name", "name")]
        tables.show(tables.Table("", columns, [(key.rights, key.name) for key in known]), form)
        return
    for key in known:
        typer.echo(f"{key.rights}\t{key.name}")


@keys.command("remove")
def remove_command(name: KeyName, file: File) -> None:
    """Remove a key; a running service accepts it until it is restarted.

    \b
    Example:
      dirichlet-bandits keys remove field-app --keys keys.txt
    """
    keyring.remove_key(file, name)
    typer.echo(f"removed {name!r}")
