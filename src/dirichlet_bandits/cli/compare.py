"""``dirichlet-bandits compare`` and ``plan``: the policy that does best on past rewards, and how long a study takes."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.declared_commands import fields_of
from dirichlet_bandits.cli.failures import INTERRUPTED, in_options
from dirichlet_bandits.cli.tables import Forgiving, Wide, read_past_rewards
from dirichlet_bandits.display.numbers import in_percent, interval, number
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.specs import Language


def compare(
    file: Annotated[
        Path, typer.Argument(help="A .csv file of past rewards, or a .toml file of arms as for 'simulate'.")
    ],
    horizon: Annotated[int, typer.Option(help="Number of decisions to make.", show_default=False)],
    arm: Annotated[str | None, typer.Option(help="Column of arms; default: 'arm', 'option' or the first.")] = None,
    reward: Annotated[str | None, typer.Option(help="Column of rewards; default: 'reward' or the second.")] = None,
    wide: Wide = False,
    forgiving: Forgiving = False,
    bounds: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOWER UPPER", help="Bounds of all future rewards; -inf or inf if unknown."),
    ] = None,
    sigma: Annotated[float | None, typer.Option(help="Upper bound on the standard deviation of every arm.")] = None,
    ordered: Annotated[
        bool, typer.Option("--ordered", help="In the order of the arms, means rise and then fall.")
    ] = False,
    level: Annotated[
        float | None, typer.Option(help="Judge arms by the mean of this share of their worst rewards.")
    ] = None,
    period: Annotated[
        str | None, typer.Option(help="Column of periods, such as years; arms change between periods.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option(help="Pulls until a reward is known: 20, 'Geometric(0.1)', 'Pareto(1.5)'.")
    ] = None,
    window: Annotated[int | None, typer.Option(help="Rewards that take more pulls than this are late.")] = None,
    late: Annotated[str | None, typer.Option(help="What late rewards count as: 'abandon' or a number.")] = None,
    batch: Annotated[
        str | None, typer.Option(help="Batches of decisions: a size, 'geometric', 'minimax' or sizes 10,20,70.")
    ] = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="Try only this policy, RDS or 'QDS(rho=8, alpha=0.1)'; repeatable.")
    ] = None,
    replications: Annotated[int, typer.Option(help="Number of times each policy plays.")] = 200,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    workers: tables.Workers = None,
    out: Annotated[Path | None, typer.Option(help="File for a plot of the ranking: .png, .pdf or .svg.")] = None,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
    quiet: tables.Quiet = False,
) -> None:
    """Run every policy that applies on past rewards, and rank them by their regret. Ctrl-C ranks what is finished.

    Each arm draws its rewards from its past ones, with replacement. If a policy needs a fact that you did not give,
    such as a bound, it is left out, and the second table gives the reason. Each policy is compiled once, so the first
    run takes minutes unless --policy names a few.

    Examples:

    \b
      dirichlet-bandits compare past.csv --horizon 1000
      dirichlet-bandits compare past.csv --horizon 1000 --arm date \\
        --reward yield --bounds 0 9 --out ranking.png
      dirichlet-bandits compare past.csv --horizon 1000 \\
        --policy RDS --policy NPTS --bounds -inf 9
      dirichlet-bandits compare experiment.toml --horizon 5000 --sigma 1 --json
      dirichlet-bandits compare past.csv --horizon 1000 --period year \\
        --delay 'Geometric(0.05)' --policy RDS --policy 'SlidingWindow(RDS, 200)'
    """
    form = tables.form_of(as_json, as_csv)
    if out is not None:
        tables.check_picture("--out", out)
    columns = {"arm": arm, "reward": reward, "wide": wide, "forgiving": forgiving}
    bandit = _bandit(file, columns, level) if period is None else _periods(file, period, horizon, columns, level)
    feedback = given_feedback(file, delay=delay, window=window, late=late, batch=batch)
    ranking = db.compare_policies(
        bandit,
        horizon=horizon,
        replications=replications,
        policies=policy or None,
        bounds=bounds,
        sigma=sigma,
        ordered=ordered,
        seed=seed,
        workers=workers,
        progress=False if quiet else None,
        **feedback,
    )
    undone = ranking.result.undone
    if not ranking.places:
        typer.echo("interrupted before two replications were finished: nothing to rank", err=True)
        raise typer.Exit(INTERRUPTED)
    if out is not None:
        ranking.plot(out, title=file.stem)
    if form == "json":
        tables.show_json({**ranking.as_json(), "feedback": {key: in_words(value) for key, value in feedback.items()}})
    elif form == "csv":
        keys = ("policy", "mean", "difference", "low", "high", "tied", "replications", "parameters")
        rows = [(*place, repr(ranking.policies[place.policy])) for place in ranking.places]
        tables.show(tables.Table(file.stem, {key: key for key in keys}, rows), form)
    else:
        tables.note(_said_of(bandit))
        for key, value in feedback.items():
            tables.note(f"{key}: {in_words(value)}")
        _show(ranking, file.stem)
        if out is not None:
            typer.echo(f"saved: {out}")
    if undone:
        typer.echo("interrupted: the ranking uses the finished replications", err=True)
        raise typer.Exit(INTERRUPTED)


def _periods(file: Path, period: str, horizon: int, columns: dict[str, Any], level: float | None) -> "db.Piecewise":
    """Read the environment of a .csv file with a column of periods."""
    for option in ("wide", "forgiving"):
        if columns.pop(option):
            raise ArgumentError(f"--{option}", "omitted if a column has periods", True)
    if file.suffix.lower() == ".toml":
        raise ArgumentError("--period", "omitted: it is for .csv files; use [[segments]] in a .toml file", period)
    objective = None if level is None else db.CVaR(level)
    return db.read_periods(file, period=period, horizon=horizon, objective=objective, **columns)


def _bandit(file: Path, columns: dict[str, Any], level: float | None) -> "db.Environment":
    """Read the arms of the file, with the objective of the option ``--level``."""
    objective = None if level is None else db.CVaR(level)
    if file.suffix.lower() != ".toml":
        return read_past_rewards(file, objective=objective, **columns)
    for option, value in columns.items():
        if value not in (None, False):
            raise ArgumentError(f"--{option}", "omitted: it is for .csv files", value)
    found = db.experiments.read_bandit(file)
    if objective is None:
        return found
    if not found.still:
        raise ArgumentError("--level", "omitted if arms change: write [objective] in the file", level)
    return db.Bandit(list(found.laws(1).values()), found.names, objective=objective)


def _said_of(bandit: "db.Environment") -> str:
    """Describe the arms in one line: the number of rewards and the value of each, or the breakpoints."""
    if not bandit.still:
        changes = getattr(bandit, "breakpoints", ())
        when = f", which change at pulls {', '.join(map(str, changes))}" if changes else ""
        return f"{len(bandit)} arms: {', '.join(bandit.names)}{when}"
    told = []
    for name, law, value in zip(bandit.names, bandit.laws(1).values(), bandit.values_over(1)[0], strict=True):
        count = f", {law.data.size} rewards" if isinstance(law, db.Empirical) else ""
        told.append(f"{name} ({bandit.objective.name} {number(value)}{count})")
    return f"{len(bandit)} arms: " + "; ".join(told)


def _show(ranking: "db.Ranking", title: str) -> None:
    """Print the ranking for people: the difference from the best, and which policies are tied with it."""
    result = ranking.result
    rows = []
    for k, place in enumerate(ranking.places):
        sign = "+" * (place.difference >= 0.0)
        more = f"{sign}{number(place.difference)} {interval(place.low, place.high)}" if k else ""
        mark = "best" if k == 0 else "statistical tie" if place.tied else ""
        rows.append((f"{k + 1}. {place.policy}", place.mean, more, mark))
    columns = {"policy": "policy", "mean": "mean", "difference": "more than the best", "mark": ""}
    tables.show(tables.Table(f"{title}: {result.regret_label} after {result.horizon} pulls", columns, rows))
    runs, level = "up to " * bool(result.undone) + str(result.data.sizes["replication"]), in_percent(ranking.confidence)
    tables.note(f"Paired differences over {runs} replications, simultaneous {level} intervals.")
    tables.note(f"best here: {ranking.best!r}")
    if isinstance(ranking.best, db.policies.Policy):
        tables.note(f"it assumes: {ranking.best.assumes}")
    if ranking.left_out:
        reasons: dict[str, list[str]] = {}
        for name, reason in ranking.left_out.items():
            reasons.setdefault(reason, []).append(name)
        why = [(", ".join(names), in_options(reason)) for reason, names in reasons.items()]
        columns = {"policy": "policy", "reason": "because it"}
        typer.echo()
        tables.show(tables.Table("Left out", columns, why, prose=columns, lines=True))


# Options for when rewards become known: ``--delay``, ``--window``, ``--late`` and ``--batch``


def given_feedback(
    file: Path, *, delay: str | None, window: int | None, late: str | None, batch: str | None
) -> dict[str, Any]:
    """Return the arguments of ``simulate`` for these options; a .toml file provides those that are not given."""
    found: dict[str, Any] = db.experiments.read_feedback(file) if file.suffix.lower() == ".toml" else {}
    typed: dict[str, tuple[Any, Callable[[Any], Any]]]
    typed = {"delay": (delay, parse_delay), "window": (window, int), "late": (late, _late), "batch": (batch, _batch)}
    return {**found, **{name: read(text) for name, (text, read) in typed.items() if text is not None}}


def parse_delay(text: str) -> Any:
    """Parse a delay written as a number or like a call, ``Geometric(0.1)``; nothing is executed.

    >>> parse_delay("20"), parse_delay("Geometric(p=0.1)")
    (20.0, Geometric(p=0.1))
    """
    from dirichlet_bandits.experiments.reading import DELAYS

    expected = "a number of pulls, or a distribution such as Geometric(0.1)"
    if not text.strip()[:1].isalpha():
        return _number("--delay", text, expected)
    try:
        return Language(expected, DELAYS).from_text(text, "--delay")
    except ArgumentError as error:
        if error.name == "--delay":
            raise
        _, wanted, got = error.args
        raise ArgumentError(f"--delay: {error.name.partition('.')[2]}", wanted, got) from None


def in_words(value: Any) -> Any:
    """Return a value for JSON: numbers and texts unchanged, lists of them, and distributions as text."""
    if isinstance(value, list):
        return [in_words(one) for one in value]
    return value if isinstance(value, str | int | float) else repr(value)


def _late(text: str) -> str | float:
    return text if text == "abandon" else _number("--late", text, "'abandon' or a reward")


def _batch(text: str) -> Any:
    """Parse a size, the name of a grid, or sizes separated by commas."""
    if text.strip().isalpha():
        return text.strip()
    expected = "a size, a list of sizes, 'geometric' or 'minimax'"
    sizes = [_number("--batch", size, expected) for size in text.split(",")]
    whole = [int(size) if size.is_integer() else size for size in sizes]
    return whole[0] if len(whole) == 1 else whole


def _number(option: str, text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(option, expected, text) from None


# ``dirichlet-bandits plan``: estimate how long a study will take, and what it will cost


@fields_of("dirichlet_bandits.experiments.plan_question.PlanQuestion")
def plan(
    file: Annotated[Path | None, typer.Argument(help="A .csv file of past rewards, instead of --baseline.")] = None,
    arm: Annotated[str | None, typer.Option(help="Column of arms in the file.")] = None,
    reward: Annotated[str | None, typer.Option(help="Column of rewards in the file.")] = None,
    wide: Wide = False,
    forgiving: Forgiving = False,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
    quiet: tables.Quiet = False,
    **asked: Any,
) -> None:
    """Simulate a study before it begins, to see when it names a winner and what it loses until then.

    Ctrl-C shows the finished studies.

    Every policy, with and without a floor, is compared with an equal split, which is an A/B test. The rule that names
    a winner is that of live studies. Each policy is compiled once, when it is first used.

    \b
    Examples:
      dirichlet-bandits plan --baseline 0.10 --lift 0.03
      dirichlet-bandits plan --baseline 0.10 --lift 0.03 --arms 4 \\
        --policy "TopTwo" --floor 0 --floor 0.05 --horizon 50000
      dirichlet-bandits plan past.csv --bounds 0 9 --json
    """
    form = tables.form_of(as_json, as_csv)
    for option, value in (("--arm", arm), ("--reward", reward), ("--wide", wide), ("--forgiving", forgiving)):
        if file is None and value not in (None, False):
            raise ArgumentError(option, "left out: it is for a file of past rewards", value)
    past = None if file is None else read_past_rewards(file, arm=arm, reward=reward, wide=wide, forgiving=forgiving)
    found = db.plan(past, **asked, progress=False if quiet else None)
    if form == "text":
        typer.echo(str(found))
    else:
        keys = db.PlanRow._fields
        table = tables.Table("Plan", {key: key for key in keys}, found.rows)
        settings = {key: getattr(found, key) for key in ("horizon", "delta", "margin", "replications", "answer")}
        tables.show(table, form, settings, "rows")
    if found.interrupted:
        typer.echo(f"interrupted: the plan is based on {found.replications} studies", err=True)
        raise typer.Exit(INTERRUPTED)
