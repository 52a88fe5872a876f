"""``dirichlet-bandits policies``: list the policies."""

from typing import Annotated

import typer

from dirichlet_bandits.cli import tables


def policies(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
) -> None:
    """List the policies with their parameters, assumptions, guarantees and papers.

    \b
    Examples:
      dirichlet-bandits policies
      dirichlet-bandits policies --csv > policies.csv
    """
    form = tables.form_of(as_json, as_csv)
    if markdown:
        typer.echo(markdown_table())
        return
    rows, keys = _rows(), ("policy", "parameters", "assumes", "guarantee", "reference")
    columns = {key: key for key in keys if form != "text" or key != "parameters"}
    if form == "text":  # parameters are below the name
        rows = [(f"{name}\n{given}".strip(), *others) for name, given, *others in rows]
    tables.show(tables.Table("Policies", columns, rows, prose=columns, lines=True), form)


def _rows() -> list[tuple[str, ...]]:
    from dirichlet_bandits.policies.interface import parameters
    from dirichlet_bandits.policies.registry import all_policies

    known = all_policies().items()
    return [(name, parameters(kind), kind.assumes, kind.guarantee, kind.reference) for name, kind in known]


def markdown_table() -> str:
    """Return the Markdown table of all policies."""
    lines = ["| policy | assumes | guarantee | reference |", "|---|---|---|---|"]
    for name, given, *others in _rows():
        lines.append(f"| `{name}({given})` | {' | '.join(others)} |")
    return "\n".join(lines)
