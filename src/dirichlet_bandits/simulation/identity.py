"""What makes two simulations the same, number by number: a store takes chunks of one simulation only."""

import hashlib
import inspect
import json
import pickle
from typing import Any

import numpy as np

from dirichlet_bandits.arms.bandit import RewardLaw
from dirichlet_bandits.arms.laws import Law
from dirichlet_bandits.compilation import source_stamp
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.simulation import python_loop
from dirichlet_bandits.simulation.units import AnyPolicy, Game

_PROBES = 16  # rewards that tell one foreign law from another


def identity(game: Game, replications: int) -> str:
    """JSON of everything that decides the numbers: the message of a refusal names what differs."""
    bandit = game.bandit
    parts: dict[str, Any] = {
        "seed": [str(game.root.entropy), *game.root.spawn_key],
        "horizon": game.horizon,
        "replications": replications,
        "recorded times": _digest(game.times.tobytes()),
        "policies": {name: _policy(name, policy) for name, policy in game.policies.items()},
        "arms": {name: _law(law) for name, law in zip(bandit.names, bandit.arms, strict=True)},
        "value of 'fast'": game.fast,
        "version of the sources": source_stamp(python_loop.__file__),
    }
    return json.dumps(parts)


def _policy(name: str, policy: AnyPolicy) -> list[str]:
    if isinstance(policy, Policy):
        return [repr(policy), verbs.stamp(type(policy.params))]
    kind = type(policy)
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):  # typed at a prompt
        source = ""
    try:
        state = pickle.dumps(policy.__getstate__())  # the repr of most classes is an address in memory
    except Exception as error:
        raise ArgumentError(
            f"policies[{name!r}]", f"picklable, to be known again in a store ({error})", policy
        ) from error
    return [f"{kind.__module__}.{kind.__qualname__}", _digest(source.encode(), state)]


def _law(law: RewardLaw) -> list[str]:
    if isinstance(law, Law):
        return [repr(law), _digest(law.row.tobytes(), law.data.tobytes())]
    rewards = np.asarray(law.rvs(size=_PROBES, random_state=np.random.default_rng(0)), np.float64)
    return [type(law).__qualname__, _digest(np.float64(law.mean()).tobytes(), rewards.tobytes())]


def _digest(*parts: bytes) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()
