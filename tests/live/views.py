"""What can be seen of a real study, and of a naive one, written in the same way."""

import json
import math

import dirichlet_bandits as db
from dirichlet_bandits import errors
from tests.naive.next_round import next_round

COLUMNS = (
    *("arm", "propensity", "round", "status", "reward", "original", "reason", "revisions", "note", "attributes"),
    *("late", "segment", "unit"),
)
COUNTS = ("active", "told", "pending", "abandoned", "voided", "mean")


def written(named):
    """Arguments as Python code."""
    return ", ".join(f"{key}={value!r}" for key, value in named.items())


def outcome(call, named):
    """What a call returns, or the class of what it raises."""
    try:
        return "returned", plain(call(**named))
    except db.DirichletBanditsError as error:
        return next(kind.__name__ for kind in type(error).mro() if kind.__module__ == errors.__name__), None


def plain(answer):
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    if isinstance(answer, db.Trial):
        return described(answer)
    return answer.arm if isinstance(answer, db.Winner) else answer


def described(trial):
    return trial.id, trial.arm, rounded(trial.propensity), trial.segment, trial.unit


def arms_of(asked):
    """The arms of trials as :func:`described` writes them: one, several, or None if the ask was refused."""
    trials = asked if isinstance(asked, list) else [asked] if asked else []
    return [arm for _, arm, *_ in trials]


def rounded(x):
    return None if math.isnan(x) else round(x, 9)


def view(study):
    """All that can be seen of a study at little cost."""
    log = study.trials_dataframe()
    columns = {column: [absent(x) for x in log[column].tolist()] for column in COLUMNS}
    columns["revisions"] = [json.loads(text or "[]") for text in columns["revisions"]]
    columns["attributes"] = [json.loads(text or "{}") for text in columns["attributes"]]
    return {
        "name": study.name,
        "arms": study.arms,
        "floor": study.floor,
        "archived": study.archived,
        "pending": [trial.id for trial in study.pending],
        "propensities": [
            {arm: rounded(chance) for arm, chance in study.propensities(segment=segment).items()}
            for segment in study.segments or [None]
        ],
        **columns,
    }


def expected_view(naive):
    chances = [next_round(naive, segment) for segment in naive.segments or [None]]
    revised = [trial.revisions or [(None, None)] for trial in naive.trials]
    return {
        "name": naive.name,
        "arms": naive.active(),
        "floor": naive.floor,
        "archived": naive.archived,
        "pending": [trial.id for trial in naive.trials if trial.state == "pending"],
        "propensities": [{arm: rounded(one.get(arm, 0.0)) for arm in naive.arms} for one in chances],
        **{column: [absent(getattr(trial, column, None)) for trial in naive.trials] for column in COLUMNS},
        "status": [naive.status(trial) for trial in naive.trials],
        "original": [revisions[0][0] for revisions in revised],
        "reason": [revisions[-1][1] for revisions in revised],
        "revisions": [
            [{"reward": reward} | ({"reason": reason} if reason else {}) for reward, reason in trial.revisions]
            for trial in naive.trials
        ],
    }


def absent(x):
    return None if isinstance(x, float) and math.isnan(x) else x


def counted(study):
    """The counts and means of a study's arms, in each segment and over all of them."""
    columns = [*COUNTS, *(["held", "late"] if study.window else [])]
    found = {segment: study.summary(segment=segment)[columns].to_dict("index") for segment in (None, *study.segments)}
    return {
        key: {arm: {**row, "mean": rounded(row["mean"])} for arm, row in rows.items()} for key, rows in found.items()
    }


def expected_counts(naive):
    columns = [*COUNTS, *(["held", "late"] if naive.window else [])]

    def row(arm, segment):
        every = {**naive.counts(arm, segment), "mean": rounded(naive.mean(arm, segment))}
        return {column: every[column] for column in columns}

    return {segment: {arm: row(arm, segment) for arm in naive.arms} for segment in (None, *naive.segments)}
