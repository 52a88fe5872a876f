"""Print the tables of ``study list`` and ``study show``."""

import math
from typing import TYPE_CHECKING

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.study_operations import floor_words
from dirichlet_bandits.display.numbers import belief, drift_words, earnings, in_percent, lift_percent

if TYPE_CHECKING:
    import pandas as pd

_MOST_PENDING = 10  # trials that are named; JSON has all


def show_list(storage: str, archived: bool, form: tables.Form) -> None:
    """Print all studies, or the archived ones, one row per study."""
    from dirichlet_bandits.live.opening import Listed, list_studies

    rows = list_studies(storage, archived=archived)
    headers = {name: name for name in Listed._fields} | {"best": "best arm"}
    if rows or form != "text":
        tables.show(tables.Table("Studies", headers, rows, prose=["policy"]), form)
    else:
        typer.echo("no archived studies" if archived else "no studies; 'dirichlet-bandits study create' creates one")


_COUNTS = ("told", "pending", "abandoned", "voided", "held", "late")
_LIFT = ("lift", "lift_low", "lift_high")
_READINGS = ("lift_percent", "probability_best")
_NUMBERS = ("value", "mean", "std", "low", "high", *_LIFT)


def show_study(study: "db.Study", form: tables.Form, segment: str | None = None) -> None:
    """Print the arms with their means, intervals and propensities (by segment if there are any), and pending trials."""
    from dirichlet_bandits.live.readings import named_winner

    summary = study.summary(segment=segment)
    pooled = bool(study.segments) and segment is None
    chances = dict.fromkeys(map(str, summary.index), math.nan) if pooled else study.propensities(segment=segment)
    waiting = [trial for trial in study.pending if segment in (None, trial.segment)]
    said = summary.attrs
    if form == "text":
        tables.show(_for_people(study, summary, None if pooled else chances))
        best, why = said["best_arm"], said["best_arm_reason"]
        tables.note(f"best: {best}, {why}" if best is not None else f"no best arm yet: {why}")
        for part in study.segments if pooled else [segment]:
            if found := named_winner(study, part):
                where = "" if part is None else f" in {part}"
                tables.note(f"winner{where}: {found[0]}, established after {found[1]:,} trials")
                tables.note(found[2])
        tables.note(f"from, to: {in_percent(said['confidence'])}, {said['interval']}")
        for reason, without in summary.groupby("no_interval", sort=False):
            tables.note(f"no interval, {reason}: " + ", ".join(map(str, without.index)))
        if pooled:
            tables.note(f"over the segments {', '.join(study.segments)}; --segment shows one")
        else:
            tables.note("next: propensity of the next decision")
        if study.settings.in_unit:
            tables.note(f"rewards{study.settings.in_unit}")
        if study.floor:
            tables.note(f"floor: {floor_words(study.floor)}")
        if waiting:
            named = ", ".join(f"{trial.id} ({trial.arm})" for trial in waiting[:_MOST_PENDING])
            tables.note(f"{len(waiting)} pending: {named}" + (", ..." if len(waiting) > _MOST_PENDING else ""))
        _show_readings(summary)
        return
    keys = [key for key in (*_COUNTS, *_NUMBERS, *_READINGS) if key in summary]
    columns = {key: key for key in ("arm", *keys, "propensity", "active")}
    rows = [
        (str(arm), *(row[key] for key in keys), float(chances[str(arm)]), bool(row["active"]))
        for arm, row in summary.iterrows()
    ]
    winner = None if pooled else named_winner(study, segment)
    around = {
        "study": study.name,
        "policy": repr(study.policy),
        "direction": said["direction"],
        "control": said["control"],
        "floor": study.floor,
        "best": said["best_arm"],
        "best_reason": said["best_arm_reason"],
        "winner": winner and winner[0],
        "winner_assumes": winner and winner[2],
        **{key: said[key] for key in ("interval", "confidence", "compared_with", "earned", "equal_split", "drift")},
        "pending_trials": [{"id": trial.id, "arm": trial.arm} for trial in waiting],
    }
    tables.show(tables.Table(study.name, columns, rows), form, around, "arms")


def _for_people(study: "db.Study", summary: "pd.DataFrame", chances: dict[str, float] | None) -> tables.Table:
    """Make a table that fits a terminal: omit empty columns, and put trials without a reward into one."""
    from dirichlet_bandits.live.summary import rows_by_arm

    known = summary.replace([-math.inf, math.inf], math.nan)
    known.loc[summary["no_interval"].notna(), ["low", "high"]] = math.nan
    numbers = [key for key in _NUMBERS if key in known and key not in _LIFT]
    keys = [key for key in numbers if key == "mean" or known[key].notna().any()]
    headers = {"value": summary.attrs["objective"], "low": "from", "high": "to"}
    others = [key for key in _COUNTS[1:] if key in summary]
    known["besides"] = [", ".join(f"{row[key]} {key}" for key in others if row[key]) for _, row in known.iterrows()]
    columns = {"told": "rewards"} | ({"besides": "no reward"} if known["besides"].any() else {})
    columns |= {key: headers.get(key, key) for key in keys}
    if chances is not None:
        known["propensity"] = [chances[str(arm)] for arm in known.index]
        columns["propensity"] = "next"
    rows = rows_by_arm(known, columns, {"told": int, "besides": str})
    return tables.Table(f"{study.name}: {study.policy!r}", {"arm": "arm", **columns}, rows, prose=["besides"])


def _show_readings(summary: "pd.DataFrame") -> None:
    """Print how the arms compare: lift, also in percent, probability of being best, rewards earned, and drift."""
    from dirichlet_bandits.live.summary import rows_by_arm

    said = summary.attrs
    names = {"lift": "lift", "lift_low": "from", "lift_high": "to", "lift_percent": "relative"}
    names |= {"probability_best": "P(best)"}
    columns = {key: names[key] for key in names if key in summary and summary[key].notna().any()}
    if columns:
        typer.echo()
        over = f"Lift: mean minus that of {said['control']}"
        title = over if "lift" in columns else f"Compared with {said['compared_with']}"
        rows = rows_by_arm(summary, columns, {"lift_percent": lift_percent, "probability_best": belief})
        tables.show(tables.Table(title, {"arm": "arm", **columns}, rows))
    if summary["told"].sum():
        tables.note(earnings(said))
    if said["drift"]:
        tables.note(f"careful: {drift_words(said['drift'])}")
