"""Live studies: ask which arm to try now, and tell its reward later. This package never imports ``simulation``."""

from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
