"""An experiment as data: a TOML file that is read, checked and run; and the paper's own ones."""

from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
