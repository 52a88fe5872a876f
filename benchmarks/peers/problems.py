"""What all libraries play: coins, which every one of them has policies for."""

HORIZON = 2_000
PROBLEMS = {
    "two coins": (0.9, 0.8),
    "ten coins": (0.6, 0.5, 0.5, 0.5, 0.45, 0.45, 0.45, 0.4, 0.4, 0.4),
}


def regret(pulls: list[int], coins: tuple[float, ...]) -> float:
    """What was lost, in expectation, by not always choosing the best coin."""
    return sum(n * (max(coins) - p) for n, p in zip(pulls, coins, strict=True))
