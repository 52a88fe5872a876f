"""Which arms may be in the next round of a naive study, and with what probability; docs/live.md has the rules."""

import math


def next_round(study, segment):
    """The arms that can come, with their propensities: each of 1 in a round of arms that come first."""
    arms, past = study.active(), {arm: past_rewards(study, arm, segment) for arm in study.arms}
    own = {arm: study.rewards(arm, segment) for arm in arms}
    counts = {arm: study.counts(arm, segment) for arm in arms}
    tries = {arm: len(past[arm]) + sum(counts[arm][status] for status in ("told", "pending", "held")) for arm in arms}
    known = [arm for arm in arms if past[arm] or own[arm]]
    if min(tries.values()) == 0 or len(known) < 2:
        return {arm: 1.0 for arm in arms if tries[arm] == min(tries.values())}
    weight = study.weight or study.borrow
    sizes = {arm: len(own[arm]) + weight * len(past[arm]) for arm in known}
    means = {arm: study.sign * (sum(own[arm]) + weight * sum(past[arm])) / sizes[arm] for arm in known}
    log_t = math.log(max(1.0, sum(sizes.values())))
    index = {arm: means[arm] + 0.5 * math.sqrt(2.0 * log_t / sizes[arm]) for arm in known}  # of UCB1(sigma=0.5)
    best = known if study.policy == "EqualSplit" else [arm for arm in known if index[arm] > max(index.values()) - 1e-9]
    floors = shares(study.floor, arms)
    left = max(0.0, 1.0 - sum(floors.values()))
    chances = {arm: floors[arm] + left * (arm in best) / len(best) for arm in arms}
    return {arm: chance for arm, chance in chances.items() if chance > 0.0}


def past_rewards(study, arm, segment):
    """Rewards that only decisions see: those of an earlier study, or of the other segments."""
    others = [one for one in study.segments if one != segment] if study.borrow else []
    own = study.history.get(arm, []) if study.weight else []
    return [*own, *(reward for one in others for reward in study.rewards(arm, one))]


def shares(floor, arms):
    """The floor of each of these arms."""
    return {arm: floor.get(arm, 0.0) if isinstance(floor, dict) else floor for arm in arms}
