"""How each library plays coins: its own policy, called as its documentation does, without anything around it.

A player has a name for each policy that its library offers, and ``play(policy, coins, horizon, seeds)`` answers the
pulls of each arm, a row a game. Every arm is pulled once first, as the papers say, and UCB1 has the same width
everywhere, ``sqrt(log(t) / (2 N))``. A library is imported when it plays, in an environment of its own.
"""

import random
from collections.abc import Callable, Iterable

Coins = tuple[float, ...]
Games = list[list[int]]


def each(game: Callable[[Coins, int, int], list[int]], coins: Coins, horizon: int, seeds: Iterable[int]) -> Games:
    """One game after the other."""
    return [game(coins, horizon, seed) for seed in seeds]


def smpybandits(policy: str, coins: Coins, horizon: int, seeds: Iterable[int]) -> Games:
    """``choice`` and ``getReward``, as its own evaluator calls them."""
    import numpy as np
    from SMPyBandits import Policies

    makers = {
        "UCB1": lambda: Policies.UCBalpha(len(coins), alpha=1),
        "Thompson Sampling": lambda: Policies.Thompson(len(coins)),
        "KL-UCB": lambda: Policies.klUCB(len(coins)),
        "BESA": lambda: Policies.BESA(len(coins), horizon=horizon),
        "IMED": lambda: Policies.IMED(len(coins)),
    }

    def game(coins: Coins, horizon: int, seed: int) -> list[int]:
        np.random.seed(seed)  # noqa: NPY002 - that is what it draws from
        rng, pulls, player = random.Random(seed), [0] * len(coins), makers[policy]()
        player.startGame()
        for _ in range(horizon):
            arm = int(player.choice())
            player.getReward(arm, float(rng.random() < coins[arm]))
            pulls[arm] += 1
        return pulls

    return each(game, coins, horizon, seeds)


def mabwiser(policy: str, coins: Coins, horizon: int, seeds: Iterable[int]) -> Games:
    """``predict`` and ``partial_fit``, after a ``fit`` on one reward of each arm."""
    from mabwiser.mab import MAB, LearningPolicy

    rule = {"UCB1": LearningPolicy.UCB1(alpha=0.5), "Thompson Sampling": LearningPolicy.ThompsonSampling()}[policy]
    arms = list(range(len(coins)))

    def game(coins: Coins, horizon: int, seed: int) -> list[int]:
        rng, pulls, player = random.Random(seed), [1] * len(coins), MAB(arms, rule, seed=seed)
        player.fit(arms, [int(rng.random() < p) for p in coins])
        for _ in range(horizon - len(coins)):
            arm = player.predict()
            player.partial_fit([arm], [int(rng.random() < coins[arm])])
            pulls[arm] += 1
        return pulls

    return each(game, coins, horizon, seeds)


def river(policy: str, coins: Coins, horizon: int, seeds: Iterable[int]) -> Games:
    """``pull`` and ``update``."""
    from river import bandit, proba

    makers = {
        "UCB1": lambda seed: bandit.UCB(delta=0.5, burn_in=1, seed=seed),
        "Thompson Sampling": lambda seed: bandit.ThompsonSampling(reward_obj=proba.Beta(), burn_in=1, seed=seed),
    }
    arms = list(range(len(coins)))

    def game(coins: Coins, horizon: int, seed: int) -> list[int]:
        rng, pulls, player = random.Random(seed), [0] * len(coins), makers[policy](seed)
        for _ in range(horizon):
            arm = player.pull(arms)
            player.update(arm, rng.random() < coins[arm])
            pulls[arm] += 1
        return pulls

    return each(game, coins, horizon, seeds)


def simulated(policy: str, coins: Coins, horizon: int, seeds: Iterable[int]) -> Games:
    """Ours, many games at once: ``simulate`` on one thread."""
    import dirichlet_bandits as db

    seeds = list(seeds)
    bandit = db.Bandit([db.Bernoulli(p) for p in coins])
    sizes = {"horizon": horizon, "replications": len(seeds), "seed": seeds[0], "record": 1}
    result = db.simulate(bandit, our_policy(policy), workers=1, progress=False, **sizes)
    return result.pulls[0].to_numpy().tolist()


def live(policy: str, coins: Coins, horizon: int, seeds: Iterable[int]) -> Games:
    """Ours, one decision at a time: ``ask`` and ``tell``, with exact propensities, in memory."""
    import dirichlet_bandits as db

    arms = [str(k) for k in range(len(coins))]

    def game(coins: Coins, horizon: int, seed: int) -> list[int]:
        rng, pulls = random.Random(seed), [0] * len(coins)
        study = db.create_study(str(seed), arms=arms, policy=our_policy(policy), seed=seed)
        for _ in range(horizon):
            trial = study.ask()
            arm = int(trial.arm)
            study.tell(trial.id, float(rng.random() < coins[arm]))
            pulls[arm] += 1
        return pulls

    return each(game, coins, horizon, seeds)


def our_policy(name: str) -> object:
    """The policy of this name in our library."""
    import dirichlet_bandits as db

    return {
        "UCB1": db.UCB1(sigma=0.5),
        "Thompson Sampling": db.ThompsonSampling("bernoulli"),
        "KL-UCB": db.KLUCB("bernoulli"),
        "BESA": db.BESA(),
        "IMED": db.IMED("bernoulli"),
    }[name]


# Who plays, what to install, and which policies it offers. SMPyBandits does not import with a newer SciPy.
PLAYERS: dict[str, tuple[Callable[..., Games], tuple[str, ...], tuple[str, ...]]] = {
    "ours, simulated": (simulated, (), ("UCB1", "Thompson Sampling", "KL-UCB", "BESA")),
    "ours, live": (live, (), ("UCB1", "Thompson Sampling", "KL-UCB")),
    "SMPyBandits": (
        smpybandits,
        ("SMPyBandits==0.9.7", "scipy<1.12", "numpy<2", "numba", "tqdm"),
        ("UCB1", "Thompson Sampling", "KL-UCB", "BESA"),
    ),
    "MABWiser": (mabwiser, ("mabwiser==2.7.4",), ("UCB1", "Thompson Sampling")),
    "river": (river, ("river==0.26.1",), ("UCB1", "Thompson Sampling")),
}

# A study computes the probabilities of all arms with every decision; a share of the games shows what that costs.
FEWER = {"ours, live": 12}
