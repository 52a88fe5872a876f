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
    from dirichlet_bandits.policies.interface import parameters
    from dirichlet_bandits.policies.registry import all_policies

    columns = [
        tables.Column("policy", "policy", prose=True),
        tables.Column("assumes", "assumes", prose=True),
        tables.Column("guarantee", "guarantee", prose=True),
        tables.Column("reference", "reference", prose=True),
    ]
    known = all_policies().items()
    rows = [(name, parameters(kind), kind.assumes, kind.guarantee, kind.reference) for name, kind in known]
    if form == "text":
        shown = [(f"{name}\n{given}".strip(), *others) for name, given, *others in rows]
        tables.show(tables.Table("Policies", columns, shown, lines=True))
    else:
        columns.insert(1, tables.Column("parameters", "parameters"))
        tables.show(tables.Table("Policies", columns, rows), form)


def markdown_table() -> str:
    """Return the Markdown table of all policies."""
    from dirichlet_bandits.policies.interface import parameters
    from dirichlet_bandits.policies.registry import all_policies

    lines = ["| policy | assumes | guarantee | reference |", "|---|---|---|---|"]
    for name, policy in all_policies().items():
        lines.append(f"| `{name}({parameters(policy)})` | {policy.assumes} | {policy.guarantee} | {policy.reference} |")
    return "\n".join(lines)
