"""``dirichlet-bandits policies``: what there is to choose from."""

from typing import Annotated

import typer

from dirichlet_bandits.cli import tables


def policies(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a table for a README.")] = False,
) -> None:
    """List the policies: parameters, assumptions, what is then proved, papers.

    \b
    Example:
      dirichlet-bandits policies
    """
    if markdown:
        typer.echo(markdown_table())
        return
    from dirichlet_bandits.policies import POLICIES
    from dirichlet_bandits.policies.interface import parameters

    rows = [
        (f"{name}\n{parameters(policy)}".strip(), policy.assumes, policy.guarantee, policy.reference)
        for name, policy in POLICIES.items()
    ]
    headers = ("policy", "assumes of the rewards", "guarantee", "reference")
    tables.show(tables.table("Policies", headers, rows, lines=True))


def markdown_table() -> str:
    """The table of all policies as it stands in README.md."""
    from dirichlet_bandits.policies import POLICIES
    from dirichlet_bandits.policies.interface import parameters

    lines = ["| policy | assumes of the rewards | guarantee | reference |", "|---|---|---|---|"]
    for name, policy in POLICIES.items():
        lines.append(f"| `{name}({parameters(policy)})` | {policy.assumes} | {policy.guarantee} | {policy.reference} |")
    return "\n".join(lines)
