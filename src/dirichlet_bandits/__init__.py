"""Dirichlet Sampling and its competitors: non-parametric stochastic bandits, exact and fast."""
