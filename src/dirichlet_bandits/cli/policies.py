"""``dirichlet-bandits policies``: list the policies."""

import time
from functools import partial
from typing import Annotated

import typer

from dirichlet_bandits.cli import tables
from dirichlet_bandits.errors import ArgumentError, name_of


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


# ``dirichlet-bandits compile``: compile policies ahead of time


def compile(
    policies: Annotated[
        list[str] | None,
        typer.Argument(metavar="POLICY", help="Names listed by 'dirichlet-bandits policies'; default: all."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes, 1 GB each; default: one per core, at most four.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress bar.")] = False,
) -> None:
    """Compile policies for simulations and live studies, and keep the code for later processes.

    The code is kept beside the package, or in your cache folder if the package cannot be written. To choose another
    folder, for images and clusters, set the environment variable NUMBA_CACHE_DIR (docs/clusters.md).

    \b
    Examples:
      dirichlet-bandits compile RDS UCB1
      NUMBA_CACHE_DIR=/opt/compiled dirichlet-bandits compile
    """
    from dirichlet_bandits.environments import Bandit, Bernoulli
    from dirichlet_bandits.environments.sampler import compile_samplers
    from dirichlet_bandits.live.opening import compile_live
    from dirichlet_bandits.policies.registry import all_policies, has_propensities
    from dirichlet_bandits.simulation.compile_ahead import Job, Simulation, in_processes

    for name in policies or ():
        if name not in all_policies():
            raise ArgumentError("POLICY", name_of("a policy", all_policies(), name), name)
    chosen = list(dict.fromkeys(policies or all_policies()))
    bandit = Bandit([Bernoulli(0.4), Bernoulli(0.6)])
    jobs: list[Job] = [("the samplers of the arms", compile_samplers)]
    for name in chosen:
        kind = all_policies()[name]
        for policy in kind.examples():
            jobs.append(Simulation(bandit, policy).job)
            if has_propensities(kind):
                jobs.append((repr(policy), partial(compile_live, policy)))
    started = time.perf_counter()
    in_processes(jobs, workers=workers, progress=False if quiet else None, what="parts")
    seconds = time.perf_counter() - started
    typer.echo(f"compiled for simulations and live studies, in {seconds:.0f} s: {', '.join(chosen)}")
