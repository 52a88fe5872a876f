"""The pages of the documentation site that list the commands, from their own help, and the policies."""

import html
import re
import textwrap
from typing import Any

import typer

from dirichlet_bandits.cli import app
from dirichlet_bandits.cli.policies import markdown_table


def policies() -> str:
    """What ``dirichlet-bandits policies`` lists, as a page."""
    said = "A guarantee holds where the assumption does. More on each family: `docs/policies.md`."
    return f"---\nhide: [toc]\n---\n\n# All policies\n\n{said}\n\n{markdown_table()}\n"


def command_line() -> str:
    """Every command with its arguments, options and help, as a page."""
    lines = ["# The command line", "", "Every command has `--help`, which says the same.", ""]
    describe(typer.main.get_command(app), "dirichlet-bandits", lines)
    return "\n".join(lines)


def describe(command: Any, name: str, lines: list[str]) -> None:
    """One command, or a group and its members."""
    context = typer.Context(command)
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    below = {member: command.get_command(context, member) for member in names}
    if command.help and not (below and name == "dirichlet-bandits"):
        parameters = [p for p in command.params if not getattr(p, "hidden", False) and p.name != "help"]
        said = "" if below else "".join(f" {usage(p)}" for p in parameters if p.param_type_name == "argument")
        lines += [f"## `{name}`", "", "```", f"{name}{said} [OPTIONS]" if not below else f"{name} COMMAND", "```", ""]
        lines += [as_markdown(command.help), ""]
        rows = [row(p) for p in parameters]
        lines += ["| | what it is |", "|---|---|", *rows, ""] if rows else []
    for member in below.values():
        if not member.hidden:
            describe(member, f"{name} {member.name}", lines)


def usage(parameter: Any) -> str:
    """An argument as the help of a command shows it."""
    shown = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
    return shown if parameter.required else f"[{shown}]"


def row(parameter: Any) -> str:
    """A parameter as a row of a table."""
    names = ", ".join(f"`{n}`" for n in [*parameter.opts, *parameter.secondary_opts])
    names = names if parameter.param_type_name == "option" else f"`{usage(parameter)}`"
    default = parameter.default
    shown = (
        "" if default is None or default is False or callable(default) or default == () else f" Default: `{default}`."
    )
    said = html.escape(re.sub(r"\s+", " ", getattr(parameter, "help", None) or ""), quote=False).replace("|", "\\|")
    return f"| {names} | {said}{shown} |"


def as_markdown(text: str) -> str:
    """The help of a command: what is indented, or marked for the terminal by ``\\b``, is an example."""
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.replace("\f", "")):
        if paragraph.startswith("\b"):
            paragraph = "```\n" + textwrap.dedent(paragraph.lstrip("\b\n")) + "\n```"
        paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)
