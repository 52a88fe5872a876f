"""Problems of papers on rewards that change now and then; all have Bernoulli arms."""

import dirichlet_bandits as db


def piecewise(length, *means):
    """Segments of equal length."""
    return db.Piecewise({1 + k * length: [db.Bernoulli(p) for p in row] for k, row in enumerate(means)})


def bernoulli_segments(segments):
    return db.Piecewise({first: [db.Bernoulli(p) for p in row] for first, row in segments.items()})


# Besson, Kaufmann, Maillard and Seznec, JMLR 23, 2022: horizon 20 000.
PB1 = piecewise(4000, (0.9, 0.5, 0.3), (0.9, 0.2, 0.3), (0.1, 0.2, 0.3), (0.1, 0.7, 0.3), (0.1, 0.7, 0.5))
PB2 = piecewise(4000, (0.9, 0.5, 0.4), (0.7, 0.4, 0.5), (0.5, 0.3, 0.6), (0.3, 0.2, 0.7), (0.1, 0.1, 0.8))

# Besson, thesis, chapter 6, problem 1: horizon 5000.
THESIS_1 = piecewise(1000, (0.3, 0.5, 0.9), (0.3, 0.2, 0.9), (0.3, 0.2, 0.1), (0.7, 0.2, 0.1), (0.7, 0.5, 0.1))

# Baudry, Russac and Cappé, ICML 2021, Bernoulli column: horizon 10 000.
LBSDA_BERNOULLI = bernoulli_segments({1: (0.5, 0.3, 0.4), 3001: (0.3, 0.7, 0.2), 5001: (0.5, 0.3, 0.6)})
