"""What ``study list`` and ``study show`` print."""

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables

_MOST_PENDING = 10  # trials that are named; JSON has all


def show_list(storage: str, form: tables.Form) -> None:
    """All studies, a row each."""
    studies = [db.load_study(name, storage) for name in db.study_names(storage)]
    rows = [
        (study.name, repr(study.policy), len(study.arms), len(study), len(study.pending), study.best_arm)
        for study in studies
    ]
    columns = [
        tables.Column("study", "study"),
        tables.Column("policy", "policy", prose=True),
        tables.Column("arms", "arms"),
        tables.Column("trials", "trials"),
        tables.Column("pending", "pending"),
        tables.Column("best", "best arm"),
    ]
    if rows or form != "text":
        tables.show(tables.Table("Studies", columns, rows), form)
    else:
        typer.echo("no studies; 'dirichlet-bandits study create' begins one")


def show_study(study: "db.Study", form: tables.Form) -> None:
    """Arms with their means, intervals and propensities; pending trials."""
    summary, chances, waiting = study.summary(), study.propensities(), study.pending
    level = f"{100 * summary.attrs['level']:g} %"
    columns = [
        tables.Column("arm", "arm"),
        tables.Column("told", "told"),
        tables.Column("pending", "pending"),
        tables.Column("abandoned", "abandoned"),
        *([tables.Column("value", summary.attrs["objective"])] if "value" in summary else []),
        tables.Column("mean", "mean"),
        tables.Column("std", "std"),
        tables.Column("low", "from"),
        tables.Column("high", "to"),
    ]
    counts = ("told", "pending", "abandoned")
    if form == "text":  # columns of zeros only take room
        columns = [column for column in columns if column.key not in counts[1:] or summary[column.key].any()]
    rows = []
    for arm, row in summary.iterrows():
        numbers = [int(row[c.key]) if c.key in counts else float(row[c.key]) for c in columns[1:]]
        name = str(arm) if row["active"] or form != "text" else f"{arm} (retired)"
        rows.append((name, *numbers, float(chances[str(arm)]), *([] if form == "text" else [bool(row["active"])])))
    columns.append(tables.Column("propensity", "next"))
    if form != "text":
        columns.append(tables.Column("active", "active"))
    around = {
        "study": study.name,
        "policy": repr(study.policy),
        "best": study.best_arm,
        "interval": summary.attrs["interval"],
        "level": summary.attrs["level"],
        "pending": [{"id": trial.id, "arm": trial.arm} for trial in waiting],
    }
    title = f"{study.name}: {study.policy!r}, best {study.best_arm}"
    tables.show(tables.Table(title, columns, rows), form, around, "arms")
    if form == "text":
        tables.note(f"from, to: {level}, {summary.attrs['interval']}")
        tables.note("next: probability that the arm is handed out next")
        if waiting:
            named = ", ".join(f"{trial.id} ({trial.arm})" for trial in waiting[:_MOST_PENDING])
            tables.note(f"{len(waiting)} pending: {named}" + (", ..." if len(waiting) > _MOST_PENDING else ""))
