"""Read an :class:`Experiment` from TOML; every key is checked before anything is computed.

Messages name the file and the path of the key, for instance ``arms[1].std``.
"""

import importlib
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dirichlet_bandits import environments, specs
from dirichlet_bandits.environments import Bandit, CVaR, Environment, Geometric, Law, Mean, Objective, Pareto, Piecewise
from dirichlet_bandits.environments.feedback import AT_ONCE
from dirichlet_bandits.errors import ArgumentError, FormatError, one_of
from dirichlet_bandits.experiments.experiment import Experiment
from dirichlet_bandits.experiments.rewards import read_means, read_values
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.written import policy_from_table, short_names
from dirichlet_bandits.report.claims import Claim, Panel, PlotSettings, Printed, Published
from dirichlet_bandits.simulation.plan import AnyPolicy
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.specs import FieldError
from dirichlet_bandits.validation import whole_number

if TYPE_CHECKING:
    from dirichlet_bandits.experiments.kinf_study import KinfStudy
    from dirichlet_bandits.experiments.qds_study import QDSStudy
    from dirichlet_bandits.experiments.random_arms import RandomArms

_PUBLIC = {name: getattr(environments, name) for name in dir(environments)}
LAWS: dict[str, type[Law]] = {
    name: law for name, law in _PUBLIC.items() if isinstance(law, type) and issubclass(law, Law) and law is not Law
}
DELAYS: dict[str, Callable[..., Any]] = {**LAWS, "Geometric": Geometric, "Pareto": Pareto}
OBJECTIVES: dict[str, Callable[..., Objective]] = {"mean": lambda: Mean(), "CVaR": CVaR}
_SCALE = ("horizon", "replications", "seed")
_FEEDBACK = tuple(AT_ONCE)
TABLES: dict[str, Callable[..., Environment]] = {
    kind.in_files: kind for kind in _PUBLIC.values() if getattr(kind, "in_files", None)
}
_ARMS = ("arms", "segments", *TABLES, "problem", "objective")
_TOP = ("title", *_SCALE, *_FEEDBACK, *_ARMS, "policies", "plot", "figures", "paper", "claims")
_HERE = Path()
_PLOT = tuple(PlotSettings.fields)
_STUDIES: Final = {"kinf": "kinf_study", "qds-condition": "qds_study", "random-arms": "random_arms"}

T = TypeVar("T")


def _maize_planting(dates: str = "all") -> Bandit:
    from dirichlet_bandits.crops import maize_planting  # only those who plant load the crop model

    return maize_planting(dates)


PROBLEMS: dict[str, Callable[..., Bandit]] = {"maize_planting": _maize_planting}


def read(path: str | PathLike[str]) -> Experiment:
    """Read and check an experiment; without a ``title``, it is named after its file.

    >>> read("no-such-file.toml")
    Traceback (most recent call last):
    FileNotFoundError: no experiment at 'no-such-file.toml'
    """
    return parse(_text(path), source=str(path))


def read_bandit(path: str | PathLike[str]) -> Environment:
    """Read the environment of an experiment's file, which may contain only the arms and the objective."""

    def bandit(content: Mapping[str, Any], _: str) -> Environment:
        specs.check_keys(content, _TOP)
        found: Environment = _bandit(content, Path(path).parent)
        return found

    return parse_with(bandit, _text(path), str(path))


def read_feedback(path: str | PathLike[str]) -> dict[str, Any]:
    """Read when rewards become known in an experiment's file: its delay, window, late and batch, if any."""
    return parse_with(lambda content, _: _feedback(content), _text(path), str(path))


def _text(path: str | PathLike[str]) -> str:
    """Return the text of an experiment's file."""
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"no experiment at {str(path)!r}")
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not a TOML file: {error}") from error


def parse(text: str, source: str = "experiment.toml") -> Experiment:
    """Parse the experiment that a TOML text describes; ``source`` is the file name that messages show.

    Relative files and modules are looked up in the folder of ``source``.

    >>> parse("horizon = 100")
    Traceback (most recent call last):
    dirichlet_bandits.errors.FormatError: experiment.toml: 'replications' is missing
    """
    return parse_with(partial(_experiment, folder=Path(source).parent), text, source)


def parse_study(text: str, source: str = "study.toml") -> "KinfStudy | QDSStudy | RandomArms":
    """Parse another study than a simulation of one bandit, which the key ``study`` of a TOML text names.

    >>> parse_study('study = "magic"')
    Traceback (most recent call last):
    dirichlet_bandits.errors.FormatError: study.toml: 'study' must be one of 'kinf', 'qds-condition', 'random-arms' \
(got 'magic')
    """
    return parse_with(_study, text, source)


def _study(content: Mapping[str, Any], default_title: str) -> "KinfStudy | QDSStudy | RandomArms":
    if content.get("study") not in _STUDIES:
        raise ArgumentError("study", one_of(_STUDIES), content.get("study"))
    home = importlib.import_module(f"dirichlet_bandits.experiments.{_STUDIES[content['study']]}")
    found: KinfStudy | QDSStudy | RandomArms = home.from_file(content, default_title)
    return found


def parse_with(maker: Callable[[Mapping[str, Any], str], T], text: str, source: str) -> T:
    """Apply ``maker`` to the content of a TOML text and the title to use if it has none."""
    try:
        content = tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise FormatError(f"{source}: not a TOML file: nested too deeply") from None
    except ValueError as error:  # of TOML, or a number of more than 4,300 digits
        raise FormatError(f"{source}: not a TOML file: {error}") from error
    try:
        return maker(content, Path(source).stem)
    except (ArgumentError, FieldError) as error:
        raise FormatError(f"{source}: {error}") from error


def published(content: Mapping[str, Any]) -> Published | None:
    """Read the table ``[paper]`` on the publication; return None without one."""
    table = specs.one_table(content, "paper")
    if table is None:
        return None
    rows = specs.under("paper", specs.one_table, table, "printed") or {}
    printed = {}
    for name, row in rows.items():
        if not isinstance(row, dict):
            raise ArgumentError(
                f"paper.printed.{name}", "a table with mean, and std, q05 and q95 if they are known", row
            )
        printed[name] = specs.make(f"paper.printed.{name}", Printed, row, called="a printed row")
    given = {key: value.strip() if isinstance(value, str) else value for key, value in table.items()}
    return specs.make("paper", Published, {**given, "printed": printed}, called="[paper]")


def _experiment(content: Mapping[str, Any], default_title: str, folder: Path) -> Experiment:
    """Make an experiment from the content of its file."""
    if "study" in content:
        raise FieldError("a file with 'study' is not a simulation of regret; see 'dirichlet-bandits paper --help'")
    specs.check_keys(content, _TOP, (*_SCALE, "policies"))
    plot = specs.one_table(content, "plot") or {}
    specs.check_keys(plot, _PLOT, prefix="plot.")
    return Experiment(
        title=content.get("title", default_title),
        bandit=_bandit(content, folder),
        policies=policies(content, folder),
        plot=specs.under("plot", PlotSettings, **plot),
        figures=specs.make_all(content, "figures", "policies", Panel, called="a figure"),
        paper=published(content),
        claims=specs.make_all(content, "claims", "words", Claim, called="a claim"),
        feedback=_feedback(content),
        **{key: content[key] for key in _SCALE},
    )


def objective_of(content: Mapping[str, Any]) -> Objective | None:
    """Return the objective that the table ``[objective]`` names, or None without one."""
    goal = specs.one_table(content, "objective")
    return None if goal is None else specs.choose("objective", "name", OBJECTIVES, goal)


def _feedback(content: Mapping[str, Any]) -> dict[str, Any]:
    """Read when rewards become known; a delay may be a number, a table with a distribution, or a list of these."""
    found = {key: content[key] for key in _FEEDBACK if key in content}
    if "delay" in found:
        several = isinstance(found["delay"], list)
        delays = [_delay(delay) for delay in (found["delay"] if several else [found["delay"]])]
        found["delay"] = delays if several else delays[0]
    return found


def _delay(value: Any) -> Any:
    return specs.choose("delay", "law", DELAYS, value) if isinstance(value, dict) else value


def _piecewise(content: Mapping[str, Any], folder: Path) -> Piecewise:
    """Make the environment of the tables ``[[segments]]``, each with its ``first`` pull and ``[[segments.arms]]``."""
    segments: dict[int, tuple[list[Law], list[str]]] = {}
    for k, table in enumerate(specs.all_tables(content, "segments", "first")):
        specs.check_keys(table, ("first", "arms"), ("first",), f"segments[{k}].")
        first = whole_number(f"segments[{k}].first", table["first"], at_least=1)
        if segments and first <= max(segments):
            raise FieldError(
                f"'segments' must be in increasing order of their first pulls (got {first} after {max(segments)})"
            )
        segments[first] = specs.under(f"segments[{k}]", _arms, table, folder)
    names = [names for _, names in segments.values()]
    if any(other != names[0] for other in names):
        raise FieldError("'segments' must have the same arms in the same order")
    return Piecewise({first: laws for first, (laws, _) in segments.items()}, names[0], objective=objective_of(content))


def _of_table(where: str, table: Mapping[str, Any], folder: Path) -> Environment:
    """Make the environment of a table such as ``[drifting]``, whose ``means`` are rows or the name of a CSV file."""
    given = dict(table)
    if isinstance(given.get("means"), str):
        path = _file(f"{where}.means", "rows of numbers", folder, given["means"])
        given["names"], given["means"] = read_means(path)
    for key, value in given.items():
        if isinstance(value, dict):
            given[key] = specs.choose(f"{where}.{key}", "law", LAWS, value)
    return specs.make(where, TABLES[where], given, called=f"[{where}]")


def _bandit(content: Mapping[str, Any], folder: Path) -> Any:
    """Make the environment of ``[[arms]]``, ``[problem]``, ``[[segments]]`` or a table of its own."""
    given = [key for key in _ARMS[:-1] if key in content]
    if len(given) > 1:
        raise FieldError(f"'{given[1]}' defines all the arms: remove '{given[0]}'")
    if "segments" in content:
        return _piecewise(content, folder)
    objective = objective_of(content)
    if given and given[0] in TABLES:
        if objective not in (None, Mean()):
            raise FieldError(f"'objective' must be the mean for [{given[0]}]")
        return _of_table(given[0], specs.one_table(content, given[0]) or {}, folder)
    problem = specs.one_table(content, "problem")
    if problem is not None:
        named = specs.choose("problem", "name", PROBLEMS, problem)
        return named if objective is None else Bandit(named.arms, named.names, objective=objective)
    chosen, called = _arms(content, folder)
    return Bandit(chosen, called, objective=objective)


def _arms(content: Mapping[str, Any], folder: Path) -> tuple[list[Law], list[str]]:
    """Return the distributions of the tables ``[[arms]]`` and their names."""
    specs.check_keys(content, content, ("arms",))
    tables = specs.all_tables(content, "arms", "law")
    if len(tables) < 2:
        raise FieldError(f"'arms' must be at least two tables [[arms]] (got {len(tables)})")
    chosen = [_law(f"arms[{k}]", table, folder) for k, table in enumerate(tables)]
    return chosen, specs.table_names("arms", tables, [f"arm {k}" for k in range(len(tables))])


def _law(where: str, table: dict[str, Any], folder: Path) -> Law:
    """Make a distribution; ``values`` may be the name of a CSV file, with the ``column`` that has them."""
    if isinstance(table.get("values"), str):
        path = _file(f"{where}.values", "a list of numbers", folder, table["values"])
        column = table.get("column")
        if not isinstance(column, str | None):
            raise ArgumentError(f"{where}.column", "a text", column)
        table = {key: value for key, value in table.items() if key != "column"}
        table["values"] = read_values(path, column)
    return specs.choose(where, "law", LAWS, table)


def _file(name: str, otherwise: str, folder: Path, given: str) -> Path:
    """Return the path of a CSV file that a key names instead of containing numbers."""
    path = folder / given
    if not path.is_file():
        raise ArgumentError(name, f"{otherwise}, or a CSV file that exists", str(path))
    return path


def _policy(where: str, table: dict[str, Any], folder: Path) -> AnyPolicy:
    """Make a policy of the library, or the user's own by its import path."""
    text = table.get("policy")
    if not _is_import_path(text):
        return policy_from_table(where, table)
    maker = _find_class(f"{where}.policy", str(text), folder)
    parameters = {key: value for key, value in table.items() if key not in ("name", "policy")}
    return _checked(where, specs.make(where, maker, parameters, called=str(text)))


def policies(content: Mapping[str, Any], folder: Path = _HERE) -> dict[str, AnyPolicy]:
    """Return the policies of the tables ``[[policies]]`` by name; the user's modules are looked up in the folder."""
    tables = specs.all_tables(content, "policies", "policy")
    if not tables:
        raise FieldError("'policies' must be at least one table [[policies]] (got 0)")
    chosen = [_policy(f"policies[{k}]", table, folder) for k, table in enumerate(tables)]
    taken = {str(table["name"]) for table in tables if "name" in table}
    unnamed = [policy for policy, table in zip(chosen, tables, strict=True) if "name" not in table]
    short = iter(short_names(unnamed, taken))
    defaults = ["" if "name" in table else next(short) for table in tables]
    return dict(zip(specs.table_names("policies", tables, defaults), chosen, strict=True))


def _is_import_path(text: object) -> bool:
    """Whether a policy is named by its import path, not by a name of the library.

    >>> _is_import_path("mine:Greedy"), _is_import_path("RDS")
    (True, False)
    """
    return isinstance(text, str) and ":" in text


def _find_class(where: str, text: str, folder: Path) -> Callable[..., Any]:
    """Import the class that ``text`` names, from a module beside the experiment's file or on Python's path.

    Importing a module runs its code.
    """
    module_name, _, name = text.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module_name.split(".")):
        raise ArgumentError(where, "a policy of the library, or 'module:Class'", text)
    module = _module(where, module_name, folder)
    found = getattr(module, name, None)
    if not isinstance(found, type):
        classes = [key for key, value in vars(module).items() if isinstance(value, type) and key[0] != "_"]
        raise FieldError(
            f"'{where}': no class {name!r} in {module_name!r} (its classes: {', '.join(classes) or 'none'})"
        )
    if not issubclass(found, Policy) and not all(callable(getattr(found, verb, None)) for verb in ("select", "update")):
        raise ArgumentError(where, "a class with select(rng) and update(arm, reward), or a Policy", text)
    return found


def _checked(where: str, policy: Any) -> Any:
    """Return the policy if it is one, else raise an error."""
    if not isinstance(policy, Policy | PythonPolicy):
        raise ArgumentError(where, "a policy, or an object with select(rng) and update(arm, reward)", policy)
    return policy


def _module(where: str, name: str, folder: Path) -> Any:
    beside = folder.resolve().joinpath(*name.split(".")).with_suffix(".py")
    loaded = sys.modules.get(name)
    if loaded is not None and beside.is_file() and Path(str(loaded.__file__)).resolve() != beside:
        raise FieldError(f"'{where}': another module {name!r} is already loaded from {loaded.__file__}: rename yours")
    with _first_looked_in(folder):
        try:
            return importlib.import_module(name)
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and error.name is not None and name.startswith(error.name):
                raise FieldError(f"'{where}': no module {name!r} beside the file or on Python's path") from error
            raise FieldError(f"'{where}': module {name!r} cannot be imported: {error!r}") from error


@contextmanager
def _first_looked_in(folder: Path) -> Iterator[None]:
    """Let Python look for modules in a folder first."""
    place = str(folder.resolve())
    sys.path.insert(0, place)
    try:
        importlib.invalidate_caches()
        yield
    finally:
        sys.path.remove(place)
