"""Where a peer does something else than its documentation, or the paper that it cites, says: small examples.

    python -m benchmarks.peers.examples       # each in the environment of its library

Every example plays and prints; nothing is taken from reading alone. They were true for the versions that
``players.py`` names; if you find one mended, please tell us.
"""

import random
import sys

from benchmarks.peers.environments import interpreter, run
from benchmarks.peers.players import PLAYERS, Coins, Games, simulated, smpybandits

COINS: Coins = (0.9, 0.8)
GAMES = range(1, 21)


def share(pulls: Games) -> str:
    """How often the worse arm was pulled, of all pulls."""
    return f"{sum(game[1] for game in pulls) / sum(map(sum, pulls)):.1%}"


def imed_of_smpybandits() -> None:
    """``Dinf`` answers the mean at which the divergence is smallest, not the divergence; arms are pulled in turn."""
    from SMPyBandits.Policies.IMED import Dinf
    from SMPyBandits.Policies.kullback import klBern

    print(f"SMPyBandits: Dinf(x=0.5, mu=0.8) = {Dinf(x=0.5, mu=0.8):.3f}; the divergence is {klBern(0.5, 0.8):.3f}")
    for horizon in (1_000, 2_000):
        pulls = smpybandits("IMED", COINS, horizon, GAMES)
        print(f"SMPyBandits: IMED pulls the worse coin in {share(pulls)} of {horizon}")


def imed_of_ours() -> None:
    """The same game."""
    for horizon in (1_000, 2_000):
        print(f"ours: IMED pulls the worse coin in {share(simulated('IMED', COINS, horizon, GAMES))} of {horizon}")


def untried_arms_of_mabwiser() -> None:
    """Without a reward an arm's upper bound is 0, not infinite: rewards above 0 hide it for ever."""
    from mabwiser.mab import MAB, LearningPolicy

    player = MAB(["known", "new"], LearningPolicy.UCB1(alpha=1), seed=0)
    player.fit(["known"], [0.1])
    pulled = 0
    for _ in range(10_000):
        arm = player.predict()
        pulled += arm == "new"
        player.partial_fit([arm], [0.1 if arm == "known" else 0.9])
    print(f"MABWiser: UCB1 pulls an arm without rewards {pulled} times in 10 000, though it pays 0.9 and the other 0.1")


def gaussians_of_river() -> None:
    """With ``proba.Gaussian`` a reward is drawn where Thompson Sampling draws a mean; UCB has no width at all."""
    from river import bandit, proba

    makers = {
        "ThompsonSampling(proba.Gaussian())": lambda seed: bandit.ThompsonSampling(
            proba.Gaussian(), burn_in=2, seed=seed
        ),
        "UCB(delta=1, proba.Gaussian())": lambda seed: bandit.UCB(1.0, proba.Gaussian(), burn_in=2, seed=seed),
        "UCB(delta=1)": lambda seed: bandit.UCB(1.0, burn_in=2, seed=seed),
    }
    for name, make in makers.items():
        for horizon in (1_000, 4_000):
            pulls = []
            for seed in GAMES:
                rng, player, game = random.Random(seed), make(seed), [0, 0]
                for _ in range(horizon):
                    arm = player.pull([0, 1])
                    player.update(arm, rng.gauss((0.5, 0.0)[arm], 1.0))
                    game[arm] += 1
                pulls.append(game)
            print(f"river: {name} pulls the worse Gaussian arm in {share(pulls)} of {horizon}")


def gaussians_of_ours() -> None:
    """The same two arms."""
    import dirichlet_bandits as db

    bandit = db.Bandit([db.Gaussian(0.5, 1.0), db.Gaussian(0.0, 1.0)])
    for name, policy in {"Thompson Sampling": db.ThompsonSampling("gaussian", sigma=1.0), "UCB1": db.UCB1(1.0)}.items():
        for horizon in (1_000, 4_000):
            result = db.simulate(bandit, policy, horizon=horizon, replications=20, seed=1, workers=1, progress=False)
            pulls = result.pulls[0].to_numpy().tolist()
            print(f"ours: {name} pulls the worse Gaussian arm in {share(pulls)} of {horizon}")


EXAMPLES = {
    "ours, simulated": (imed_of_ours, gaussians_of_ours),
    "SMPyBandits": (imed_of_smpybandits,),
    "MABWiser": (untried_arms_of_mabwiser,),
    "river": (gaussians_of_river,),
}


if __name__ == "__main__":
    if sys.argv[1:]:
        for example in EXAMPLES[sys.argv[1]]:
            example()
    else:
        for library in EXAMPLES:
            said = run(interpreter(library, PLAYERS[library][1]), "benchmarks.peers.examples", library)
            print("\n".join(line for line in said.splitlines() if line.startswith((library, "ours"))), flush=True)
