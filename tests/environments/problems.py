"""Problems of papers on rewards that change now and then."""

import dirichlet_bandits as db


def coins(*means):
    return [db.Bernoulli(p) for p in means]


def bells(*means):
    return [db.Gaussian(mean, 0.5) for mean in means]


def piecewise(length, *means):
    """Segments of equal length."""
    return db.Piecewise({1 + k * length: coins(*row) for k, row in enumerate(means)})


def coins_in_a_file(*segments):
    """Coins that change, as a TOML file has them: the first decision of each segment, and its probabilities."""
    coin = '[[segments.arms]]\nlaw = "Bernoulli"\np = {}\n'.format
    return "".join(f"[[segments]]\nfirst = {first}\n" + "".join(map(coin, ps)) for first, *ps in segments)


# Besson, Kaufmann, Maillard and Seznec, JMLR 23, 2022: horizon 20 000.
PB1 = piecewise(4000, (0.9, 0.5, 0.3), (0.9, 0.2, 0.3), (0.1, 0.2, 0.3), (0.1, 0.7, 0.3), (0.1, 0.7, 0.5))
PB2 = piecewise(4000, (0.9, 0.5, 0.4), (0.7, 0.4, 0.5), (0.5, 0.3, 0.6), (0.3, 0.2, 0.7), (0.1, 0.1, 0.8))

# Besson, thesis, chapter 6, problem 1: horizon 5000.
THESIS_1 = piecewise(1000, (0.3, 0.5, 0.9), (0.3, 0.2, 0.9), (0.3, 0.2, 0.1), (0.7, 0.2, 0.1), (0.7, 0.5, 0.1))

# Baudry, Russac and Cappé, ICML 2021: horizon 10 000.
LBSDA_BERNOULLI = db.Piecewise({1: coins(0.5, 0.3, 0.4), 3001: coins(0.3, 0.7, 0.2), 5001: coins(0.5, 0.3, 0.6)})
LBSDA_GAUSSIAN = db.Piecewise(
    {1: bells(0.9, 0.5, 0.4), 2501: bells(0.4, 0.8, 0.5), 4501: bells(0.3, 0.2, 0.7), 7001: bells(0.9, 0.8, 0.4)}
)
