"""``dirichlet-bandits compile``: compile policies ahead of time."""

import dataclasses
import time
from functools import partial
from typing import Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.errors import ArgumentError, name_of

# Compiled code depends on a policy's type, not on its parameters, so any valid ones will do.
_ANY = {
    "family": "gaussian",
    "sigma": 1.0,
    "lower": 0.0,
    "upper": 1.0,
    "binary": True,
    "level": 0.5,
    "support": (0.0, 1.0),
    "horizon": 1000,
    "window": 100,
    "segments": 2,
    "changes": 1,
}


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
    from dirichlet_bandits.live.compile_live import compile_live
    from dirichlet_bandits.policies.catalogue import POLICIES
    from dirichlet_bandits.policies.registry import has_propensities
    from dirichlet_bandits.simulation.compile_ahead import Job, Simulation, in_processes

    for name in policies or ():
        if name not in POLICIES:
            raise ArgumentError("POLICY", name_of("a policy", POLICIES, name), name)
    chosen = list(dict.fromkeys(policies or POLICIES))
    bandit = Bandit([Bernoulli(0.4), Bernoulli(0.6)])
    jobs: list[Job] = [("the samplers of the arms", compile_samplers)]
    for name in chosen:
        kind = POLICIES[name]
        for policy in [sound_example(kind, other) for other in kind.wraps] or [sound_example(kind)]:
            jobs.append(Simulation(bandit, policy).job)
            if has_propensities(kind):
                jobs.append((repr(policy), partial(compile_live, policy)))
    started = time.perf_counter()
    in_processes(jobs, workers=workers, progress=False if quiet else None, what="parts")
    seconds = time.perf_counter() - started
    typer.echo(f"compiled for simulations and live studies, in {seconds:.0f} s: {', '.join(chosen)}")


def sound_example(kind: "type[db.Policy]", inner: str | None = None) -> "db.Policy":
    """Make a policy of this class with valid but arbitrary parameters.

    Optional parameters are left out, except ``binary``, because live studies refuse some policies without it.
    ``inner`` names the class that a policy wraps, by default the first that it can.
    """
    fields: Any = dataclasses.fields(kind)  # type: ignore[arg-type]
    if kind.wraps:
        wrapped = sound_example(getattr(db, inner or kind.wraps[0]))
        given = {"policy": wrapped, "window": 100, "gamma": 0.9, "floor": 0.1}
        return kind(**{field.name: given[field.name] for field in fields if field.default is dataclasses.MISSING})
    known = [field for field in fields if field.name in _ANY]
    needed = {
        field.name: _ANY[field.name]
        for field in known
        if field.default is dataclasses.MISSING or field.name == "binary"
    }
    try:
        return kind(**needed)
    except ArgumentError:
        given = {field.name: _ANY[field.name] for field in known}
        if {"family", "upper"} <= given.keys():  # one or the other
            del given["upper"]
        return kind(**given)
