"""``dirichlet-bandits compile``: compile policies ahead of time."""

import time
from functools import partial
from typing import Annotated

import typer

from dirichlet_bandits.errors import ArgumentError, name_of


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
