"""``python -m benchmarks.deciding [share] [--write]``: how soon the lottery rule names a winner, how often a wrong one.

The share is that of the games that are played, 1 unless given. With ``--write``, the tables go to docs/lottery_rule.md.
The games are those of ``tests/deciding_games.py``.
"""

import re
import sys
import time
from pathlib import Path

import numpy as np
from tests.deciding_games import (
    COIN,
    FREEZER,
    GRADED,
    GREEDY,
    JACKPOT,
    RAMP,
    SHARE,
    STEP,
    SURE,
    THOMPSON,
    WEEKDAYS,
    Game,
    coins,
    decided,
)

PAGE = Path(__file__).parents[1] / "docs" / "lottery_rule.md"
DELTAS = (0.2, 0.05, 0.01)
SPEEDS = (  # means, what the better arm gets, what the rule of earlier versions took, most trials, games
    ("0.5 / 0.6", "half", coins(0.5, 0.6), 2_235, 8_000, 10_000),
    ("0.5 / 0.6", "80%", coins(0.5, 0.6, policy=SHARE, share=0.8), 3_470, 12_000, 5_000),
    ("0.05 / 0.08", "half", coins(0.05, 0.08), 6_327, 20_000, 3_000),
    ("0.05 / 0.08", "80%", coins(0.05, 0.08, policy=SHARE, share=0.8), 10_897, 30_000, 2_000),
    ("0.1 / 0.18", "half", coins(0.1, 0.18), 1_623, 8_000, 5_000),
    ("0.05 / 0.06", "half", coins(0.05, 0.06), 61_605, 150_000, 500),
    ("0.05 / 0.06 / 0.05 / 0.05", "a quarter", coins(0.05, 0.06, 0.05, 0.05), 173_454, 400_000, 100),
)
EQUAL = (
    ("coins of 0.3, equal split", coins(0.3, 0.3)),
    ("coins of 0.02, epsilon-greedy", coins(0.02, 0.02, policy=GREEDY)),
    ("coins of 0.98, Thompson Sampling", coins(0.98, 0.98, policy=THOMPSON)),
    ("one sure arm, epsilon-greedy", Game(np.array([SURE, COIN]), np.array([0.5, 0.5]), policy=GREEDY)),
    ("rare jackpots, Thompson Sampling, floor 0.05", coins(0.02, 0.02, law=JACKPOT, policy=THOMPSON, floor=0.05)),
    ("many values, epsilon-greedy", coins(0.4, 0.4, law=GRADED, policy=GREEDY)),
    ("four coins of 0.3, epsilon-greedy", coins(0.3, 0.3, 0.3, 0.3, policy=GREEDY)),
    ("a policy that freezes lucky states", coins(0.5, 0.5, policy=FREEZER)),
    ("step from 0.2 to 0.4, epsilon-greedy", coins(0.2, 0.2, drift=STEP, policy=GREEDY)),
    ("step from 0.2 to 0.4, Thompson Sampling", coins(0.2, 0.2, drift=STEP, policy=THOMPSON)),
    ("ramp from 0.1 to 0.5, epsilon-greedy", coins(0.1, 0.1, drift=RAMP, policy=GREEDY)),
    ("ramp, four arms, epsilon-greedy", coins(0.1, 0.1, 0.1, 0.1, drift=RAMP, policy=GREEDY)),
    ("weekdays, Thompson Sampling", coins(0.3, 0.3, drift=WEEKDAYS, policy=THOMPSON)),
    ("step, batches of 100, epsilon-greedy", coins(0.2, 0.2, drift=STEP, policy=GREEDY, batch=100)),
    ("ramp, delay of 200 trials, epsilon-greedy", coins(0.2, 0.2, drift=RAMP, policy=GREEDY, delay=200)),
)


def speeds(scale: float) -> list[str]:
    """Return the table of medians."""
    lines = [
        "| means | better arm | games | median | 90% | wrong | earlier rule, median |",
        "|---|---|---|---|---|---|---|",
    ]
    for means, share, game, before, trials, games in SPEEDS:
        n = max(round(games * scale), 20)
        found = decided(game, trials, n, (0.05,), seed=11, every=10 if trials < 50_000 else 100)[:, 0]
        ends = np.where(found != 0, abs(found), trials)
        middle, late = (f"{np.quantile(ends, level):,.0f}" for level in (0.5, 0.9))
        lines.append(f"| {means} | {share} | {n:,} | {middle} | {late} | {(found < 0).mean():.1%} | {before:,} |")
    return lines


def wrongs(scale: float) -> list[str]:
    """Return the table of wrong winners among equal arms."""
    lines = ["| equal arms, 2,000 trials | games | delta 0.2 | 0.05 | 0.01 |", "|---|---|---|---|---|"]
    for name, game in EQUAL:
        n = round(10_000 * scale)
        rates = (decided(game, 2_000, n, DELTAS, seed=12, every=10) != 0).mean(axis=0)
        lines.append(f"| {name} | {n:,} | {' | '.join(f'{rate:.4f}' for rate in rates)} |")
    return lines


def main() -> None:
    """Print the tables."""
    numbers = [float(word) for word in sys.argv[1:] if not word.startswith("-")]
    for name, table in (("speeds", speeds), ("wrong", wrongs)):
        begin = time.process_time()
        lines = "\n".join(table(numbers[0] if numbers else 1.0))
        print(f"{lines}\n{time.process_time() - begin:.0f} s of processor time\n", flush=True)
        if "--write" in sys.argv:
            text = PAGE.read_text(encoding="utf-8")
            block = f"<!-- {name} -->\n\n{lines}\n\n<!-- end -->"
            PAGE.write_text(re.sub(rf"<!-- {name} -->.*?<!-- end -->", block, text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
