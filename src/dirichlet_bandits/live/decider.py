"""Choose the next arms and compute their propensities, by the policy's own functions on the rewards so far.

Random numbers depend only on the study's seed and one number: for a decision, the id of the round's first trial; for a
reward, the number of its event (some policies toss a coin for each reward). So the same events lead to the same
decisions in any process, at any time.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numba
import numpy as np

from dirichlet_bandits.compiler import direct
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import next_round
from dirichlet_bandits.engine.verbs import has_own, specialised
from dirichlet_bandits.errors import PolicyError
from dirichlet_bandits.live.direction import MAXIMIZE, Direction
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.warm_start import BY_DUELS, Warm, weighted_tally
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.mixing import forced_arm, mixed
from dirichlet_bandits.policies.propensity import IncrementalPropensities
from dirichlet_bandits.seeding import (
    Stream,
    new_stream,
    root_sequence,
    start_numbered,
    start_numbered_entry,
    study_words,
)
from dirichlet_bandits.types import Floats, Ints, Words

VERSION: Final = 2
"""Of the rules here; stored with each round, so that a replay knows what to expect.

1: the order of untried arms also depended on such orders drawn before by the same process.
2: all decisions depend on the seed and the events only.
"""

_DECISION: Final = 0
_REWARD: Final = 1
_FLOOR: Final = 2  # a separate stream, so that the policy draws the same with a floor and without
_BEFORE: Final = 1 << 62  # numbers of past rewards begin here, far beyond those of events
_AS_THEY_ARE: Final = Direction(MAXIMIZE)


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
        self._forgets = has_own(verbs.note, type(self._params))
        self._counts_pending = has_own(verbs.prepare, type(self._params))
        self._root = study_words(root_sequence(seed))
        self._stream = new_stream()
        self._coins = (self._root, self._stream) if verbs.draws(verbs.update, self._params) else ()
        self._seed = seed
        self._parts: dict[str, Decider] = {}
        self._tell: Callable[..., Any] | None = None  # compiled code for the types of this policy's states
        self._choose: Callable[..., Ints] | None = None  # likewise
        self._keeps_type = False  # whether updates were seen to keep the type of the state
        self._forget()

    def of(self, segment: str | None) -> "Decider":
        """Return the same policy with its state in one segment, or this decider if there is no segment."""
        if segment is None:
            return self
        if segment not in self._parts:
            more = self._with_floors, self._warm, self._borrow
            self._parts[segment] = Decider(self.policy, self._seed, self.direction, *more)
        return self._parts[segment]

    def _forget(self) -> None:
        self._arms: list[int] = []
        self._state: Any = None
        self._weighted: Any = None  # used in place of the state if past rewards require it
        self._told = 0
        self._asked = 0
        self._waiting: list[int] = []
        self._revision: tuple[int, ...] = ()
        self._chances: Floats | None = None
        self._incremental = IncrementalPropensities(self.policy, 0)

    def decide(self, journal: Journal, trial: int, version: int = VERSION) -> Round:
        """Decide the round that begins with this trial, by the rules of the given version."""
        opening = journal.opening(self._past(journal))
        if opening:
            left_over = self._stream.words[4]
            start_numbered_entry(*self._stream, self._root, _DECISION, trial)
            if version == 1:
                self._stream.words[4] = left_over
            order = self._stream.rng.permutation(opening).tolist()
            return Round(order, _spread(journal, opening, np.ones(len(opening))))
        chances = self._known_chances(journal)
        every, floors = self._with_floor(journal, chances)
        if floors is not None:
            start_numbered_entry(*self._stream, self._root, _FLOOR, trial)
            forced = int(forced_arm.py_func(floors, self._stream.rng.random()))  # type: ignore[attr-defined]
            if forced >= 0:
                return Round([forced], every)
        possible = [arm for arm, chance in enumerate(chances.tolist()) if chance]
        # If only one outcome is possible, `select` may take long to return it.
        arms = possible if len(possible) == 1 else self._select(trial)
        return Round([self._arms[arm] for arm in arms], every)

    def _select(self, trial: int) -> list[int]:
        """Return the arms that the policy selects for the round that begins with this trial."""
        if self._weighted is not None:
            start_numbered_entry(*self._stream, self._root, _DECISION, trial)
            arms: list[int] = self._weighted.select(self._stream.rng)
            return arms
        given = self._params, self._state, trial, self._root, self._stream
        choose: Any = self._choose or specialised(select_study, self._params)
        if self._choose is None and self._keeps_type:
            self._choose = choose = direct(choose, *given)
        chosen: list[int] = choose(*given).tolist()
        return chosen

    def propensities(self, journal: Journal) -> Floats:
        """Return for every arm the probability that it is in the next round."""
        opening = journal.opening(self._past(journal))
        if opening:
            return _spread(journal, opening, np.ones(len(opening)))
        every, _ = self._with_floor(journal, self._known_chances(journal))
        return every

    def _with_floor(self, journal: Journal, chances: Floats) -> tuple[Floats, Floats | None]:
        """Return the propensities of all arms from those of the policy and the floors; None if there are none."""
        every, floors = _spread(journal, self._arms, chances), journal.floors() if self._with_floors else None
        return (every, None) if floors is None else (mixed(every, floors), floors)

    def _known_chances(self, journal: Journal) -> Floats:
        """Return propensities among the known arms, in the order of ``self._arms``."""
        self._follow(journal)
        if self._chances is None:
            weighted = self._weighted
            chances = self._incremental.propensities(self._state) if weighted is None else weighted.propensities()
            listed = chances.tolist()  # of a few numbers, lists are faster than arrays
            if not (all(chance >= 0.0 for chance in listed) and 0.0 < sum(listed) < np.inf):  # NaN is not either
                raise PolicyError(repr(self.policy), [f"has propensities {listed}: nothing can be decided"])
            self._chances = chances
        return self._chances

    def _follow(self, journal: Journal) -> None:
        """Bring the state up to the journal, from the first reward on if known arms or past rewards have changed."""
        known, revision = journal.known_arms(self._past(journal)), self._revision_of(journal)
        if known != self._arms or self._revision != revision or self._told > len(journal.told.arms):
            self._forget()
            self._arms, self._state, self._revision = known, self.policy.init(len(known)), revision
            self._incremental = IncrementalPropensities(self.policy, len(known))
            if self._warm is not None or self._borrow:
                self._remember(journal)
        self._learn(journal)
        asked = len(journal.arm_of)
        if self._forgets and asked != self._asked:
            specialised(_note_study, self._params)(self._params, self._state, asked)
            self._asked, self._chances = asked, None
        if self._counts_pending:
            self._prepare(journal)

    def _prepare(self, journal: Journal) -> None:
        """Set in the state which rewards are outstanding."""
        earliest = dict.fromkeys(self._arms, verbs.NEVER)
        left = sum(journal.n_pending[arm] > 0 for arm in self._arms)
        for trial in journal.pending:
            if left == 0:
                break
            if earliest.get(journal.arm_of[trial]) == verbs.NEVER:
                earliest[journal.arm_of[trial]] = trial
                left -= 1
        waiting = [journal.n_pending[arm] for arm in self._arms]
        outstanding = [*waiting, *earliest.values()]
        if self._chances is None or outstanding != self._waiting:
            self._state = specialised(_prepare_study, self._params)(
                self._params, self._state, np.array(waiting), np.array(list(earliest.values())), self._stream.rng
            )
            self._waiting, self._chances = outstanding, None

    def _past(self, journal: Journal) -> list[int]:
        """Return the number of past rewards of each arm, or of those borrowed from other segments."""
        if self._borrow:
            return [sum(part.n_told[arm] for part in journal.siblings()) for arm in range(len(journal.names))]
        return [] if self._warm is None else [len(self._warm.history.get(name, ())) for name in journal.names]

    def _revision_of(self, journal: Journal) -> tuple[int, ...]:
        """Return numbers that change when rewards do that the state holds, other than by one more of its own."""
        others = journal.siblings() if self._borrow else ()
        return (journal.revision, *(number for part in others for number in (part.revision, len(part.told.arms))))

    def _remembered(self, journal: Journal, arm: int) -> list[float]:
        """Return the past rewards of an arm, or those of other segments."""
        if self._warm is not None:
            return list(self._warm.history.get(journal.names[arm], ()))
        every = (part.told for part in journal.siblings())
        return [x for told in every for one, x in zip(told.arms, told.rewards, strict=True) if one == arm]

    def _remember(self, journal: Journal) -> None:
        """Start the state with the past rewards."""
        past = [self.direction.turn(np.array(self._remembered(journal, arm), np.float64)) for arm in self._arms]
        weight = self._borrow if self._warm is None else self._warm.weight
        if self._warm is not None and weight == 1.0:
            arms = np.repeat(np.arange(len(past)), [x.size for x in past])
            numbers = [(arm << 32) + k for arm, x in zip(self._arms, past, strict=True) for k in range(x.size)]
            earlier = _BEFORE + np.array(numbers, np.int64)
            self._update(arms, np.concatenate(past), earlier, *np.zeros((2, arms.size), np.int64))
        elif type(self.policy).__name__ in BY_DUELS:
            from dirichlet_bandits.policies.dirichlet.weighted import WeightedDuels

            self._weighted = WeightedDuels(self.policy, past, weight)
        elif type(self.policy).__name__ == "NPTS":
            from dirichlet_bandits.policies.forgetting.weighted import WeightedIndices

            self._weighted = WeightedIndices(self.policy.reward_bounds[1], past, weight)
        else:
            self._state = weighted_tally(past, weight)

    def _update(self, arms: Ints, rewards: Floats, numbers: Ints, trials: Ints, asked: Ints) -> None:
        """Update the policy's state with rewards, as the policy sees them."""
        if self._weighted is not None:
            self._weighted.learn(arms.tolist(), rewards.tolist())
            return
        given = (self._params, self._state, _Reports(arms, rewards, numbers, trials, asked), *self._coins)
        if self._tell is None:
            tell: Any = specialised(_update_study if self._coins else _update_without_draws, self._params)
            self._state = tell(*given)
            self._keeps_type = numba.typeof(given[1]) == numba.typeof(self._state)
            self._tell = direct(tell, *given) if self._keeps_type else tell
        else:
            self._state = self._tell(*given)

    def _learn(self, journal: Journal) -> None:
        """Bring the state up to the rewards of the journal."""
        told = journal.told
        first, last = self._told, len(told.arms)
        if first == last:
            return
        place = {arm: k for k, arm in enumerate(self._arms)}
        counted = [i for i in range(first, last) if told.arms[i] in place]
        if counted:
            self._update(
                np.array([place[told.arms[i]] for i in counted]),
                self.direction.turn(np.array([told.rewards[i] for i in counted])),
                np.array([told.numbers[i] for i in counted]),
                np.array([told.trials[i] for i in counted]),
                np.array([told.asked[i] for i in counted]),
            )
            self._chances = None
        self._told = last


def _spread(journal: Journal, arms: list[int], chances: Floats) -> Floats:
    """Spread the probabilities of some arms, in their order, to all arms; the others get 0."""
    if len(arms) == len(journal.names):
        return chances
    every = np.zeros(len(journal.names))
    every[arms] = chances
    return every


class _Reports(NamedTuple):
    """Rewards in the order of their reports."""

    arms: Ints
    rewards: Floats
    numbers: Ints  # of their events
    trials: Ints
    asked: Ints  # trials at the time of the report


def _update_study(policy: Any, state: Any, reports: _Reports, root: Words, stream: Stream) -> Any:
    """Return the state after many rewards, each with the random numbers of its event; an entry point."""
    arms, rewards, numbers, trials, asked = reports
    for i in range(arms.size):
        start_numbered(stream.rng, stream.words, root, _REWARD, numbers[i])
        verbs.note(policy, state, trials[i], asked[i])
        state = verbs.update(policy, state, arms[i], rewards[i], stream.rng)
    return state


def _update_without_draws(policy: Any, state: Any, reports: _Reports) -> Any:
    """Return the state after many rewards, for a policy that draws nothing for them; an entry point."""
    arms, rewards, _, trials, asked = reports
    for i in range(arms.size):
        verbs.note(policy, state, trials[i], asked[i])
        state = verbs.update(policy, state, arms[i], rewards[i], None)
    return state


def select_study(policy: Any, state: Any, trial: int, root: Words, stream: Stream) -> Ints:
    """Return the arms of the round that begins with this trial, with the random numbers of that trial; an entry point.

    All arms of the state have been pulled, unless the policy forgets.
    """
    start_numbered(stream.rng, stream.words, root, _DECISION, trial)
    return next_round(policy, state, stream.rng)


def _note_study(policy: Any, state: Any, asked: int) -> None:
    """Set the number of trials in the state before it decides; an entry point."""
    verbs.note(policy, state, asked, asked)


def _prepare_study(policy: Any, state: Any, waiting: Ints, earliest: Ints, rng: Any) -> Any:
    """Return the state that decides while these rewards are outstanding; an entry point."""
    return verbs.prepare(policy, state, waiting, earliest, rng)
