"""Every function for theorists takes lists and arrays and names what it cannot take."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db

BAD_DATA = [[], [math.nan, 1.0], [math.inf, 0.0], [-math.inf], np.array([]), [[1.0, 2.0]], "text", None]
BAD_NUMBERS = [math.nan, math.inf, -math.inf, None, "1"]
LAW = db.Exponential(2.0)
COINS = [db.Bernoulli(0.4), db.Bernoulli(0.5)]
BELLS = [db.Gaussian(0.0, 1.0), db.Gaussian(1.0, 1.0)]

DATA = {
    "kinf values": ("values", lambda x: db.kinf(x, 0.5, 2.0)),
    "kinf weights": ("weights", lambda x: db.kinf([0.0, 1.0], 0.7, 2.0, weights=x)),
    "crossing values": ("values", lambda x: db.crossing_probability(x, 0.5)),
    "crossing weights": ("weights", lambda x: db.crossing_probability([0.0, 1.0], 0.5, weights=x)),
    "cvar values": ("values", lambda x: db.cvar(x, 0.5)),
    "cvar weights": ("weights", lambda x: db.cvar([0.0, 1.0], 0.5, x)),
    "cvar crossing values": ("values", lambda x: db.cvar_crossing_probability(x, 0.5, 0.5)),
    "cvar kinf values": ("values", lambda x: db.cvar_kinf(x, 0.5, 0.5, 2.0)),
    "cvar kinf weights": ("weights", lambda x: db.cvar_kinf([0.0, 1.0], 0.7, 0.5, 2.0, x)),
    "bounds values": ("values", lambda x: db.crossing_bounds(x, 0.5)),
}
NUMBERS = {
    "kinf target": ("target", lambda v: db.kinf([0.0, 1.0], v, 2.0)),
    "kinf upper": ("upper", lambda v: db.kinf([0.0, 1.0], 0.5, v)),
    "crossing threshold": ("threshold", lambda v: db.crossing_probability([0.0, 1.0], v)),
    "cvar crossing threshold": ("threshold", lambda v: db.cvar_crossing_probability([0.0, 1.0], v, 0.5)),
    "cvar kinf target": ("target", lambda v: db.cvar_kinf([0.0, 1.0], v, 0.5, 2.0)),
    "cvar kinf upper": ("upper", lambda v: db.cvar_kinf([0.0, 1.0], 0.5, 0.5, v)),
    "bounds threshold": ("threshold", lambda v: db.crossing_bounds([0.0, 1.0], v)),
    "bounds upper": ("upper", lambda v: db.crossing_bounds([0.0, 1.0], 0.5, v)),
    "condition target": ("target", lambda v: db.qds_condition(LAW, v, 8, 0.05)),
    "condition rho": ("rho", lambda v: db.qds_condition(LAW, 3, v, 0.05)),
    "condition alpha": ("alpha", lambda v: db.qds_condition(LAW, 3, 8, v)),
    "condition divergence": ("family_divergence", lambda v: db.qds_condition(LAW, 3, 8, 0.05, v)),
    "bonus mu": ("mu", lambda v: db.necessary_bonus(LAW, v)),
    "lower bound sigma": (
        "sigma",
        lambda v: db.lower_bound([db.Gaussian(0, 1), db.Gaussian(1, 1)], "gaussian", sigma=v),
    ),
    "lower bound upper": ("upper", lambda v: db.lower_bound(COINS, "bounded", upper=v)),
}
OPTIONAL = {
    "kinf weights",
    "crossing weights",
    "cvar weights",
    "cvar kinf weights",
    "bounds upper",
    "condition divergence",
    "lower bound sigma",
    "lower bound upper",
}


def refused(case, name, call, bad):
    """The call refuses what is bad and names the argument; None is refused unless the argument is optional."""
    if bad is None and case in OPTIONAL:
        return
    with pytest.raises(db.ArgumentError, match=f"'{name}' must be"):
        call(bad)


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("bad", BAD_DATA, ids=repr)
def test_data(case, bad):
    refused(case, *DATA[case], bad)


@pytest.mark.parametrize("case", NUMBERS)
@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=repr)
def test_numbers(case, bad):
    refused(case, *NUMBERS[case], bad)


@pytest.mark.parametrize("bad", [[math.nan], [math.inf], [[1.0]], "text", None], ids=repr)
def test_histories(bad):
    with pytest.raises(db.ArgumentError, match=r"'histories\[1\]' must be"):
        db.propensities(db.RDS(), [[0.5], bad])


def test_lists_and_arrays_are_the_same():
    x = [0.0, 0.5, 1.0]
    assert db.kinf(x, 0.7, 2.0) == db.kinf(np.array(x), 0.7, 2.0) == db.kinf(tuple(x), 0.7, 2.0)
    assert db.crossing_probability(x, 0.7) == db.crossing_probability(np.array(x, np.float32), 0.7)
    assert db.crossing_bounds(x, 0.7) == db.crossing_bounds(np.array(x), 0.7)
    frozen = np.array(x)
    frozen.flags.writeable = False
    lists, arrays = db.propensities(db.RDS(), [x, [0.25]]), db.propensities(db.RDS(), np.array([x, x])[:, :3])
    assert lists.shape == arrays.shape == (2,)
    np.testing.assert_array_equal(lists, db.propensities(db.RDS(), (frozen, np.array([0.25]))))
