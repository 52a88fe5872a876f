"""The identity of a simulation: everything its numbers depend on. A store takes chunks of one simulation only."""

import dataclasses
import functools
import inspect
import json
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.arms.tapes import digest, law_identity
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.simulation import python_loop
from dirichlet_bandits.simulation.plan import AnyPolicy, Plan
from dirichlet_bandits.sources import source_stamp
from dirichlet_bandits.worlds import Feedback, World

_OTHERWISE = {"arms", "names", "objective", "means", "values", "_called"}  # fields that _bandit covers by itself


def identity(plan: Plan) -> str:
    """Return JSON of every field of the plan and of the sources, so that an error can name what differs."""
    parts: dict[str, Any] = {}
    for field in dataclasses.fields(plan):
        parts |= _parts(getattr(plan, field.name), field.metadata.get("called", field.name))
    if isinstance(plan.bandit, World):
        parts["values over time"] = digest(plan.bandit.values(plan.horizon).tobytes())
    return json.dumps({**parts, "version of the sources": source_stamp(python_loop.__file__)})


@functools.singledispatch
def _parts(value: object, name: str) -> dict[str, Any]:
    """Return a field as plain data, under the names that an error shows; each type of field needs a rule."""
    raise TypeError(f"identity: no rule for {name!r}, a {type(value).__name__}")


@_parts.register
def _number(value: int, name: str) -> dict[str, Any]:
    return {name: value}


@_parts.register
def _array(value: np.ndarray, name: str) -> dict[str, Any]:
    return {name: digest(value.tobytes())}


@_parts.register
def _seed(value: np.random.SeedSequence, name: str) -> dict[str, Any]:
    return {name: [str(value.entropy), *value.spawn_key]}


@_parts.register
def _policies(value: Mapping, name: str) -> dict[str, Any]:  # type: ignore[type-arg] # dispatch asks for the bare type
    return {name: {key: _policy(key, policy) for key, policy in value.items()}}


@_parts.register
def _bandit(value: Bandit, name: str) -> dict[str, Any]:
    """Return arms and objective; for a subclass or further fields, also the class and a digest of these fields."""
    parts: dict[str, Any] = {
        "arms": {arm: law_identity(law) for arm, law in zip(value.names, value.arms, strict=True)},
        "objective": [value.objective.name, digest(value.values.tobytes())],
    }
    kind, more = type(value), _more_fields(value)
    if kind is not Bandit or more:
        parts[name] = [f"{kind.__module__}.{kind.__qualname__}", digest(_pickled(name, value, lambda: more))]
    return parts


@_parts.register
def _world(value: World, name: str) -> dict[str, Any]:
    return {name: [type(value).__qualname__, value.names, value.objective.name, value.identity()]}


@_parts.register
def _feedback(value: Feedback, name: str) -> dict[str, Any]:
    return {} if value.immediate else {name: value.identity()}


def _more_fields(bandit: Bandit) -> dict[str, Any]:
    """Return all fields that arms and objective do not determine, except those computed when first used."""
    return {
        key: value
        for key, value in sorted(vars(bandit).items())
        if key not in _OTHERWISE and not isinstance(getattr(type(bandit), key, None), functools.cached_property)
    }


def _policy(name: str, policy: AnyPolicy) -> list[str]:
    """Return a policy as text: its repr, and a digest of its code and state."""
    if isinstance(policy, Policy):
        return [repr(policy), verbs.stamp(policy.params)]
    kind = type(policy)
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):  # typed at a prompt
        source = ""
    state = _pickled(f"policies[{name!r}]", policy, policy.__getstate__)
    return [f"{kind.__module__}.{kind.__qualname__}", digest(source.encode(), state)]


def _pickled(name: str, value: object, state: Callable[[], object]) -> bytes:
    """Return the state of an object as bytes, because the repr of most classes contains an address in memory."""
    try:
        return pickle.dumps(state())
    except Exception as error:
        raise ArgumentError(name, f"picklable, so that a store can recognize it ({error})", value) from error
