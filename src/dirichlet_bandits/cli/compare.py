"""``dirichlet-bandits compare``: which policy does best on past rewards?"""

import warnings
from pathlib import Path
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import outputs, tables
from dirichlet_bandits.cli.failures import INTERRUPTED, in_options
from dirichlet_bandits.errors import ArgumentError, name_of


def compare(
    file: Annotated[Path, typer.Argument(help="Past rewards, a .csv file; or arms, a .toml file as for 'simulate'.")],
    horizon: Annotated[int, typer.Option(help="How many decisions there will be.", show_default=False)],
    arm: Annotated[str | None, typer.Option(help="Column of the options: by default 'arm', 'option', the 1st.")] = None,
    reward: Annotated[str | None, typer.Option(help="Column of the rewards: by default 'reward', the 2nd.")] = None,
    wide: Annotated[bool, typer.Option("--wide", help="The file has a column of rewards for each option.")] = False,
    forgiving: Annotated[
        bool, typer.Option("--forgiving", help="Skip blanks; read 1,5 and $1,234.50 and yes/no; report what was done.")
    ] = False,
    lower: Annotated[float | None, typer.Option(help="No reward will ever be below.")] = None,
    upper: Annotated[float | None, typer.Option(help="No reward will ever be above.")] = None,
    sigma: Annotated[float | None, typer.Option(help="No option's standard deviation is larger.")] = None,
    ordered: Annotated[
        bool, typer.Option("--ordered", help="Along the options, in their order, means rise and then fall.")
    ] = False,
    cvar: Annotated[float | None, typer.Option(help="Judge by the mean of this share of worst rewards.")] = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="Only this one; may be repeated: RDS, or 'QDS(rho=8, alpha=0.1)'.")
    ] = None,
    replications: Annotated[int, typer.Option(help="How often each policy plays.")] = 200,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Threads; by default one a core. Never changes numbers.")] = None,
    out: Annotated[Path | None, typer.Option(help="Draw the ranking: .png, .pdf, .svg.")] = None,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars.")] = False,
) -> None:
    """Let every policy that applies play on past rewards, and rank them by their regret. Ctrl-C ranks what is done.

    Each option draws again and again from its past rewards. A policy that wants to know what you did not say, such as a
    bound, is left out: the second table says why. Each policy is compiled once: the first time takes minutes, unless
    --policy names a few.

    Examples:

    \b
      dirichlet-bandits compare past.csv --horizon 1000
      dirichlet-bandits compare past.csv --horizon 1000 --arm date \\
        --reward yield --lower 0 --upper 9 --out ranking.png
      dirichlet-bandits compare past.csv --horizon 1000 \\
        --policy RDS --policy NPTS --upper 9
      dirichlet-bandits compare experiment.toml --horizon 5000 --sigma 1 --json
    """
    form = tables.form_of(as_json, as_csv)
    if out is not None:
        outputs.check_picture("--out", out)
    bandit = _bandit(file, arm, reward, wide, forgiving, cvar)
    ranking = db.compare_policies(
        bandit,
        horizon=horizon,
        replications=replications,
        policies=_policies(policy),
        lower=lower,
        upper=upper,
        sigma=sigma,
        ordered=ordered,
        seed=seed,
        workers=workers,
        progress=False if quiet else None,
    )
    undone = ranking.result.undone
    if not ranking.places:
        typer.echo("interrupted before two replications were done: nothing to rank", err=True)
        raise typer.Exit(INTERRUPTED)
    if out is not None:
        ranking.plot(out, title=file.stem)
    if form == "json":
        tables.show_json(ranking.as_json())
    elif form == "csv":
        tables.show(_places(ranking, file.stem), form)
    else:
        tables.note(_said_of(bandit))
        _show(ranking, file.stem)
        if out is not None:
            typer.echo(f"saved: {out}")
    if undone:
        typer.echo("interrupted: the ranking has what was done", err=True)
        raise typer.Exit(INTERRUPTED)


def _bandit(
    file: Path, arm: str | None, reward: str | None, wide: bool, forgiving: bool, cvar: float | None
) -> "db.Bandit":
    """The arms of the file, with the objective of the option ``--cvar``."""
    objective = None
    if cvar is not None:
        from dirichlet_bandits.numerics.cvar import level_of

        objective = db.CVaR(level_of("--cvar", cvar))
    if file.suffix.lower() != ".toml":
        with warnings.catch_warnings(record=True) as reports:
            warnings.simplefilter("always")
            found = db.read_rewards(file, arm=arm, reward=reward, wide=wide, forgiving=forgiving, objective=objective)
        for report in reports:
            typer.echo(str(report.message), err=True)
        return found
    given = {"--arm": arm, "--reward": reward, "--wide": wide, "--forgiving": forgiving}
    for option, value in given.items():
        if value not in (None, False):
            raise ArgumentError(option, "left out: it is for .csv files", value)
    found = db.experiments.read_bandit(file)
    return found if objective is None else db.Bandit(found.arms, found.names, objective=objective)


def _policies(texts: list[str] | None) -> "list[str | db.Policy] | None":
    """Policies of the options ``--policy``: names of classes, or with parameters."""
    if not texts:
        return None
    from dirichlet_bandits.live.description import parse_policy
    from dirichlet_bandits.policies.catalogue import POLICIES

    for text in texts:
        if "(" not in text and text not in POLICIES:
            raise ArgumentError("--policy", name_of("a policy", POLICIES, text), text)
    return [parse_policy(text) if "(" in text else text for text in texts]


def _said_of(bandit: "db.Bandit") -> str:
    """The options in a line: how many rewards each has, and its value."""
    told = []
    for name, law, value in zip(bandit.names, bandit.arms, bandit.values, strict=True):
        count = f", {law.data.size} rewards" if isinstance(law, db.Empirical) else ""
        told.append(f"{name} ({bandit.objective.name} {value:.4g}{count})")
    return f"{len(bandit)} options: " + "; ".join(told)


def _places(ranking: "db.experiments.Ranking", title: str) -> tables.Table:
    """The places in numbers, for programs."""
    keys = ("policy", "mean", "difference", "low", "high", "tied", "replications", "parameters")
    rows = [(*place, repr(ranking.policies[place.policy])) for place in ranking.places]
    return tables.Table(title, [tables.Column(key, key) for key in keys], rows)


def _show(ranking: "db.experiments.Ranking", title: str) -> None:
    """The ranking for people: the difference to the best, and what cannot be told apart from it."""
    result = ranking.result
    rows = []
    for k, place in enumerate(ranking.places):
        interval = "" if k == 0 else f"{place.difference:+.4g} [{place.low:.4g}, {place.high:.4g}]"
        mark = "best" if k == 0 else "not told apart" if place.tied else ""
        rows.append((f"{k + 1}. {place.policy}", place.mean, interval, mark))
    columns = [
        tables.Column("policy", "policy"),
        tables.Column("mean", "mean"),
        tables.Column("difference", "more than the best"),
        tables.Column("mark", ""),
    ]
    tables.show(tables.Table(f"{title}: {result.regret_label} after {result.horizon} pulls", columns, rows))
    runs, level = result.data.sizes["replication"], f"{100 * ranking.confidence:g} %"
    most = "up to " if result.undone else ""
    tables.note(f"Paired differences over {most}{runs} replications, {level} intervals for all together.")
    tables.note(f"best here: {ranking.best!r}")
    if isinstance(ranking.best, db.Policy):
        tables.note(f"it assumes: {ranking.best.assumes}")
    if ranking.left_out:
        reasons: dict[str, list[str]] = {reason: [] for reason in ranking.left_out.values()}
        for name, reason in ranking.left_out.items():
            reasons[reason].append(name)
        why = [(", ".join(names), in_options(reason)) for reason, names in reasons.items()]
        columns = [tables.Column("policy", "policy", prose=True), tables.Column("reason", "because it", prose=True)]
        typer.echo()
        tables.show(tables.Table("Left out", columns, why, lines=True))
