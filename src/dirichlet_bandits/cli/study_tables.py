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


_COUNTS = ("told", "pending", "abandoned", "voided")
_NUMBERS = ("value", "mean", "std", "low", "high", "lift", "lift_low", "lift_high")


def show_study(study: "db.Study", form: tables.Form) -> None:
    """Arms with their means, intervals and propensities; pending trials."""
    summary, chances, waiting = study.summary(), study.propensities(), study.pending
    said = summary.attrs
    people = form == "text"
    headers = {"value": said["objective"], "low": "from", "high": "to", "lift_low": "from", "lift_high": "to"}
    keys = [key for key in (*_COUNTS, *_NUMBERS) if key in summary]
    if people:  # columns of zeros only take room
        keys = [key for key in keys if key not in _COUNTS[1:] or summary[key].any()]
    rows = []
    for arm, row in summary.iterrows():
        name = f"{arm} (retired)" if people and not row["active"] else str(arm)
        numbers = [int(row[key]) if key in _COUNTS else float(row[key]) for key in keys]
        rows.append((name, *numbers, float(chances[str(arm)]), *([] if people else [bool(row["active"])])))
    columns = [
        tables.Column("arm", "arm"),
        *(tables.Column(key, headers.get(key, key)) for key in keys),
        tables.Column("propensity", "next"),
        *([] if people else [tables.Column("active", "active")]),
    ]
    around = {
        "study": study.name,
        "policy": repr(study.policy),
        "direction": said["direction"],
        "control": said["control"],
        "best": said["best_arm"],
        "best_reason": said["best_arm_reason"],
        "interval": said["interval"],
        "level": said["level"],
        "pending_trials": [{"id": trial.id, "arm": trial.arm} for trial in waiting],
    }
    tables.show(tables.Table(f"{study.name}: {study.policy!r}", columns, rows), form, around, "arms")
    if people:
        best, why = said["best_arm"], said["best_arm_reason"]
        tables.note(f"best: {best}, {why}" if best is not None else f"no best arm yet: {why}")
        if "lift" in keys:
            tables.note(f"lift: mean less that of {said['control']}")
        tables.note(f"from, to: {100 * said['level']:g} %, {said['interval']}")
        tables.note("next: probability that the arm is handed out next")
        if waiting:
            named = ", ".join(f"{trial.id} ({trial.arm})" for trial in waiting[:_MOST_PENDING])
            tables.note(f"{len(waiting)} pending: {named}" + (", ..." if len(waiting) > _MOST_PENDING else ""))
