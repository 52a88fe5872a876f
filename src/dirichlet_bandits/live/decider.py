"""Choose the next arms and compute their propensities, by the policy's own functions on the rewards so far.

Random numbers depend only on the study's seed and one number: for a decision, the id of the round's first trial; for a
reward, the number of its event (some policies toss a coin for each reward). So the same events lead to the same
decisions in any process, at any time.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from dirichlet_bandits.compiler import Direct, jit, lent_generator, overload, shielded, types
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.history import has_room, more_room
from dirichlet_bandits.engine.loop import next_round
from dirichlet_bandits.engine.verbs import has_own, specialized, updates_in_place
from dirichlet_bandits.errors import PolicyError
from dirichlet_bandits.live.direction import MAXIMIZE, Direction
from dirichlet_bandits.live.settings import Warm
from dirichlet_bandits.live.view import StudyView
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.floored import forced_arm, mixed
from dirichlet_bandits.policies.propensity import IncrementalPropensities
from dirichlet_bandits.policies.registry import propensities_of, registration
from dirichlet_bandits.policies.weighted_rewards import WeightedRewards
from dirichlet_bandits.seeding import (
    LentStream,
    lent_stream,
    new_stream,
    root_sequence,
    start_numbered,
    start_numbered_stream,
    study_words,
)
from dirichlet_bandits.types import Floats, Ints, Words

VERSION: Final = 4
"""Of the rules here; stored with each round, so that a replay knows what to expect.

1: the order of untried arms also depended on such orders drawn before by the same process.
2: all decisions depend on the seed and the events only.
3: an arm of NPTS is drawn from its propensities, not by drawing an index for each arm.
4: only the first trial of a unit counts, also if its arm was retired; segments know which trials were reopened.
"""

_DECISION: Final = 0
_REWARD: Final = 1
_FLOOR: Final = 2  # a separate stream, so that the policy draws the same with a floor and without
_BEFORE: Final = 1 << 62  # numbers of past rewards begin here, far beyond those of events
_AS_THEY_ARE: Final = Direction(MAXIMIZE)
T = TypeVar("T")


class Round(NamedTuple):
    """The arms to assign, in this order, and for every arm the probability that it was to be among them."""

    arms: list[int]
    propensities: Floats


class Decider:
    """A policy with its state in one study; the direction of the study turns costs into rewards."""

    def __init__(
        self,
        policy: Policy,
        seed: int,
        direction: Direction = _AS_THEY_ARE,
        with_floors: bool = True,
        warm: Warm | None = None,
        borrow: float = 0.0,
    ) -> None:
        self.policy = policy
        self.direction = direction
        self._params: Any = policy.params
        self._with_floors = with_floors
        self._warm = None if warm is None or warm.weight == 0.0 else warm
        self._borrow = borrow  # the weight of rewards from other segments
        self._forgets = has_own(verbs.note, self._params)
        self._counts_pending = has_own(verbs.prepare, self._params)
        self._drawn = propensities_of(policy).drawn
        self._root = study_words(root_sequence(seed))
        self._stream = new_stream()
        self._lent = lent_stream(self._stream)
        self._coins = self._lent if verbs.updates_randomly(self._params) else None
        self._seed = seed
        self._parts: dict[str, Decider] = {}
        # Then all results of compiled code are written to arrays, so that an interrupt cannot end the process.
        self._in_place = updates_in_place(self._params) and self._warm is None and not borrow
        self._start = Direct(lambda: start_numbered_stream)
        self._add = Direct(lambda: specialized(_update_in_place, self._params))
        self._choose = Direct(lambda: specialized(select_study, self._params))
        self._forget()

    def of(self, segment: str | None) -> "Decider":
        """Return the same policy with its state in one segment, or this decider if there is no segment."""
        if segment is None:
            return self
        if segment not in self._parts:
            self._parts[segment] = self.fresh()
        return self._parts[segment]

    def fresh(self) -> "Decider":
        """Return the same policy before it has seen a reward."""
        more = self._with_floors, self._warm, self._borrow
        return Decider(self.policy, self._seed, self.direction, *more)

    def _forget(self) -> None:
        self._arms: list[int] = []
        self._state: Any = None
        self._weighted: WeightedRewards | None = None  # used in place of the state if past rewards require it
        self._told = 0
        self._asked = 0
        self._waiting: list[int] = []
        self._revision: tuple[int, ...] = ()
        self._chances: Floats | None = None
        self._incremental: IncrementalPropensities | None = None

    def decide(self, journal: StudyView, trial: int, version: int = VERSION) -> Round:
        """Decide the round that begins with this trial, by the rules of the given version.

        An interrupt in the main thread leaves the decider unusable.
        """
        return self._shielded(self._decide, journal, trial, version)

    def _shielded(self, work: Callable[..., T], *args: Any) -> T:
        """Return ``work(*args)``, where interrupts cannot come unless the parts of the work are shielded themselves."""
        return work(*args) if self._in_place else shielded(work, *args)

    def _decide(self, journal: StudyView, trial: int, version: int) -> Round:
        opening = journal.opening(self._past(journal))
        if opening:
            left_over = self._stream.words[4]
            self._begin(_DECISION, trial)
            if version == 1:
                self._stream.words[4] = left_over
            order = self._stream.rng.permutation(opening).tolist()
            return Round(order, _spread(journal, opening, np.ones(len(opening))))
        chances = self._known_chances(journal)
        every, floors = self._with_floor(journal, chances)
        if floors is not None:
            self._begin(_FLOOR, trial)
            forced = int(forced_arm.py_func(floors, self._stream.rng.random()))  # type: ignore[attr-defined]
            if forced >= 0:
                return Round([forced], every)
        possible = [arm for arm, chance in enumerate(chances.tolist()) if chance]
        # If only one outcome is possible, `select` may take long to return it.
        if len(possible) == 1:
            arms = possible
        elif self._drawn and version >= 3:
            self._begin(_DECISION, trial)
            arm = int(forced_arm.py_func(chances, self._stream.rng.random()))  # type: ignore[attr-defined]
            arms = [arm if arm >= 0 else possible[-1]]  # rounding may leave their sum below 1
        else:
            arms = self._select(trial)
        return Round([self._arms[arm] for arm in arms], every)

    def _begin(self, kind: int, trial: int) -> None:
        """Start the random numbers of a decision."""
        _call(self._start, self._lent, self._root, kind, trial)

    def _select(self, trial: int) -> list[int]:
        """Return the arms that the policy selects for the round that begins with this trial."""
        if self._weighted is not None:
            self._begin(_DECISION, trial)
            return self._weighted.select(self._stream.rng)
        given = self._params, self._state, trial, self._root, self._lent, self._chosen
        size = _call(self._choose, *given) if self._in_place else specialized(select_study, self._params)(*given)
        return self._chosen[:size].tolist()

    def propensities(self, journal: StudyView) -> Floats:
        """Return for every arm the probability that it is in the next round."""
        return self._shielded(self._propensities, journal)

    def _propensities(self, journal: StudyView) -> Floats:
        opening = journal.opening(self._past(journal))
        if opening:
            return _spread(journal, opening, np.ones(len(opening)))
        every, _ = self._with_floor(journal, self._known_chances(journal))
        return every

    def _with_floor(self, journal: StudyView, chances: Floats) -> tuple[Floats, Floats | None]:
        """Return the propensities of all arms from those of the policy and the floors; None if there are none."""
        every, floors = _spread(journal, self._arms, chances), journal.floors() if self._with_floors else None
        return (every, None) if floors is None else (mixed(every, floors), floors)

    def _known_chances(self, journal: StudyView) -> Floats:
        """Return propensities among the known arms, in the order of ``self._arms``."""
        self._follow(journal)
        if self._chances is None:
            chances = self._policy_chances()
            listed = chances.tolist()  # of a few numbers, lists are faster than arrays
            if not (all(chance >= 0.0 for chance in listed) and 0.0 < sum(listed) < np.inf):  # NaN is not either
                raise PolicyError(repr(self.policy), [f"has propensities {listed}: nothing can be decided"])
            self._chances = chances
        return self._chances

    def _policy_chances(self) -> Floats:
        if self._weighted is not None:
            return self._weighted.propensities()
        assert self._incremental is not None  # there is a state
        known = self._incremental.without_compiling(self._state)
        return shielded(self._incremental.propensities, self._state) if known is None else known

    def _follow(self, journal: StudyView) -> None:
        """Bring the state up to the journal, from the first reward on if known arms or past rewards have changed."""
        known, revision = journal.known_arms(self._past(journal)), self._revision_of(journal)
        if known != self._arms or self._revision != revision or self._told > len(journal.told.arms):
            self._forget()
            self._arms, self._revision = known, revision
            shielded(self._begin_state, journal)
        self._learn(journal)
        asked = len(journal.arm_of)
        if self._forgets and asked != self._asked:
            specialized(_note_study, self._params)(self._params, self._state, asked)
            self._asked, self._chances = asked, None
        if self._counts_pending:
            self._prepare(journal)

    def _begin_state(self, journal: StudyView) -> None:
        """Begin the state of the known arms, before their own rewards."""
        self._state, self._chosen = self.policy.init(len(self._arms)), np.empty(len(self._arms), np.int64)
        self._incremental = IncrementalPropensities(self.policy, len(self._arms))
        if self._warm is not None or self._borrow:
            self._remember(journal)

    def _prepare(self, journal: StudyView) -> None:
        """Set in the state which rewards are outstanding."""
        earliest = dict.fromkeys(self._arms, verbs.NEVER)
        left = sum(journal.n_pending[arm] > 0 for arm in self._arms)
        for trial in journal.pending:
            if left == 0:
                break
            if trial not in journal.repeats and earliest.get(journal.arm_of[trial]) == verbs.NEVER:
                earliest[journal.arm_of[trial]] = trial
                left -= 1
        waiting = [journal.n_pending[arm] for arm in self._arms]
        outstanding = [*waiting, *earliest.values()]
        if self._chances is None or outstanding != self._waiting:
            given = self._params, self._state, np.array(waiting), np.array(list(earliest.values())), self._lent
            self._state = specialized(_prepare_study, self._params)(*given)
            self._waiting, self._chances = outstanding, None

    def _past(self, journal: StudyView) -> list[int]:
        """Return the number of past rewards of each arm, or of those borrowed from other segments."""
        if self._borrow:
            return [sum(part.n_told[arm] for part in journal.siblings()) for arm in range(len(journal.names))]
        return [] if self._warm is None else [len(self._warm.history.get(name, ())) for name in journal.names]

    def _revision_of(self, journal: StudyView) -> tuple[int, ...]:
        """Return numbers that change when rewards do that the state holds, other than by one more of its own."""
        others = journal.siblings() if self._borrow else ()
        return (journal.revision, *(number for part in others for number in (part.revision, len(part.told.arms))))

    def _remembered(self, journal: StudyView, arm: int) -> list[float]:
        """Return the past rewards of an arm, or those of other segments."""
        if self._warm is not None:
            return list(self._warm.history.get(journal.names[arm], ()))
        every = (part.told for part in journal.siblings())
        return [x for told in every for one, x in zip(told.arms, told.rewards, strict=True) if one == arm]

    def _remember(self, journal: StudyView) -> None:
        """Start the state with the past rewards."""
        past = [self.direction.turn(np.array(self._remembered(journal, arm), np.float64)) for arm in self._arms]
        weight = self._borrow if self._warm is None else self._warm.weight
        if self._warm is not None and weight == 1.0:
            every = [(place, k, x) for place, xs in enumerate(past) for k, x in enumerate(xs.tolist())]
            self._update([(place, x, _BEFORE + (self._arms[place] << 32) + k, 0, 0) for place, k, x in every])
        else:
            weighted = registration(self.policy).weighted
            assert weighted is not None  # or the study would have been refused
            made = weighted(self.policy, past, weight)
            if isinstance(made, WeightedRewards):
                self._weighted = made
            else:
                self._state = made

    def _update(self, reported: list[tuple[int, float, int, int, int]]) -> None:
        """Update the policy's state with rewards, as the policy sees them: the fields of ``REPORT``."""
        if self._weighted is not None:
            self._weighted.learn([report[0] for report in reported], [report[1] for report in reported])
            return
        reports, more = np.array(reported, REPORT), (self._root, self._coins)
        if not self._in_place:
            self._state = specialized(_update_study, self._params)(self._params, self._state, reports, *more)
            return
        done = _call(self._add, self._params, self._state, reports, 0, *more)
        while done < len(reported):
            self._state = shielded(more_room, self._state, reported[done][0], 1)
            done = _call(self._add, self._params, self._state, reports, done, *more)

    def _learn(self, journal: StudyView) -> None:
        """Bring the state up to the rewards of the journal."""
        told = journal.told
        first, last = self._told, len(told.arms)
        if first == last:
            return
        place, turn = {arm: k for k, arm in enumerate(self._arms)}, self.direction.turn
        new = zip(*(column[first:last] for column in told), strict=True)
        counted = [(place[arm], turn(reward), *numbers) for arm, reward, *numbers in new if arm in place]
        if counted:
            self._update(counted)
            self._chances = None
        self._told = last


def _spread(journal: StudyView, arms: list[int], chances: Floats) -> Floats:
    """Spread the probabilities of some arms, in their order, to all arms; the others get 0."""
    if len(arms) == len(journal.names):
        return chances
    every = np.zeros(len(journal.names))
    every[arms] = chances
    return every


def _call(compiled: Direct, *args: Any) -> Any:
    """Call compiled code, shielded from interrupts if it has yet to be compiled."""
    return compiled(*args) if compiled.is_compiled else shielded(compiled, *args)


REPORT: Final = np.dtype([("arm", "i8"), ("reward", "f8"), ("number", "i8"), ("trial", "i8"), ("asked", "i8")])
"""A reward for compiled code: its arm, the number of its event, its trial, and how many trials there were."""


def _update_study(policy: Any, state: Any, reports: Any, root: Words, stream: Any) -> Any:
    """Return the state after many rewards, each with the random numbers of its event; an entry point."""
    for i in range(reports.size):
        state = _with_one_more(policy, state, reports, i, root, stream)
    return state


def _update_in_place(policy: Any, state: Any, reports: Any, first: int, root: Words, stream: Any) -> int:
    """Update the arrays of a state with rewards as long as they have room, and return the next one; an entry point."""
    i = first
    while i < reports.size and has_room(state, reports[i].arm):
        _with_one_more(policy, state, reports, i, root, stream)
        i += 1
    return i


@jit
def _with_one_more(policy: Any, state: Any, reports: Any, i: int, root: Words, stream: Any) -> Any:
    """Return the state after one more reward, with the random numbers of its event."""
    report = reports[i]
    verbs.note(policy, state, report.trial, report.asked)
    return verbs.update(policy, state, report.arm, report.reward, _generator_for(stream, root, report.number))


def _generator_for(stream: Any, root: Words, number: int) -> Any:
    """Return the generator of an event; None if the stream is None, because the policy draws nothing for rewards."""


@overload(_generator_for, strict=False)
def _find_generator_for(stream: Any, root: Any, number: Any) -> Any:
    def started(stream: Any, root: Words, number: int) -> Any:
        rng = lent_generator(stream.generator)
        start_numbered(rng, stream.words, root, _REWARD, number)
        return rng

    return (lambda stream, root, number: None) if isinstance(stream, types.NoneType) else started


def select_study(policy: Any, state: Any, trial: int, root: Words, stream: LentStream, chosen: Ints) -> int:
    """Write the arms of the round that begins with this trial to ``chosen`` and return their number; an entry point.

    The random numbers are those of the trial. All arms of the state have been pulled, unless the policy forgets.
    """
    rng = lent_generator(stream.generator)
    start_numbered(rng, stream.words, root, _DECISION, trial)
    arms = next_round(policy, state, rng)
    chosen[: arms.size] = arms
    return arms.size


def _note_study(policy: Any, state: Any, asked: int) -> None:
    """Set the number of trials in the state before it decides; an entry point."""
    verbs.note(policy, state, asked, asked)


def _prepare_study(policy: Any, state: Any, waiting: Ints, earliest: Ints, stream: LentStream) -> Any:
    """Return the state that decides while these rewards are outstanding; an entry point."""
    return verbs.prepare(policy, state, waiting, earliest, lent_generator(stream.generator))
