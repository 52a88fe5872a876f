"""Policies for studies that are to end with a decision."""

import math

from tests.naive.policies import average, largest


def equal_split(histories, rng):
    return [int(rng.integers(len(histories)))]


def epsilon_greedy(histories, rng, epsilon):
    if rng.random() < epsilon:
        return equal_split(histories, rng)
    return largest([average(h) for h in histories], rng)


def top_two_coins(histories, rng, beta):
    """For rewards 0 and 1, where the evidence is least at the mean of both arms together."""

    def likelihood(x, m):
        return sum(math.log(m if value else 1.0 - m) for value in x)

    leader = largest([average(h) for h in histories], rng)[0]
    if rng.random() < beta:
        return [leader]
    b, values = histories[leader], []
    for a in histories:
        m, gap = average([*a, *b]), average(a) < average(b)
        z = sum(likelihood(x, average(x)) - likelihood(x, m) for x in (a, b)) if gap else 0.0
        values.append(-round(z + math.log(len(a)), 9))
    values[leader] = -math.inf
    return largest(values, rng)
