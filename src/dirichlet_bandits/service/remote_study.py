"""A study of a service, used as if it were local."""

import io
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from dirichlet_bandits.arms import CVaR
from dirichlet_bandits.errors import AccessError, ArgumentError, NotFoundError, require
from dirichlet_bandits.files import whole_file
from dirichlet_bandits.inference.intervals import Bounds
from dirichlet_bandits.inference.winner import DELTA, Rival
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live import DifferenceEstimate, Estimate, Replay, RiskEstimate, Trial, Winner
from dirichlet_bandits.live.annotations import Attributes, annotation
from dirichlet_bandits.live.asking import checked_segment
from dirichlet_bandits.live.audit import AuditEntry, AuditEvent
from dirichlet_bandits.live.bounds import two_bounds
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.direction import MAXIMIZE
from dirichlet_bandits.live.estimating import Choice, Estimating
from dirichlet_bandits.live.floors import Floor, checked_floor
from dirichlet_bandits.live.past_trials import read_past
from dirichlet_bandits.live.study import trial_id
from dirichlet_bandits.live.study_state import Named
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.written import POLICY, parse_policy
from dirichlet_bandits.service.wire import Line
from dirichlet_bandits.validation import finite_number, number_between, reward_number, whole_number

if TYPE_CHECKING:
    import pandas as pd


class RemoteStudy(Named, Estimating):
    """A :class:`Study` in a service, with the same methods and the same exceptions."""

    def __init__(self, line: Line, info: Mapping[str, Any]) -> None:
        super().__init__(info["name"], info["identity"])
        self._line = line
        self.policy: Policy = parse_policy(info["policy"])
        self.seed = int(info["seed"])
        self.direction: str = info.get("direction", MAXIMIZE)
        self.control: str | None = info.get("control")
        self.reward_unit: str | None = info.get("reward_unit")
        self._bounds: Bounds | None = None if info.get("bounds") is None else two_bounds(info["bounds"])
        self.segments: tuple[str, ...] = tuple(info.get("segments", ()))
        self.history: dict[str, list[float]] | None = info.get("history")
        self.weight: float | None = info.get("weight")
        self.borrow: float = info.get("borrow", 0.0)
        self._window: float | None = info.get("window")
        self._late: float | Literal["abandon"] | None = info.get("late")

    def __repr__(self) -> str:
        return f"<RemoteStudy {self.name!r}: {self.policy!r}, at {self._line.url}>"

    def __len__(self) -> int:
        """Return the number of trials so far."""
        return int(self._get("study")["trials"])

    # Decisions

    @overload
    def ask(
        self, n: None = None, *, segment: str | None = None, unit: str | None = None, token: str | None = None
    ) -> Trial: ...

    @overload
    def ask(
        self, n: int, *, segment: str | None = None, unit: str | None = None, token: str | None = None
    ) -> list[Trial]: ...

    def ask(
        self, n: int | None = None, *, segment: str | None = None, unit: str | None = None, token: str | None = None
    ) -> Trial | list[Trial]:
        """Return the next trial, or a list of ``n``. See :meth:`Study.ask`; without a token, the client draws one."""
        count = 1 if n is None else whole_number("n", n, 1)
        given = {"segment": checked_segment(segment, self.segments), "unit": unit}
        if unit is not None and n is not None:
            raise ArgumentError("n", "left out with a unit, which has one trial at a time", n)
        named = {key: checked_name(key, value) for key, value in given.items() if value is not None}
        trials = _trials(self._change("ask", token, n=count, **named))
        return trials[0] if n is None else trials

    def tell(
        self,
        id: int | Trial,
        reward: float,
        *,
        note: str | None = None,
        attributes: Attributes | None = None,
        token: str | None = None,
    ) -> None:
        """Record the reward of a trial. See :meth:`Study.tell`."""
        said = annotation(note, attributes)
        self._change("tell", token, id=trial_id(id), reward=reward_number("reward", reward), **said)

    def tell_many(self, ids: Sequence[int | Trial], rewards: Sequence[float], *, token: str | None = None) -> None:
        """Record the rewards of several trials, all or none. See :meth:`Study.tell_many`."""
        ids, rewards = list(ids), list(rewards)
        self._change(
            "tell_many",
            token,
            ids=[trial_id(id) for id in ids],
            rewards=[reward_number("reward", reward) for reward in rewards],
        )

    def settle(self) -> list[int]:
        """Close the windows that have ended, and return the late trials. See :meth:`Study.settle`."""
        return list(self._post("settle")["ids"])

    def abandon(self, id: int | Trial, *, token: str | None = None) -> None:
        """Abandon a trial whose reward will never come. See :meth:`Study.abandon`."""
        self._change("abandon", token, id=trial_id(id))

    def reopen(self, id: int | Trial, *, token: str | None = None) -> None:
        """Make an abandoned trial pending again. See :meth:`Study.reopen`."""
        self._change("reopen", token, id=trial_id(id))

    def void(self, id: int | Trial, reason: str, *, token: str | None = None) -> None:
        """Take back the reward of a trial. See :meth:`Study.void`."""
        self._change("void", token, id=trial_id(id), reason=checked_name("reason", reason))

    def correct(self, id: int | Trial, reward: float, reason: str | None = None, *, token: str | None = None) -> None:
        """Replace a reward by another one. See :meth:`Study.correct`."""
        said = {} if reason is None else {"reason": checked_name("reason", reason)}
        self._change("correct", token, id=trial_id(id), reward=reward_number("reward", reward), **said)

    def annotate(
        self,
        id: int | Trial,
        *,
        note: str | None = None,
        attributes: Attributes | None = None,
        token: str | None = None,
    ) -> None:
        """Add a note and attributes to a trial. See :meth:`Study.annotate`."""
        self._change("annotate", token, id=trial_id(id), **annotation(note, attributes))

    def add_trials(self, frame: "pd.DataFrame | Any", *, token: str | None = None) -> list[int]:
        """Add past trials. See :meth:`Study.add_trials`."""
        rows = [row._asdict() for row in read_past(frame)]
        for row in rows:
            row["time"] = None if row["time"] is None else datetime.fromtimestamp(row["time"], UTC).isoformat()
        return list(self._change("add_trials", token, trials=rows)["ids"])

    # Arms

    def add_arm(self, name: str, *, token: str | None = None) -> None:
        """Add an arm, or bring back a retired one. See :meth:`Study.add_arm`."""
        self._change("add_arm", token, arm=checked_name("name", name))

    def retire_arm(self, name: str, *, token: str | None = None) -> None:
        """Stop assigning this arm. See :meth:`Study.retire_arm`."""
        self._change("retire_arm", token, arm=name)

    def set_floor(self, floor: Floor | None, *, token: str | None = None) -> None:
        """Change the minimal probability of each arm. See :meth:`Study.set_floor`."""
        given = floor if isinstance(floor, Mapping) else None
        self._change("set_floor", token, floor=checked_floor(floor, [] if given is None else list(given)))

    @property
    def floor(self) -> float | dict[str, float]:
        """The minimal probability of each arm; 0 if there is no floor. See :attr:`Study.floor`."""
        floor: float | dict[str, float] = self._get("study").get("floor", 0.0)
        return floor

    @property
    def arms(self) -> list[str]:
        """Names of the active arms."""
        return list(self._get("study")["arms"])

    # The study itself

    @property
    def window(self) -> float | None:
        """Seconds after which a missing reward is late; None if there is no window."""
        return self._window

    @property
    def late(self) -> float | Literal["abandon"] | None:
        """The reward that counts if none has come within the window. See :attr:`Study.late`."""
        return self._late

    def rename(self, name: str, *, token: str | None = None) -> None:
        """Rename the study. See :meth:`Study.rename`."""
        checked_name("name", name)
        body, which = {"name": name, "token": _token(token)}, self._which()
        self._new_name = name
        said = self._line.post("rename", body, **which)
        self._renamed(said.get("name", name))  # others may have renamed it again; older services do not tell

    def _has_name(self, name: str) -> bool:
        try:
            return bool(self._line.get("identity", study=name)["identity"] == self.identity)
        except NotFoundError:
            return False

    def archive(self, *, token: str | None = None) -> None:
        """Leave the study out of the list of names. See :meth:`Study.archive`."""
        self._change("archive", token, archived=True)

    def unarchive(self, *, token: str | None = None) -> None:
        """Put the study back into the list of names."""
        self._change("archive", token, archived=False)

    @property
    def archived(self) -> bool:
        """Whether the study is archived."""
        return bool(self._get("study")["archived"])

    # Looking

    @property
    def pending(self) -> list[Trial]:
        """The trials that are pending, oldest first."""
        return _trials(self._get("pending"))

    @property
    def best_arm(self) -> str | None:
        """The best arm so far; None if no arm can be named yet. See :attr:`Study.best_arm`."""
        best: str | None = self._get("summary")["best_arm"]
        return best

    def propensities(self, *, segment: str | None = None) -> dict[str, float]:
        """Return the exact probability that each arm is in the next round (of the segment)."""
        return dict(self._get("propensities", **self._in(checked_segment(segment, self.segments)))["propensities"])

    def _in(self, segment: str | None) -> dict[str, str]:
        return {} if segment is None else {"segment": segment}

    def summary(
        self, confidence: float = 0.95, bounds: tuple[float, float] | None = None, *, segment: str | None = None
    ) -> "pd.DataFrame":
        """Return one row per arm. See :meth:`Study.summary`."""
        pd = whole_module("pandas")

        from dirichlet_bandits.display.summaries import Summary

        limits: dict[str, Any] = {} if segment is None else self._in(checked_segment(segment, self.segments))
        if bounds is not None:
            limits["bounds"] = _two_numbers(bounds)
        said = self._get("summary", confidence=number_between("confidence", confidence, 0, 1), **limits)
        frame = pd.DataFrame(said.pop("arms")).set_index("arm")
        words = frame.columns.intersection(["no_interval"])
        in_windows = [] if self._window is None else ["held", "late"]
        whole = ["active", "told", "pending", "abandoned", "voided", *in_windows]
        frame[words] = frame[words].astype("str")
        numbers = frame.columns.difference([*words, *whole])
        frame[numbers] = frame[numbers].astype(float)
        for end, limit in (("low", -math.inf), ("high", math.inf)):
            for column in frame.columns.intersection([end, f"lift_{end}", f"value_{end}"]):
                frame[column] = frame[column].fillna(limit)
        absent = ["value"] if said["objective"] == "mean" else []
        absent += ["lift", "lift_low", "lift_high"] if said.get("control") is None else []
        absent += ["held", "late"] if self._window is None else []
        if said.get("value_interval") is None:
            said.pop("value_interval", None)
            absent += ["value_low", "value_high"]
        found = Summary(frame.drop(columns=absent, errors="ignore"))
        found.attrs = said
        return found

    @property
    def bounds(self) -> Bounds | None:
        """Bounds of all rewards, or None. See :attr:`Study.bounds`."""
        return self._bounds

    def winner(self, delta: float = DELTA, margin: float = 0.0, *, segment: str | None = None) -> Winner:
        """Name the winner, or return what is missing; a read-only key stores nothing. See :meth:`Study.winner`."""
        question = {
            "delta": number_between("delta", delta, 0, 1),
            "margin": float(finite_number("margin", margin)),
            **self._in(checked_segment(segment, self.segments)),
        }
        try:
            said = self._post("winner", **question)
        except AccessError:
            said = self._get("winner", **question)
        ends: dict[str, Any] = {"low": -math.inf, "high": math.inf, "statistic": math.inf, "lead": math.nan}
        rivals = [{key: ends[key] if value is None else value for key, value in one.items()} for one in said["rivals"]]
        return Winner(**{**said, "rivals": tuple(Rival(**rival) for rival in rivals), "drift": tuple(said["drift"])})

    def trials_dataframe(self) -> "pd.DataFrame":
        """Return one row per trial: arm, propensity, round, status, reward, times. This needs pyarrow."""
        pd = whole_module("pandas")

        require("pyarrow", "The table of trials needs", "live", " (pyarrow is missing)")
        log = pd.read_parquet(io.BytesIO(self._log("parquet")))
        return log[[column for column in log.columns if not column.startswith("propensity of ")]]

    def events(self, *, trial: int | None = None, below: int | None = None, limit: int = 100) -> list[AuditEvent]:
        """Return what happened, newest first, and which key did it. See :meth:`Study.events`."""
        query = {"trial": trial, "below": below, "limit": limit}
        found = self._get("events", **{key: value for key, value in query.items() if value is not None})["events"]
        return [AuditEvent(**{**event, "at": datetime.fromisoformat(event["at"])}) for event in found]

    def audit_log(self) -> list[AuditEntry]:
        """Return what was done to the study as a whole, newest first. See :meth:`Study.audit_log`."""
        found = self._get("audit_log")["audit_log"]
        return [AuditEntry(**{**entry, "at": datetime.fromisoformat(entry["at"])}) for entry in found]

    def export(self, path: str | PathLike[str]) -> None:
        """Write the trials with the propensities of all arms to a ``.parquet`` or ``.csv`` file."""
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in (".parquet", ".csv"):
            raise ArgumentError("path", "a file that ends in .parquet or .csv", str(path))
        if not target.parent.is_dir():
            raise ArgumentError("path", "in a folder that exists", str(path))
        with whole_file(target) as draft:
            draft.write_bytes(self._log(kind[1:]))

    def _estimate(self, choice: Choice, bounds: tuple[float, float] | None, confidence: float) -> Estimate:
        body = {**_chosen(choice), "confidence": number_between("confidence", confidence, 0, 1)}
        if bounds is not None:
            body["bounds"] = _two_numbers(bounds)
        return Estimate(**self._estimated("estimate", body))

    def estimate_difference(
        self, a: str, b: str, *, bounds: tuple[float, float] | None = None, confidence: float = 0.95
    ) -> DifferenceEstimate:
        """Estimate by how much the rewards of one arm exceed another's. See :meth:`Study.estimate_difference`."""
        body: dict[str, Any] = {"a": a, "b": b, "confidence": number_between("confidence", confidence, 0, 1)}
        if bounds is not None:
            body["bounds"] = _two_numbers(bounds)
        return DifferenceEstimate(**self._estimated("estimate_difference", body))

    def _estimate_cvar(
        self, choice: Choice, goal: CVaR, bounds: tuple[float, float] | None, confidence: float
    ) -> RiskEstimate:
        body = {**_chosen(choice), "level": goal.level, "confidence": number_between("confidence", confidence, 0, 1)}
        if bounds is not None:
            body["bounds"] = _two_numbers(bounds)
        return RiskEstimate(**self._estimated("estimate", body))

    def _estimated(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        said = self._post(path, **body)
        return {key: math.nan if value is None else value for key, value in said.items()}

    def replay(self, progress: Callable[[int, int], object] | None = None) -> Replay:
        """Let the service repeat every decision and compare; ``progress`` is called once, at the end."""
        said = self._get("replay")
        if progress is not None:
            progress(1, 1)
        return Replay(said["trials"], said["rounds"], said["n_differences"], tuple(said["differences"]))

    # Within

    def _which(self) -> dict[str, Any]:
        """Return the fields by which a request names its study."""
        return {"study": self.name, "identity": self.identity}

    def _get(self, path: str, **query: Any) -> Any:
        return self._line.get(path, **self._which(), **query)

    def _post(self, path: str, **body: Any) -> Any:
        return self._line.post(path, body, **self._which())

    def _change(self, path: str, token: str | None, **body: Any) -> Any:
        """Change something exactly once: if no token is given, draw one."""
        return self._post(path, token=_token(token), **body)

    def _log(self, format: str) -> bytes:
        return self._line.send("GET", "export", {**self._which(), "format": format}).data


def _token(given: str | None) -> str:
    return secrets.token_urlsafe(16) if given is None else checked_name("token", given)


def _chosen(choice: Choice) -> dict[str, Any]:
    """Return the choice to estimate, as a request carries it."""
    if isinstance(choice, Policy):
        return {"policy": POLICY.to_text(choice, "choice")}
    if isinstance(choice, Mapping):
        return {"weights": {str(arm): finite_number(f"choice[{arm!r}]", w) for arm, w in choice.items()}}
    return {"arm": checked_name("choice", choice)}


def _two_numbers(bounds: tuple[float, float]) -> list[float]:
    """Return bounds of rewards as a request carries them; the service checks them."""
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise ArgumentError("bounds", "two numbers between which all rewards lie", bounds)
    return [finite_number(f"bounds[{k}]", bound) for k, bound in enumerate(bounds)]


def _trials(said: Mapping[str, Any]) -> list[Trial]:
    return [Trial(**{**trial, "asked_at": datetime.fromisoformat(trial["asked_at"])}) for trial in said["trials"]]
