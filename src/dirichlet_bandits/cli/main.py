"""The app, where every command and group is registered."""

import atexit
import gc
import os
import sys
from typing import Annotated

import typer

from dirichlet_bandits.cli import compare, crops, policies, serve, simulate, study
from dirichlet_bandits.cli.declared_commands import DeclaredCommand
from dirichlet_bandits.cli.failures import VerboseAnywhere, log_to_stderr, name_options

_NEW_OBJECTS = 200_000  # allocations before a garbage collection; Python's default of 700 suits long-running programs

app = typer.Typer(
    cls=VerboseAnywhere,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# A command is a function; a group of commands is a Typer of its own.
for command in (simulate.simulate, compare.compare, simulate.example, policies.policies, simulate.paper, serve.serve):
    app.command()(command)
app.command()(policies.compile)
app.command(cls=DeclaredCommand)(compare.plan)
app.add_typer(crops.app, name="crops")
app.add_typer(study.app, name="study")
app.add_typer(serve.keys, name="keys")
name_options(app)


def _show_version(asked: bool) -> None:
    if asked:
        import importlib.metadata

        typer.echo(f"dirichlet-bandits {importlib.metadata.version('dirichlet-bandits')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Log to stderr what is compiled, stored and retried; works with any command."),
    ] = False,
) -> None:
    """Non-parametric stochastic bandits: Dirichlet Sampling and its competitors.

    Reproduce the paper's experiments:  dirichlet-bandits paper

    Choose a policy from past rewards:  dirichlet-bandits compare past.csv --horizon 1000

    Run your own experiment:

    \b
      dirichlet-bandits example experiment.toml
      dirichlet-bandits simulate experiment.toml --out runs.zarr
    """
    if verbose:
        log_to_stderr()


def run() -> None:
    """Run the whole program. After Ctrl-C it ends at once, even if a thread is compiling."""
    atexit.register(gc.freeze)  # a last garbage collection would take half a second
    if "study" in sys.argv:  # a short run makes little garbage, and collecting it takes a quarter of the time
        gc.set_threshold(_NEW_OBJECTS, 30, 30)
    try:
        app(prog_name="dirichlet-bandits")
    except SystemExit as end:
        compiler = sys.modules.get("dirichlet_bandits.compiler")
        if compiler is not None and compiler.compiling():
            compiler.stop_spinner()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code if isinstance(end.code, int) else 1)
        raise
