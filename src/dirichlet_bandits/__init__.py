"""Dirichlet Sampling and its competitors: non-parametric stochastic bandits, exact and fast.

>>> import dirichlet_bandits as db
>>> bandit = db.Bandit([db.Gaussian(1.0, 1.0), db.Gaussian(2.0, 3**0.5)], names=["low", "high"])
>>> result = db.simulate(bandit, {"RDS": db.RDS()}, horizon=500, replications=20, seed=0)
>>> bool(result.pulls.sel(policy="RDS", arm="high").mean() > 400)
True

The policies of the README's table are here, and all of them in ``policies``; errors are in ``errors``, the quantities
behind the policies in ``theory``, checks of your own policy in ``testing``, and what it builds on in ``extend``.
"""

from dirichlet_bandits.lazy import public_names

__version__ = "0.1.0"

__getattr__, __dir__ = public_names(__name__, "errors", "theory", "policies")
