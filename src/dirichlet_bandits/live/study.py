"""Studies: ask which arm to try, and tell its reward.

:class:`Study` has the methods that change a study, on top of those that read it (``reading.py``). Each of them makes an
operation and hands it to the study's transport.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference.winner import DELTA, Winner
from dirichlet_bandits.live import operations as do
from dirichlet_bandits.live.asking import Ask
from dirichlet_bandits.live.floors import Floor
from dirichlet_bandits.live.past_trials import read_past
from dirichlet_bandits.live.reading import ReadableStudy
from dirichlet_bandits.live.readings import DeclareWinner
from dirichlet_bandits.live.records import Attributes, Trial

if TYPE_CHECKING:
    import pandas as pd


class Study(ReadableStudy):
    """A sequence of decisions whose rewards come later; create it with :func:`create_study` or :func:`load_study`.

    Threads may share a study; processes and machines share its storage. Every method first reads what others have
    done. When ``ask``, ``tell`` or another method that changes the study returns, its change is stored durably.

    Every method that changes something takes a ``token``, your own name for the call, such as
    ``str(uuid.uuid4())``. If the response was lost, call again with the same token: the change is not repeated, even
    if others have changed it since. A token that was used for another call is refused with a :class:`ConflictError`.

    >>> import dirichlet_bandits as db
    >>> study = db.create_study("maize", arms=["26 Feb", "13 Mar"], seed=0)
    >>> trial = study.ask()
    >>> trial.id, trial.arm, trial.propensity
    (0, '13 Mar', 1.0)
    >>> study.tell(trial, 3120.0)
    >>> study.summary()["told"].to_dict()
    {'26 Feb': 0, '13 Mar': 1}
    """

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
        """Return the next trial, or a list of ``n`` trials, all decided by the rewards so far.

        A study with segments needs the ``segment`` to decide for. A ``unit``, such as a user, gets the arm that it had
        before, with the propensity of its first assignment: the same trial while that trial is pending, then a new one.
        If that arm was retired, the unit gets another one, and keeps it. Only the first trial of a unit counts,
        whatever happens to it or to its arm (``docs/live.md`` explains why).

        A second call with the same token returns the same trials, not new ones.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> sorted(trial.arm for trial in study.ask(2))
        ['blue', 'red']
        """
        if n is not None and unit is not None:
            raise ArgumentError("n", "left out with a unit, which has one trial at a time", n)
        trials = self._transport.do(Ask(1 if n is None else n, segment, unit), token)
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
        """Record the reward of a trial, given by its id or as the trial itself. True counts as 1 and False as 0.

        Repeating the same reward changes nothing; a different one raises a :class:`ConflictError`. A note and
        attributes are stored with it; see :meth:`annotate`.
        """
        self._transport.do(do.Tell(_number(id), reward, note, attributes), token)

    def tell_many(self, ids: Sequence[int | Trial], rewards: Sequence[float], *, token: str | None = None) -> None:
        """Record the rewards of several trials: either all are stored, or none.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.tell_many([trial.id for trial in study.ask(2)], [1.0, 0.0])
        >>> study.summary()["told"].tolist()
        [1, 1]
        """
        self._transport.do(do.TellMany([_number(id) for id in ids], rewards), token)

    def annotate(
        self,
        id: int | Trial,
        *,
        note: str | None = None,
        attributes: Attributes | None = None,
        token: str | None = None,
    ) -> None:
        """Add a note, and attributes with names of your own, to a trial. No decision depends on them.

        A new note replaces the old one. Attributes are added to existing ones or replace them, and None removes one.
        :meth:`trials_dataframe` has both, with attributes as JSON.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("maize", arms=["26 Feb", "13 Mar"], seed=0)
        >>> trial = study.ask()
        >>> study.tell(trial, 3120.0, note="hail in May", attributes={"plot": 7})
        >>> study.annotate(trial, attributes={"irrigated": True})
        >>> study.trials_dataframe()["attributes"].tolist()
        ['{"irrigated": true, "plot": 7}']
        """
        self._transport.do(do.Annotate(_number(id), note, attributes), token)

    def add_trials(self, frame: "pd.DataFrame | Any", *, token: str | None = None) -> list[int]:
        """Add past trials that were decided elsewhere, all or none, and return their ids.

        ``frame`` has the columns ``arm`` and ``reward``, and perhaps ``time`` and ``propensity``: the probability with
        which this arm alone was chosen then. All rewards count for summaries, and for decisions from the next round on.
        Trials with a propensity also count for estimates; the arms among them are assumed to have been possible in each
        of these trials, unless its propensity is 1. Trials without a propensity do not count for estimates, because it
        is not known how they were chosen.

        With the token of an earlier call, nothing is added again; trials other than those of that call are refused.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.add_trials({"arm": ["red", "blue", "red"], "reward": [1, 0, 0], "propensity": [0.5, 0.5, 0.5]})
        [0, 1, 2]
        >>> study.summary()["mean"].to_dict()
        {'red': 0.5, 'blue': 0.0}
        """
        return self._transport.do(do.AddTrials(read_past(frame)), token)

    def settle(self) -> list[int]:
        """Close the windows that have ended, and return the ids of the late trials, whose rewards were missing.

        Every method that changes the study does this first, so you need it only before you read a study that no longer
        changes. In a study without a window, it does nothing.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], window="24h", late=0, seed=1)
        >>> study.tell(study.ask(), 1.0)
        >>> study.settle(), study.trials_dataframe()["status"].tolist()
        ([], ['held'])
        """
        return self._transport.do(do.Settle())

    def abandon(self, id: int | Trial, *, token: str | None = None) -> None:
        """Abandon a trial whose reward will never come; it does not count. Repeating the call changes nothing."""
        self._transport.do(do.Abandon(_number(id)), token)

    def reopen(self, id: int | Trial, *, token: str | None = None) -> None:
        """Undo :meth:`abandon`, so that the trial is pending again. Reopening a pending trial changes nothing.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> trial = study.ask()
        >>> study.abandon(trial)
        >>> study.reopen(trial)
        >>> [pending.id for pending in study.pending]
        [0]
        """
        self._transport.do(do.Reopen(_number(id)), token)

    def void(self, id: int | Trial, reason: str, *, token: str | None = None) -> None:
        """Take back the reward of a trial, for a reason that the log shows. Repeating the call changes nothing.

        From now on, the reward does not count for decisions, summaries or estimates. Decisions that used it stay as
        recorded, and :meth:`replay` reproduces them. Use :meth:`correct` to give the trial another reward.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.tell_many([trial.id for trial in study.ask(2)], [1.0, 100.0])
        >>> study.void(1, "the counter was broken")
        >>> study.trials_dataframe()[["status", "original", "reason"]].to_dict("index")[1]
        {'status': 'voided', 'original': 100.0, 'reason': 'the counter was broken'}
        """
        self._transport.do(do.Void(_number(id), reason), token)

    def correct(self, id: int | Trial, reward: float, reason: str | None = None, *, token: str | None = None) -> None:
        """Replace a reward that was reported or voided by another one. Repeating the call changes nothing.

        From now on, the new reward counts as if it had been reported in the first place; see :meth:`void`.
        """
        self._transport.do(do.Correct(_number(id), reward, reason), token)

    def declare_winner(
        self, delta: float = DELTA, margin: float = 0.0, *, segment: str | None = None, over: str = "arms"
    ) -> Winner:
        """Name the winner and store it, or return what is missing; see :meth:`winner`.

        A winner that was declared stays: later calls, also of :meth:`winner`, return it with the number of trials at
        that time, and with a note if the present rewards would no longer establish it.
        """
        return self._transport.do(DeclareWinner(delta, margin, segment, over))

    # Arms

    def add_arm(self, name: str, *, token: str | None = None) -> None:
        """Add an arm without rewards, or bring back a retired arm with the rewards that it had."""
        self._transport.do(do.AddArm(name), token)

    def retire_arm(self, name: str, *, token: str | None = None) -> None:
        """Stop assigning this arm, also to units that had it; its pending trials still accept rewards.

        Repeating the call changes nothing.
        """
        self._transport.do(do.RetireArm(name), token)

    def set_floor(self, floor: Floor | None, *, token: str | None = None) -> None:
        """Change the minimal probability of each arm from the next round on. Repeating the call changes nothing.

        ``floor`` is one number for all active arms, or numbers by the names of arms; 0 or None removes it. With a
        floor f_i for arm i, a decision tries arm i alone with probability f_i, and with probability 1 - sum_j f_j the
        policy decides. So arm i is in the next round with probability

            f_i + (1 - sum_j f_j) p_i,

        where p_i is its probability under the policy. This is the propensity that is recorded. Floors of active arms
        must not sum to more than 1. See ``docs/live.md``.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["control", "new"], policy=db.UCB1(sigma=0.5), seed=1)
        >>> study.tell_many([trial.id for trial in study.ask(2)], [1.0, 0.0])
        >>> study.propensities()
        {'control': 0.0, 'new': 1.0}
        >>> study.set_floor({"control": 0.2})
        >>> study.propensities(), study.floor
        ({'control': 0.2, 'new': 0.8}, {'control': 0.2})
        """
        self._transport.do(do.SetFloor(floor), token)

    # The study itself

    def rename(self, name: str, *, token: str | None = None) -> None:
        """Rename the study. Other processes no longer find it by its old name.

        With the token of an earlier call, the study keeps the name that it has by now, which :attr:`name` then returns.
        """
        self._transport.rename(name, token)

    def archive(self, *, token: str | None = None) -> None:
        """Leave the study out of :func:`study_names`; it can still be used. Repeating the call changes nothing."""
        self._transport.archive(True, token)

    def unarchive(self, *, token: str | None = None) -> None:
        """Put the study back into :func:`study_names`."""
        self._transport.archive(False, token)


def _number(id: int | Trial) -> int:
    return id.id if isinstance(id, Trial) else id
