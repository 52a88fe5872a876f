"""The app: every command and group is mounted here, and only here."""

import atexit
import gc
import os
import sys
from typing import Annotated

import typer

from dirichlet_bandits.cli import compare, compile, crops, example, paper, plan, policies, serve, simulate, study
from dirichlet_bandits.cli import verbose as verbosity
from dirichlet_bandits.cli.failures import name_options

_NEW_OBJECTS = 200_000  # before garbage is looked for; Python's own 700 suit programs that live longer

app = typer.Typer(
    cls=verbosity.VerboseAnywhere,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# A command is a function; a group of commands is a Typer of its own.
for command in (
    simulate.simulate,
    compare.compare,
    plan.plan,
    example.example,
    policies.policies,
    paper.paper,
    serve.serve,
    compile.compile,
):
    app.command()(command)
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
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Say on stderr what is compiled, stored and tried again; with any command."),
    ] = False,
) -> None:
    """Non-parametric stochastic bandits: Dirichlet Sampling and its competitors.

    The paper's experiments and a report:  dirichlet-bandits paper

    Which policy, by your past rewards:  dirichlet-bandits compare past.csv --horizon 1000

    Your own experiment:

    \b
      dirichlet-bandits example experiment.toml
      dirichlet-bandits simulate experiment.toml --out runs.zarr
    """
    if verbose:
        verbosity.log_to_stderr()


def run() -> None:
    """The whole program. After Ctrl-C it ends at once, even if a thread compiles, which nothing else can stop."""
    atexit.register(gc.freeze)  # nobody needs what a last look for garbage finds: it takes half a second
    if "study" in sys.argv:  # ends soon and makes hardly any garbage: looking for it takes a quarter of the time
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
