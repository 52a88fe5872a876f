"""The arm: fresh seasons, the same from the same generator, with the law of the shipped samples."""

import numpy as np
import pytest

from dirichlet_bandits import crops
from dirichlet_bandits.crops.dssat import Model
from dirichlet_bandits.errors import ArgumentError


def test_mean_and_std_are_those_of_the_shipped_samples() -> None:
    row = crops.yields()["28 Mar"]
    arm = crops.DssatArm(87)
    assert arm.mean() == pytest.approx(row.mean())
    assert arm.std() == pytest.approx(row.std())
    with pytest.raises(ArgumentError, match="57, 72"):
        crops.DssatArm(60).mean()
    with pytest.raises(ArgumentError, match="published case"):
        crops.DssatArm(87, case=crops.Case(density=3.0)).std()


def test_same_generator_same_rewards(model: Model) -> None:
    whole = crops.DssatArm(87, workers=2).rvs(23, random_state=np.random.default_rng(4))
    arm, rng = crops.DssatArm(87), np.random.default_rng(4)
    one_by_one = [arm.rvs(random_state=rng) for _ in range(3)] + list(arm.rvs((4, 5), rng).ravel())
    np.testing.assert_array_equal(whole, one_by_one)
    # Another generator does not see the seasons that wait for the first.
    np.testing.assert_array_equal(arm.rvs(2, np.random.default_rng(4)), whole[:2])
    np.testing.assert_array_equal(arm.rvs(2, 4), whole[:2])
    assert not np.array_equal(arm.rvs(5, 5), whole[:5])
    assert len(arm.rvs(0, 5)) == 0
    assert isinstance(arm.rvs(), float)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"size": -1}, "size"),
        ({"size": (2, 1.5)}, "size"),
        ({"size": 1, "random_state": "x"}, "random_state"),
    ],
)
def test_bad_pulls(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        crops.DssatArm(87).rvs(**arguments)  # type: ignore[arg-type]
    assert caught.value.name == field


@pytest.mark.parametrize("day", [0, 55, 301, 87.0])
def test_bad_days(day: object) -> None:
    with pytest.raises(ArgumentError, match="'day'"):
        crops.DssatArm(day)  # type: ignore[arg-type]


def test_bad_arms() -> None:
    with pytest.raises(ArgumentError, match="'case'"):
        crops.DssatArm(87, case="PC0005")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'workers'"):
        crops.DssatArm(87, workers=0)
