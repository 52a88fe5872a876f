"""``dirichlet-bandits serve`` and ``keys``: studies over HTTP."""

import importlib.util
import io
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import group
from dirichlet_bandits.cli.study_options import Url
from dirichlet_bandits.errors import ArgumentError, missing_extra
from dirichlet_bandits.service import keys as keyring

if TYPE_CHECKING:
    from dirichlet_bandits.service.keys import Sessions

NEEDED = ("fastapi", "uvicorn", "httptools", "jinja2", "multipart", "sqlalchemy", "segno")

keys = group("Manage the keys of the HTTP service; only their hashes are stored.")

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
    url: Annotated[
        str | None, typer.Option(help="Address under which clients reach the service, if a proxy is in front of it.")
    ] = None,
    webhook: Annotated[
        str | None, typer.Option(help="Address to which winners, drift, silence and failed replays are reported.")
    ] = None,
    webhook_secret: Annotated[
        str | None,
        typer.Option(envvar="DIRICHLET_BANDITS_WEBHOOK_SECRET", help="Secret that signs the reports.", hidden=True),
    ] = None,
    silence: Annotated[
        str | None, typer.Option(help="Report a study without an ask or a reward for this long: 24h, 30min, 7d.")
    ] = None,
) -> None:
    """Serve the studies of a storage over HTTP, with a dashboard at / and a description at /docs.

    The service needs a file of keys. With --open it needs none: every program on this machine may read and write, and
    the service listens only on a local address. It uses plain HTTP, so put a proxy with TLS in front of it before keys
    cross a network (docs/service.md). The policies of its studies are compiled in the background. A webhook needs a
    secret in the environment variable DIRICHLET_BANDITS_WEBHOOK_SECRET, which signs its messages.

    In a terminal, it prints a link that signs in once, with the first key that may manage all studies. If a phone can
    reach the address (--host 0.0.0.0, or --url), it also prints the link as a QR code.

    \b
    Examples:
      dirichlet-bandits keys add field-app --scope manage --keys keys.txt
      dirichlet-bandits serve --storage sqlite:///maize.db --keys keys.txt
      dirichlet-bandits serve --storage sqlite:///maize.db --open
    """
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise missing_extra("The service needs", "live", f" ({', '.join(missing)} missing)")
    from dirichlet_bandits.live.lateness import seconds
    from dirichlet_bandits.service.app import create_app, run
    from dirichlet_bandits.service.guard import is_loopback
    from dirichlet_bandits.service.keys import Sessions
    from dirichlet_bandits.service.webhook import checked_webhook

    if open and keys is not None:
        raise ArgumentError("--open", "omitted if there are keys", True)
    if open and not is_loopback(host):
        raise ArgumentError("--host", "a local address such as 127.0.0.1, with --open", host)
    if not open and keys is None:
        raise ArgumentError("--keys", "a file of keys ('dirichlet-bandits keys add' makes one), or use --open", None)
    known = None if keys is None else keyring.read_keys(keys)
    if known == []:
        raise ArgumentError("--keys", "a file with at least one key", str(keys))
    if webhook is None and silence is not None:
        raise ArgumentError("--silence", "omitted without --webhook", silence)
    quiet = None if silence is None else seconds(silence, "silence")
    told = None if webhook is None else checked_webhook(webhook, webhook_secret, quiet)
    address, sessions = public_address(url, host, port), Sessions()
    if port or url is not None:
        typer.echo(f"dashboard: {address}/", err=True)
        if known is not None and sys.stderr.isatty():  # a log must not keep a link
            typer.echo(invitation(address, known, sessions), err=True)
    app = create_app(storage, known, precompile=True, webhook=told, sessions=sessions, address=url and address)
    run(app, host, port)


def public_address(url: str | None, host: str, port: int) -> str:
    """Return the address of the service: the one that was declared, else that of this machine in its network.

    >>> public_address("https://bandits.example.org/", "127.0.0.1", 8000), public_address(None, "127.0.0.1", 8000)
    ('https://bandits.example.org', 'http://127.0.0.1:8000')
    """
    if url is not None:
        if not url.startswith(("http://", "https://")) or any(sign in url for sign in "?# "):
            raise ArgumentError("--url", "an address such as https://bandits.example.org", url)
        return url.rstrip("/")
    if host in ("0.0.0.0", "::"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing, but chooses the interface
                host = probe.getsockname()[0]
            except OSError:
                host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def invitation(address: str, known: Sequence[keyring.Key], sessions: "Sessions") -> str:
    """Return a link that signs in once, with the first key that may do the most, and its QR code for phones."""
    import segno

    from dirichlet_bandits.service.guard import host_of, is_loopback
    from dirichlet_bandits.service.keys import LINK_LIFETIME, link

    key = next((key for key in known if key.scope == keyring.MANAGE), known[0])
    made = link(address, sessions.invite(key))
    words = f"sign in as {key.name!r}, once, within {LINK_LIFETIME / 60:.0f} minutes: {made}"
    if is_loopback(host_of(address)):
        return words
    picture = io.StringIO()
    segno.make(made, micro=False).terminal(out=picture, compact=True)
    return f"{words}\n{picture.getvalue()}"


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
        columns = {"scope": "scope", "name": "name"}
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
